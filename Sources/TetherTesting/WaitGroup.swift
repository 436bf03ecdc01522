internal import CoreFoundation
internal import Dispatch
internal import Foundation
internal import Tether

/// A wait for several events, which ends when all have come or at a deadline.
final class WaitGroup: Sendable {
    private struct State: Sendable {
        var open = 0
        var resume: (@Sendable () -> Void)?
        var isExpired = false

        var isOver: Bool { open == 0 || isExpired }
    }

    private let state = Locked(State())

    /// Adds an event, and returns the closure that reports the event, to be called once.
    func add() -> @Sendable () -> Void {
        state.withLock { $0.open += 1 }
        return { [weak self] in
            let resume = self?.state.withLock { state in
                state.open -= 1
                return state.open == 0 ? state.resume.take() : nil
            }
            resume??()
        }
    }

    var isEmpty: Bool { state.withLock { $0.open == 0 } }

    /// Calls `resume` once, when all events have come or `expire()` is called.
    private func whenDone(_ resume: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.resume = resume }
            return state.isOver
        }
        if isOver { resume() }
    }

    /// Ends the current wait, if any, and all later waits.
    func expire() {
        let resume = state.withLock { state in
            state.isExpired = true
            return state.resume.take()
        }
        resume?()
    }

    func wait(until deadline: DispatchTime) async {
        // A cancelled timer source leaves nothing behind. `asyncAfter` would keep its block until
        // the deadline.
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: deadline)
        timer.setEventHandler { [weak self] in self?.expire() }
        timer.activate()
        await withCheckedContinuation { continuation in whenDone { continuation.resume() } }
        timer.cancel()
    }

    /// Blocks this thread until all events have come, or until a deadline. With `runningLoop` the
    /// thread's run loop runs meanwhile, so that deliveries to this thread can run. Callers pass
    /// true on the main thread or with a run loop target.
    @available(*, noasync)
    func wait(until deadline: DispatchTime, runningLoop: Bool) {
        guard runningLoop else {
            let semaphore = DispatchSemaphore(value: 0)
            whenDone { semaphore.signal() }
            if semaphore.wait(timeout: deadline) == .timedOut { expire() }
            return
        }
        let loop = LoopUntil(deadline)
        whenDone { loop.end() }
        loop.run()
        expire()
    }
}

/// A run of the calling thread's run loop, which any thread may end and which leaves nothing with
/// the loop.
/// SAFETY: any thread may wake a CoreFoundation run loop; `hasEnded` is guarded; only the running
/// thread uses the rest.
private final class LoopUntil: @unchecked Sendable {
    private let deadline: DispatchTime
    private let hasEnded = Locked(false)
    private let loop: CFRunLoop = CFRunLoopGetCurrent()

    init(_ deadline: DispatchTime) {
        self.deadline = deadline
    }

    func run() {
        let holds = makeHolds()
        defer { for hold in holds { hold.invalidate() } }
        while !hasEnded.withLock(\.self), case let now = DispatchTime.now(), now < deadline {
            let seconds = Double(deadline.uptimeNanoseconds - now.uptimeNanoseconds) / 1e9
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: seconds))
        }
    }

    /// Holds whose observers stop this run, and no nested run, after `end()`. They look when the
    /// loop is about to sleep. A signalled source would not do, because a nested run may handle the
    /// signal. Both observers surround all others, so a run started by another observer is nested
    /// and uses up no stop.
    private func makeHolds() -> [RunLoopHold] {
        var depth = 0
        let begin = RunLoopHold(loop, in: [.default], observing: RunLoopHold.entry, order: .min) {
            _ in depth += 1
        }
        let ends = RunLoopHold.beforeWaiting | RunLoopHold.exit
        let end = RunLoopHold(loop, in: [.default], observing: ends, order: .max) {
            [unowned self] activity in
            if activity == RunLoopHold.exit {
                depth -= 1
            } else if depth == 1, hasEnded.withLock(\.self) {
                CFRunLoopStop(loop)
            }
        }
        return [begin, end]
    }

    func end() {
        hasEnded.withLock { $0 = true }
        CFRunLoopWakeUp(loop)
    }
}

/// An object that calls an action in its `deinit`.
final class AtRelease: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) {
        self.action = action
    }

    deinit { action() }
}
