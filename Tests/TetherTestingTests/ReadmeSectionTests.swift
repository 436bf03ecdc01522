import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

// Both outlive the test: a center or a sender that ended with it would hide a leak.
private let center = ObserverCenter()
private let model = Model()

private final class Model: Sendable {}

/// The code of "Prove that nothing leaks" in the README.
@Suite struct ReadmeSectionTests {
    /// The first sidebar of the README.
    @MainActor private final class Sidebar {
        private(set) var reloads = 0

        init(model: Model, center: ObserverCenter = .default) {
            center.observe(.modelDidChange, from: model, owner: self, on: .mainActor) {
                sidebar, note in
                sidebar.reload(note)
            }
            center.connect(.modelDidClose, to: Sidebar.clear, of: self)
        }

        func reload(_ note: Notification) { reloads += 1 }
        func clear() { reloads = 0 }
    }

    @Test(.verifiesNoLeaks) @MainActor func `a sidebar is gone after its test`() {
        let sidebar = track(Sidebar(model: model, center: center))
        center.post(name: .modelDidChange, object: model)
        #expect(sidebar.reloads == 1)
    }
}
