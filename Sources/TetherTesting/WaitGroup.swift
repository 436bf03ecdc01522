internal import CoreFoundation
internal import Dispatch
internal import Foundation
internal import Tether

/// Several things to wait for at once, until all are done or a time has come.
final class WaitGroup: Sendable {
    private struct State: Sendable {
        var open: Set<Int> = []
        var last = 0
        var resume: (@Sendable () -> Void)?
        var isExpired = false

        /// Whether nobody is to wait any more.
        var isOver: Bool { open.isEmpty || isExpired }
    }

    private let state = Guarded(State())

    /// Adds one; call what this returns when it is done.
    func add() -> @Sendable () -> Void {
        let number = state.withLock { state in
            state.last += 1
            state.open.insert(state.last)
            return state.last
        }
        return { [weak self] in self?.finish(number) }
    }

    private func finish(_ number: Int) {
        let resume = state.withLock { state in
            state.open.remove(number)
            return state.open.isEmpty ? state.resume.take() : nil
        }
        resume?()
    }

    var isEmpty: Bool { state.withLock(\.open.isEmpty) }

    /// Calls `resume` once: when all is done, or when `expire` is called.
    private func whenDone(_ resume: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.resume = resume }
            return state.isOver
        }
        if isOver { resume() }
    }

    /// Ends the wait, if there is one, and all that come.
    func expire() {
        let resume = state.withLock { state in
            state.isExpired = true
            return state.resume.take()
        }
        resume?()
    }

    // MARK: Waiting

    /// Suspends until all is done, or until a deadline.
    func wait(until deadline: DispatchTime) async {
        // A source, which leaves nothing behind when it is cancelled; what is dispatched for later stays until then.
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: deadline)
        timer.setEventHandler { [weak self] in self?.expire() }
        timer.activate()
        await withCheckedContinuation { continuation in whenDone { continuation.resume() } }
        timer.cancel()
    }

    /// Waits on this thread until all is done, or until a deadline.
    ///
    /// The run loop of the thread runs meanwhile if it is the main thread or one that has a run loop target, so that
    /// deliveries to this very thread come through.
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

/// A run of the calling thread's run loop that another thread may end, and that leaves nothing with the loop.
///
/// SAFETY: CoreFoundation's run loops may be woken from any thread; the rest is guarded, or of the thread alone.
private final class LoopUntil: @unchecked Sendable {
    private let deadline: DispatchTime
    private let hasEnded = Guarded(false)
    private let loop: CFRunLoop = CFRunLoopGetCurrent()

    init(_ deadline: DispatchTime) {
        self.deadline = deadline
    }

    func run() {
        let (source, observers) = (makeSource(), makeObservers())
        CFRunLoopAddSource(loop, source, RunLoop.Mode.default.cfMode)
        for observer in observers { CFRunLoopAddObserver(loop, observer, RunLoop.Mode.default.cfMode) }
        defer {
            CFRunLoopSourceInvalidate(source)
            for observer in observers { CFRunLoopObserverInvalidate(observer) }
        }
        while !hasEnded.withLock(\.self), case let now = DispatchTime.now(), now < deadline {
            let seconds = Double(deadline.uptimeNanoseconds - now.uptimeNanoseconds) / 1e9
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: seconds))
        }
    }

    /// Keeps the loop from returning at once where it has nothing else to wait for; it is never signalled.
    private func makeSource() -> CFRunLoopSource {
        // SAFETY: what the context has is never read through.
        var context = unsafe CFRunLoopSourceContext()
        unsafe context.info = RunLoopInfo().pointer
        unsafe context.perform = { _ in }
        return unsafe CFRunLoopSourceCreate(nil, 0, &context)
    }

    /// Stop the run, and none that a callout of it begins, when it is about to wait and nothing is left to wait for. A
    /// signalled source would not do: a run inside this one may handle it.
    ///
    /// What they do is around all that others do there: a run that one of those begins is inside this one, and uses up no stop.
    private func makeObservers() -> [CFRunLoopObserver] {
        var depth = 0
        let begin: CFRunLoopObserver = CFRunLoopObserverCreateWithHandler(
            nil, CFRunLoopActivity.entry.rawValue, true, .min
        ) { _, _ in depth += 1 }
        let end: CFRunLoopObserver = CFRunLoopObserverCreateWithHandler(
            nil, CFRunLoopActivity([.beforeWaiting, .exit]).rawValue, true, .max
        ) { [unowned self] _, activity in
            if activity == .exit {
                depth -= 1
            } else if depth == 1, hasEnded.withLock(\.self) {
                CFRunLoopStop(loop)
            }
        }
        return [begin, end]
    }

    /// Has the run that is under way end, if there is one.
    func end() {
        hasEnded.withLock { $0 = true }
        CFRunLoopWakeUp(loop)
    }
}

/// Does something when it is released.
final class AtRelease: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) {
        self.action = action
    }

    deinit { action() }
}
