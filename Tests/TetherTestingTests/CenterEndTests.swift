import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Owners that live when their center goes, and handlers that lead to them.
@Suite struct CenterEndTests {
    final class Model: @unchecked Sendable {
        var delegate: Sidebar?
        func touch() {}
    }

    final class Sidebar: Sendable {
        func touch() {}
    }

    @Test func `L2 an owner that a property led to, until the test set it, is no leak`() async {
        await verifyNoLeaks {
            let (model, sidebar) = (Model(), Sidebar())
            model.delegate = sidebar
            do {
                let center = ObserverCenter()
                center.observe(.modelDidChange, owner: sidebar) { _, _ in model.touch() }
                center.post(name: .modelDidChange, object: nil)
            }
            model.delegate = nil
        }
    }

    @Test
    func `L2 L3 one that a property leads to, and that goes with its center, would leak on one that stays`() async {
        func attach(to center: ObserverCenter) {
            let model = Model()
            model.delegate = Sidebar()
            center.observe(.modelDidChange, owner: model.delegate!) { _, _ in model.touch() }
        }
        let messages = await planted {
            let center = ObserverCenter()
            attach(to: center)
            // The handler alone keeps them now.
            withExtendedLifetime(center) {}
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("went only because its center did") == true)
        #expect(messages.first?.contains("which captures Model, whose `delegate` is it") == true)
    }

    @Test
    func `L2 L3 one that its handler captures would leak, though the test holds it longer than its center`() async {
        let messages = await planted {
            let sidebar = Sidebar()
            do {
                let center = ObserverCenter()
                center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.touch() }
            }
            sidebar.touch()
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("which captures it. With a center that stays") == true)
    }
}
