import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// The code of "Proving that nothing leaks" in the README.
@Suite struct ReadmeSectionTests {
    final class Model: Sendable {}

    /// The first sidebar of the README.
    @MainActor final class Sidebar {
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
        let center = ObserverCenter()
        let model = Model()
        let sidebar = track(Sidebar(model: model, center: center))
        center.post(name: .modelDidChange, object: model)
        #expect(sidebar.reloads == 1)
    }
}
