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
        let isDone = state.withLock { state in
            if !state.open.isEmpty { state.resume = resume }
            return state.open.isEmpty
        }
        if isDone { resume() }
    }

    private func expire() {
        let resume = state.withLock { $0.resume.take() }
        resume?()
    }

    // MARK: Waiting

    /// Suspends until all is done, or until a deadline.
    func wait(until deadline: DispatchTime) async {
        await withCheckedContinuation { continuation in
            whenDone { continuation.resume() }
            if !isEmpty { DispatchQueue.global().asyncAfter(deadline: deadline) { [self] in expire() } }
        }
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
        let loop = RunLoopHandle()
        let isDone = Guarded(false)
        whenDone {
            isDone.withLock { $0 = true }
            loop.stop()
        }
        while !isDone.withLock(\.self), DispatchTime.now() < deadline {
            loop.run(until: deadline)
        }
        expire()
    }
}

/// The calling thread's run loop, to be stopped from another thread.
///
/// SAFETY: CoreFoundation's run loops may be woken, and given blocks, from any thread.
private final class RunLoopHandle: @unchecked Sendable {
    private let runLoop = RunLoop.current
    private let loop: CFRunLoop = CFRunLoopGetCurrent()

    /// Runs the loop until it is stopped or a time has come.
    func run(until deadline: DispatchTime) {
        let seconds = max(0, Double(deadline.uptimeNanoseconds) - Double(DispatchTime.now().uptimeNanoseconds)) / 1e9
        // Without anything in it a loop would return at once.
        let timer = Timer(fire: Date(timeIntervalSinceNow: seconds), interval: 0, repeats: false) { _ in }
        RunLoop.current.add(timer, forMode: .default)
        defer { timer.invalidate() }
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: seconds))
    }

    /// Ends the pass that is running, or the next one.
    func stop() {
        runLoop.perform(inModes: [.default]) { CFRunLoopStop(CFRunLoopGetCurrent()) }
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
