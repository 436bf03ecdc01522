internal import CoreFoundation
internal import Dispatch
internal import Foundation
internal import Synchronization

/// The end of a run of the main thread's run loop, after which the main queue may stand for it: a program may run the loop
/// for some passes, and go on with `dispatchMain`.
enum MainLoopExit {
    private struct State: Sendable {
        var actions: [ObjectIdentifier: @Sendable () -> Void] = [:]
        /// The modes in which exits are seen.
        var modes: Set<RunLoop.Mode> = []
        /// How long after an exit the actions are called, in microseconds: longer each time, because a program that runs one
        /// pass after the other would be woken for each by what none of them is for.
        var delay = MainLoopExit.shortestDelay
    }

    private static let wasThreadSeenEnded = Atomic<Bool>(false)

    /// Whether the main thread, and its run loop with it, is known to have ended: another thread has been seen in the main
    /// queue's turns.
    static var hasThreadEnded: Bool {
        if wasThreadSeenEnded.load(ordering: .relaxed) { return true }
        guard MainQueue.isCurrent, !Thread.isMainThread else { return false }
        wasThreadSeenEnded.store(true, ordering: .relaxed)
        return true
    }

    /// Whether the main queue, in a turn of it, runs without the main thread's run loop, and so stands for it. Of a thread that
    /// ended in what its loop called, the loop keeps its mode for ever.
    static var leavesLoopToQueue: Bool { hasThreadEnded || CFRunLoopCopyCurrentMode(CFRunLoopGetMain()) == nil }

    private static let shortestDelay = 250
    private static let longestDelay = 1_000_000
    private static let state = Locked(State())

    /// Has the main queue call an action of an object some time after the end of the run that is under way, in which the
    /// caller is; an earlier one of that object is forgotten.
    static func next(for object: AnyObject, _ action: @escaping @Sendable () -> Void) {
        // Not covered: the second, because the caller has found the loop running.
        guard let mode = RunLoop.main.currentMode else { return action() }
        let (isNew, forgone) = state.withLock { state in
            (state.modes.insert(mode).inserted, state.actions.updateValue(action, forKey: ObjectIdentifier(object)))
        }
        withExtendedLifetime(forgone) {}
        guard isNew else { return }
        // SAFETY: there is no context to be read through.
        let observer = unsafe CFRunLoopObserverCreate(
            nil, CFRunLoopActivity.exit.rawValue, true, 0, { _, _, _ in MainLoopExit.hasCome() }, nil)
        CFRunLoopAddObserver(CFRunLoopGetMain(), observer, mode.cfMode)
    }

    /// Forgets the action of an object that ends.
    static func forget(_ object: AnyObject) {
        let forgone = state.withLock { $0.actions.removeValue(forKey: ObjectIdentifier(object)) }
        withExtendedLifetime(forgone) {}
    }

    /// How many objects wait.
    static var count: Int { state.withLock(\.actions.count) }

    private static func hasCome() {
        let (actions, delay) = state.withLock { state in
            defer {
                state.delay = state.actions.isEmpty ? shortestDelay : min(state.delay * 2, longestDelay)
                state.actions = [:]
            }
            return (state.actions.values.map(\.self), state.delay)
        }
        guard !actions.isEmpty else { return }
        DispatchQueue.main.asyncAfter(deadline: .now() + .microseconds(delay)) { for action in actions { action() } }
    }
}
