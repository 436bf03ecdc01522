internal import CoreFoundation
internal import Dispatch
internal import Foundation

/// The run loop source of one thread and set of modes.
///
/// SAFETY: `source` never changes; CoreFoundation's run loop sources may be signalled from any thread.
final class ThreadSource: @unchecked Sendable {
    private struct State: @unchecked Sendable {
        var drains: [Drain] = []
        var loop: CFRunLoop?
        var isClosed = false
    }

    private static let sources = RunLoopTable<ThreadSource>()

    let thread: ThreadLoop
    let info = RunLoopInfo()
    private let modes: Set<RunLoop.Mode>
    /// Whether the main queue stands for the thread where it runs without a run loop, as under `dispatchMain` and in `@main
    /// async` programs.
    let isServedByMainQueue: Bool
    private let state = Guarded(State())
    private let source: CFRunLoopSource

    init(thread: ThreadLoop, modes: Set<RunLoop.Mode>) {
        self.thread = thread
        self.modes = modes
        isServedByMainQueue = thread.isMain && !modes.isDisjoint(with: [.default, .common])
        // SAFETY: what the context has is never read through.
        var context = unsafe CFRunLoopSourceContext()
        unsafe context.info = info.pointer
        unsafe context.perform = { unsafe ThreadSource.sources.object($0)?.perform() }
        source = unsafe CFRunLoopSourceCreate(nil, 0, &context)
        ThreadSource.sources.insert(self, for: info)
    }

    deinit {
        if isServedByMainQueue { MainLoopExit.forget(self) }
        thread.forget(info)
        ThreadSource.sources.remove(info)
        CFRunLoopSourceInvalidate(source)
        // A run loop that waits does not see that there is nothing left to wait for.
        if let loop = thread.runLoop { CFRunLoopWakeUp(loop) }
    }

    /// Adds the source to the thread's run loop, if that is known; what was held is delivered when the loop runs.
    func install() {
        guard let loop = thread.runLoop else { return }
        for mode in modes { CFRunLoopAddSource(loop, source, mode.cfMode) }
        let isNeeded = state.withLock { state in
            state.loop = loop
            return !state.drains.isEmpty
        }
        if isNeeded { signal(loop) }
    }

    /// Runs a drain on the thread, and wakes it; holds it while there is no loop; cancels it when the thread has exited.
    func schedule(_ drain: Drain) {
        let (isClosed, loop) = state.withLock { state in
            if !state.isClosed { state.drains.append(drain) }
            return (state.isClosed, state.loop)
        }
        if isClosed { return drain.cancel() }
        if let loop { signal(loop) }
        if isServedByMainQueue { scheduleOnMainQueue() }
    }

    private func scheduleOnMainQueue() {
        DispatchQueue.main.async { [weak self] in self?.performOnMainQueue() }
    }

    private func performOnMainQueue() {
        if MainLoopExit.leavesLoopToQueue { perform() } else { leaveToLoop() }
    }

    // Not covered: the main run loop comes to all in the tests; the program Smoke lets it end before.
    /// Has the run loop perform this, which it may not come to in the run that is under way; then the main queue has it again.
    private func leaveToLoop() {
        if state.withLock(\.drains.isEmpty) { return }
        MainLoopExit.next(for: self) { [weak self] in self?.performOnMainQueue() }
    }

    private func signal(_ loop: CFRunLoop) {
        CFRunLoopSourceSignal(source)
        CFRunLoopWakeUp(loop)
    }

    /// Runs what was scheduled, on the thread.
    func perform() {
        let drains = state.withLock { state in
            let drains = state.drains
            state.drains = []
            return drains
        }
        for drain in drains { drain.run() }
    }

    /// Cancels what is scheduled, which drops what it stands for, and takes no more.
    func close() {
        let drains = state.withLock { state in
            state.isClosed = true
            state.loop = nil
            let drains = state.drains
            state.drains = []
            return drains
        }
        for drain in drains { drain.cancel() }
    }
}
