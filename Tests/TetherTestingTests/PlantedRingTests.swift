import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Objects that keep each other, planted and found.
@Suite struct PlantedRingTests {
    private typealias Model = PlantedLeakTests.Model
    private typealias Sidebar = PlantedLeakTests.Sidebar

    final class Node: @unchecked Sendable {
        var next: Node?
        weak var previous: Node?
    }

    private let center = ObserverCenter()

    @Test func `L2 L3 a tracked object in a ring of two is named, with the way around`() async {
        nonisolated(unsafe) weak var leaked: Node?
        let messages = await planted {
            let (first, second) = (track(Node()), Node())
            first.next = second
            second.next = first
            unsafe leaked = first
        }
        #expect(messages.count == 1)
        #expect(messages.first?.hasSuffix(": it keeps itself: its `next.next` is it. Make one of these weak.") == true)
        let last = unsafe leaked
        last?.next = nil
    }

    @Test func `L2 a ring of two with one weak link passes`() async {
        await verifyNoLeaks {
            let (first, second) = (track(Node()), track(Node()))
            first.next = second
            second.previous = first
        }
    }

    @Test func `L2 L3 an object that is kept by another one that is left is told by that one's property`() async {
        let center = center
        nonisolated(unsafe) weak var leaked: Sidebar?
        let messages = await planted {
            let sidebar = Sidebar()
            sidebar.model = track(Model())
            unsafe leaked = sidebar
            center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.reload() }
        }
        #expect(messages.count == 2)
        #expect(messages.first?.hasPrefix("Model, tracked at ") == true)
        #expect(messages.first?.contains("which captures Sidebar, whose `model` is it.") == true)
        if let leaked = unsafe leaked { OwnerObservers(of: leaked).cancel() }
    }
}
