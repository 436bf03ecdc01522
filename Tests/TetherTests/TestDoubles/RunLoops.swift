import CoreFoundation
import Foundation
import Tether

extension RunLoop {
    /// Runs the calling thread's run loop until a condition holds; the program stops after half of
    /// `longestWait`, or when nothing is left to wait for.
    ///
    /// The condition is checked in the loop's own passes. The wait does not wake the loop.
    func run(
        _ mode: RunLoop.Mode, file: StaticString = #file, line: UInt = #line,
        until isDone: @escaping () -> Bool
    ) {
        guard !isDone(), let loop = CFRunLoopGetCurrent() else { return }
        let every: CFRunLoopActivity = [
            .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting,
        ]
        let observer = CFRunLoopObserverCreateWithHandler(nil, every.rawValue, true, 1_000_000) {
            _, _ in
            if isDone() { CFRunLoopStop(CFRunLoopGetCurrent()) }
        }
        CFRunLoopAddObserver(loop, observer, mode.cfMode)
        let limit = Date(timeIntervalSinceNow: longestWait / 2)
        while !isDone(), limit.timeIntervalSinceNow > 0 {
            if mode.run(for: limit.timeIntervalSinceNow) == .finished { break }
        }
        CFRunLoopObserverInvalidate(observer)
        if !isDone() {
            fatalError("What a run loop waited for did not happen.", file: file, line: line)
        }
    }
}

extension RunLoop.Mode {
    /// Runs the calling thread's run loop in a mode once, for some seconds at most. With zero
    /// seconds or less the loop does not wait.
    @discardableResult
    func run(for seconds: CFTimeInterval) -> CFRunLoopRunResult {
        CFRunLoopRunInMode(cfMode, seconds, false)
    }
}

extension Notification {
    /// A notification with a label in its `userInfo`.
    static func labelled(_ label: String, name: Notification.Name = .sample, object: Any? = nil)
        -> Notification
    {
        Notification(name: name, object: object, userInfo: ["label": label])
    }

    /// The label in its `userInfo`.
    var label: String { userInfo?["label"] as? String ?? "" }
}

extension Notification.Name {
    static let chained = Notification.Name("chained")
}
