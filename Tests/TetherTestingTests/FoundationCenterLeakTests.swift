import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Leaks of observers over Foundation's center: found, explained and cured as on Tether's own.
@Suite struct FoundationCenterLeakTests {
    private final class Sidebar: @unchecked Sendable {
        var token: NotificationObserver?
        var reloads = 0
        func reload() { reloads += 1 }
    }

    private let center = NotificationCenter()
    private let file = "TetherTestingTests/FoundationCenterLeakTests.swift"

    @Test func `F1 L2 L3 a handler that captures its owner is named`() async {
        let center = center
        var line = 0
        let messages = await planted {
            let sidebar = Sidebar()
            line = #line + 1
            center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.reload() }
        }
        #expect(messages.count == 1)
        #expect(
            messages.first?.hasPrefix(
                "Sidebar, an owner, observed for at \(file):\(line), is still alive: it is kept by the handler registered "
                    + "at \(file):\(line) (modelDidChange), which captures it.") == true)
        center.removeObservers()
        #expect(center.audit().isEmpty)
    }

    @Test func `F1 L2 L3 so is one that captures its owner when the test's own center goes`() async {
        for isFoundations in [true, false] {
            var line = 0
            let messages = await planted {
                let center: any NotifyingCenter = isFoundations ? NotificationCenter() : ListCenter()
                let (sidebar, other) = (Sidebar(), Sidebar())
                center.observe(.modelDidChange, owner: other) { other, _ in other.reload() }
                line = #line + 1
                center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.reload() }
            }
            let expected =
                "Sidebar, an owner, observed for at \(file):\(line), went only because its center did: until then it was "
                + "kept by the handler registered at \(file):\(line) (modelDidChange), which captures it."
            #expect(messages.count == 1)
            #expect(messages.first?.hasPrefix(expected) == true, "\(isFoundations): \(messages)")
        }
    }

    @Test func `F1 L2 L3 an object that holds the token whose handler captures it is named`() async {
        let center = center
        let messages = await planted {
            let sidebar = Sidebar()
            sidebar.token = center.observe(.modelDidChange) { _ in sidebar.reload() }
            track(sidebar, "the sidebar")
        }
        #expect(
            messages.count > 0 && messages.allSatisfy { $0.contains("the sidebar") || $0.contains("modelDidChange") })
        center.removeObservers()
        #expect(center.audit().isEmpty)
    }

    @Test func `F1 L2 a token that is kept is a leak, and told of with its line`() {
        let (center, leaks) = (center, LeakTracker())
        let line = #line + 1
        let token = center.observe(.modelDidChange) { _ in }
        let told = leaks.leaks(in: center).map(\.description)
        let expected = "still observing: modelDidChange from any sender for its token on posting thread, registered at"
        #expect(told == ["\(expected) \(file):\(line)"])
        token.cancel()
        #expect(leaks.leaks(in: center).isEmpty)
    }

    @Test func `F1 L2 what ends with its owner, token, receiver and sender passes`() async {
        let center = center
        await verifyNoLeaks {
            let sidebar = track(Sidebar())
            let receiver = track(Sidebar())
            let sender = track(Sidebar())
            center.observe(.modelDidChange, owner: sidebar) { sidebar, _ in sidebar.reload() }
            center.connect(.modelDidChange, to: Sidebar.reload, of: receiver, owner: sidebar)
            center.connect(.modelDidChange, from: sender, to: Sidebar.reload, of: sidebar)
            let token = center.observe(.modelDidChange) { [weak sidebar] _ in sidebar?.reload() }
            center.post(name: .modelDidChange, object: sender)
            #expect(sidebar.reloads == 3 && receiver.reloads == 1)
            withExtendedLifetime(token) {}
        }
        #expect(center.audit().isEmpty)
    }
}

/// A center that is neither Foundation's nor Tether's, and keeps what is registered until it goes.
private final class ListCenter: NotifyingCenter {
    private struct Listed: NotifyingRegistration {
        func cancel() {}
    }

    private let handlers = Guarded<[@Sendable (Notification) -> Void]>([])

    func register(
        name: Notification.Name?, sender: AnyObject?, handler: @escaping @Sendable (Notification) -> Void
    ) -> any NotifyingRegistration {
        handlers.withLock { $0.append(handler) }
        return Listed()
    }
}
