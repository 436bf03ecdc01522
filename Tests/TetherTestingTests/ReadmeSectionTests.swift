import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Outlives the test. A sender's end ends its observers, and would hide a leak.
private let model = Model()

private final class Model: Sendable {}

/// The code of "Proving that nothing leaks" in the README.
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
        let center = ObserverCenter()
        let sidebar = track(Sidebar(model: model, center: center))
        center.post(name: .modelDidChange, object: model)
        #expect(sidebar.reloads == 1)
    }
}
