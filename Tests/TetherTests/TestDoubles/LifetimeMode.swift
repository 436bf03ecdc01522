import Foundation
import Testing

@testable import Tether

/// How a center learns of the end of owners and senders: as it happens, or by the sweep.
enum LifetimeMode: CaseIterable, CustomTestStringConvertible {
    case hook, sweep

    #if canImport(ObjectiveC)
    /// There every end is seen, so that there is nothing for the sweep to end.
    static let allCases: [LifetimeMode] = [.hook]
    #endif

    func makeCenter() -> ObserverCenter { ObserverCenter(usesExactLifetimes: self == .hook) }

    var testDescription: String { self == .hook ? "as it happens" : "by the sweep" }

    /// Expects what must hold when objects have gone: at once where their end is seen, else after a sweep (O10).
    ///
    /// A sweep may already be under way on a thread of another test, which is then waited for.
    func expectAfterEnd(
        _ condition: @autoclosure () -> Bool, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        if self == .sweep {
            OwnerLifetime.purge()
            let limit = ContinuousClock.now + .seconds(300)
            while !condition(), ContinuousClock.now < limit { sched_yield() }
        }
        #expect(condition(), comment, sourceLocation: sourceLocation)
    }
}

/// Whether an owner's observers end after the body of its `deinit`, before its memory goes (O3).
#if canImport(ObjectiveC)
let endsFollowDeinit = true
#else
let endsFollowDeinit = false
#endif
