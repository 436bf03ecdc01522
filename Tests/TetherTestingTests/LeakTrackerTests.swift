import Testing
import TetherTesting

@Suite struct LeakTrackerTests {
    @Test func `L2 a tracked object that lives is a leak, one that has gone is none`() {
        let leaks = LeakTracker()
        let probe = leaks.probe("kept")
        #expect(leaks.leaks().map(\.description).first?.hasPrefix("kept is still alive") == true)
        withExtendedLifetime(probe) {}
    }
}
