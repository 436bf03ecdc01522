internal import CoreFoundation
internal import Foundation

/// The end of a run of the main thread's run loop, after which the main queue may stand for it: a program may run the loop
/// for some passes, and go on with `dispatchMain`.
enum MainLoopExit {
    private struct State: Sendable {
        var actions: [@Sendable () -> Void] = []
        /// The modes in which exits are seen.
        var modes: Set<RunLoop.Mode> = []
    }

    private static let state = Guarded(State())

    /// Calls an action when the run ends that is under way, on the main thread; the caller is in it.
    static func next(_ action: @escaping @Sendable () -> Void) {
        // Not covered: the second, because the caller has found the loop running.
        guard let mode = RunLoop.main.currentMode else { return action() }
        let isNew = state.withLock { state in
            state.actions.append(action)
            return state.modes.insert(mode).inserted
        }
        guard isNew else { return }
        // SAFETY: there is no context to be read through.
        let observer = unsafe CFRunLoopObserverCreate(
            nil, CFRunLoopActivity.exit.rawValue, true, 0, { _, _, _ in MainLoopExit.hasCome() }, nil)
        CFRunLoopAddObserver(CFRunLoopGetMain(), observer, mode.cfMode)
    }

    private static func hasCome() {
        let actions = state.withLock { state in
            defer { state.actions = [] }
            return state.actions
        }
        for action in actions { action() }
    }
}
