import CoreFoundation
import Foundation

@testable import Tether

/// Where deliveries wait until they are run or dropped.
protocol LibraryTarget: AnyObject {
    var target: DeliveryTarget { get }
    func run()
    /// Runs until nothing waits.
    func runAll()
    func drop()
}

/// Holds jobs until they are run or dropped.
///
/// SAFETY: everything of a run is on one thread.
class LibraryScheduler: LibraryTarget, DeliveryScheduler, @unchecked Sendable {
    private var jobs: [@Sendable () -> Void] = []
    var target: DeliveryTarget { .custom(self) }

    func schedule(_ job: @escaping @Sendable () -> Void) { jobs.append(job) }

    /// Runs the jobs that wait now; those that running makes wait.
    func run() {
        let due = jobs
        jobs = []
        for job in due { job() }
    }

    func runAll() {
        while !jobs.isEmpty { run() }
    }

    func drop() {
        let dropped = jobs
        jobs = []
        withExtendedLifetime(dropped) {}
    }
}

final class LibraryFirstScheduler: LibraryScheduler, @unchecked Sendable {}
final class LibrarySecondScheduler: LibraryScheduler, @unchecked Sendable {}

/// The thread of the test, in a mode in which its run loop runs only when it is told to.
final class LibraryLoop: LibraryTarget {
    static let description = "run loop of the model, modes [\"model\"]"
    private static let mode = RunLoop.Mode("model")
    private var loop: ThreadLoop?

    var target: DeliveryTarget {
        DeliveryTarget(kind: .thread(currentLoop, modes: [LibraryLoop.mode]))
    }

    private var currentLoop: ThreadLoop {
        if let loop { return loop }
        let made = ThreadLoop(description: "run loop of the model")
        made.begin()
        loop = made
        return made
    }

    func run() { LibraryLoop.mode.run(for: 0) }

    func runAll() {
        while CFRunLoopRunInMode(LibraryLoop.mode.cfMode, 0, true) == .handledSource {}
    }

    /// Ends the loop as the end of its thread would; another one takes its place.
    func drop() { loop.take()?.exit() }
}
