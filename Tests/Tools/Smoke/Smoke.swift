import Foundation
import Tether

extension Notification.Name {
    static let smoke = Notification.Name("Smoke.smoke")
    static let other = Notification.Name("Smoke.other")
    static let atEnd = Notification.Name("Smoke.atEnd")
}

/// An object to be an owner or a sender.
class Thing: @unchecked Sendable {}

/// An object that reports its `deinit`.
final class Ending: Thing, @unchecked Sendable {
    let atEnd: (Ending) -> Void

    init(_ atEnd: @escaping (Ending) -> Void) { self.atEnd = atEnd }
    deinit { atEnd(self) }
}

/// A value under a lock that ThreadSanitizer knows, which `Mutex` is not.
/// SAFETY: the lock protects `value`.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.withLock { body(&value) }
    }
}

/// The events, in order, of all threads.
final class Log: Sendable {
    private let lines = Guarded<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}

/// A handler's capture, which reports its release.
final class Capture: Sendable {
    let log: Log

    init(_ log: Log) { self.log = log }
    func add(_ line: String) { log.add(line) }
    deinit { log.add("released") }
}

/// The only strong reference to an object. The optimiser neither shortens nor lengthens the
/// object's life.
final class Holder<Object: AnyObject> {
    private var object: Object?

    @inline(never) init(_ object: Object) { self.object = object }
    var held: Object { @inline(never) get { object! } }
    @inline(never) func letGo() { object = nil }
}

/// Compares the results of each line of the contract with the promise.
@MainActor struct Smoke {
    private(set) var count = 0
    private(set) var failures: [String] = []

    /// All checks that leave the main thread as it is.
    mutating func all() {
        matching()
        defaultCenter()
        endingSenders()
        stopping()
        localTokens()
        owners()
        queues()
        bursts()
        threads()
        postingQueues()
        mainActor()
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { messages() }
        sequences()
    }

    mutating func expect<Value: Equatable>(
        _ line: String, _ what: String, _ value: Value, is expected: Value,
        fileID: String = #fileID,
        number: Int = #line
    ) {
        count += 1
        if value != expected {
            failures.append(
                "\(line) \(what): \(value) instead of \(expected), at \(fileID):\(number)")
        }
    }

    /// Runs the main run loop, and with it the main queue and the main actor, until a condition
    /// holds.
    func wait(_ line: String, until condition: () -> Bool) {
        let deadline = Date(timeIntervalSinceNow: 60)
        while !condition() {
            guard Date() < deadline else {
                print("failed: \(line) waited for 60 s for what never came")
                exit(1)
            }
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
        }
    }
}
