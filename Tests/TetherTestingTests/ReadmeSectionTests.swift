import Foundation
import Testing
import Tether
import TetherTesting

/// The code of "Prove it in your tests" in the README.
@Suite struct ReadmeSectionTests {
    final class Sidebar: @unchecked Sendable {
        var reloads = 0

        init(center: ObserverCenter) {
            center.observe(.modelDidChange, owner: self) { sidebar, _ in sidebar.reloads += 1 }
        }
    }

    private let center = ObserverCenter()

    @Test(.verifiesNoLeaks) func `a sidebar that was closed is gone`() {
        let sidebar = track(Sidebar(center: center))
        center.post(name: .modelDidChange, object: nil)
        #expect(sidebar.reloads == 1)
    }
}
