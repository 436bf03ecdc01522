import CTestLimits
import Foundation

/// Ends the process when a test has run for too long, with the test's name and all threads' stacks.
///
/// Tests share the processors. Therefore the limit of all running tests begins again when a test
/// begins or ends, and is reached only if no test makes progress. `TETHER_TEST_LIMIT` is the limit
/// in seconds. 0 is no limit, for a debugger.
///
/// SAFETY: every mutable property is protected by the lock.
final class Watchdog: @unchecked Sendable {
    static let shared = Watchdog(limit: usualLimit)

    private let lock = NSLock()
    private var tests = RunningTests()
    /// How long a test may run.
    let limit: TimeInterval
    /// Whether the events of Swift Testing are read.
    var isHearing: Bool {
        get { lock.withLock { hears } }
        set { lock.withLock { hears = newValue } }
    }
    private var hears = false

    init(limit: TimeInterval) {
        self.limit = limit
    }

    private static var usualLimit: TimeInterval {
        let environment = ProcessInfo.processInfo.environment
        if let seconds = environment["TETHER_TEST_LIMIT"].flatMap(TimeInterval.init) {
            return seconds
        }
        if environment["LD_PRELOAD"]?.contains("vgpreload") == true { return 3600 }
        return 600
    }

    /// The running tests with a reported beginning.
    var running: [String] { lock.withLock { tests.running } }

    func update(_ change: (inout RunningTests) -> Void) {
        lock.withLock { change(&tests) }
    }

    /// Starts a thread that checks the time.
    func start() {
        guard limit > 0 else { return }
        let thread = Thread { [self] in
            while true {
                Thread.sleep(forTimeInterval: 1)
                if let names = lock.withLock({ tests.overdue(after: limit) }) { end(names) }
            }
        }
        thread.name = "test limits"
        thread.start()
    }

    private func end(_ names: [String]) -> Never {
        var text = "\nA test has run for \(Int(limit)) s without an end. Running:\n"
        for name in names { text += "    \(name)\n" }
        FileHandle.standardError.write(Data((text + "Where its threads stand:\n").utf8))
        FileHandle.standardError.write(Data(Stacks.describeAll().utf8))
        // The other threads are stuck: nothing is left to be done in order.
        _exit(70)
    }
}
