import Foundation
import Testing

@testable import Tether

/// Targets that several threads take up and give up at the same time.
@Suite struct SharedMailboxTests {
    @Test func `R6 D4 the last users of a target may give it up while others take it up`() async {
        await #expect(processExitsWith: .success) {
            let jobs = HeldJobs()
            Crew.run(2) { _ in
                for _ in 0..<200_000 { _ = Route(to: .custom(jobs)) }
            }
        }
    }
}
