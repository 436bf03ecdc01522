internal import CoreFoundation
internal import Foundation

/// Follows the runs of a run loop in some modes, to tell of one that ends whether it has come to wait.
///
/// Its observers call nobody, so that no run inside another goes unseen: CoreFoundation does not call an observer that it is
/// calling already. Each is called behind all the others of its mode, which can ask about a run until its very end.
///
/// SAFETY: the state is guarded; CoreFoundation's run loop functions used here may be called from any thread.
final class RunLoopRuns: @unchecked Sendable {
    private struct Followed {
        let observer: CFRunLoopObserver
        /// Whether those that were seen to begin, each inside the one before, have come to wait. Empty if all have.
        var haveWaited: [Bool] = []
        var isWanted = true
    }

    /// Held by the observers, too: one may be called while the rest goes on another thread. An invalidated one lets go of it.
    private final class State: Sendable {
        let modes = Guarded<[RunLoop.Mode: Followed]>([:])
        let dateOfFiringTimer = Guarded<CFAbsoluteTime?>(nil)
    }

    private let loop: CFRunLoop
    private let state = State()

    init(of loop: CFRunLoop) {
        self.loop = loop
    }

    deinit {
        state.modes.withLock { modes in
            for mode in modes.keys { RunLoopRuns.leave(mode, &modes) }
        }
    }

    /// Follows those in some modes from the next one that begins, and those in other modes no longer than to their end.
    func follow(_ wanted: Set<RunLoop.Mode>) {
        state.modes.withLock { modes in
            for (mode, followed) in modes {
                modes[mode]?.isWanted = wanted.contains(mode)
                if followed.haveWaited.isEmpty, !wanted.contains(mode) { RunLoopRuns.leave(mode, &modes) }
            }
            for mode in wanted where modes[mode] == nil { modes[mode] = Followed(observer: observe(mode)) }
        }
    }

    /// The modes whose innermost run, which was seen to begin, has not come to wait.
    var modesWithoutWait: [RunLoop.Mode] {
        state.modes.withLock { modes in modes.filter { $0.value.haveWaited.last == false }.map(\.key) }
    }

    /// Takes note that a timer which stays due is firing, and keeps no run from waiting.
    func ignoreTimer(dueAt date: CFAbsoluteTime) { state.dateOfFiringTimer.withLock { $0 = date } }

    private func observe(_ mode: RunLoop.Mode) -> CFRunLoopObserver {
        let activities: CFRunLoopActivity = [.entry, .beforeWaiting, .exit]
        let observer: CFRunLoopObserver = CFRunLoopObserverCreateWithHandler(nil, activities.rawValue, true, .max) {
            [state] _, activity in
            RunLoopRuns.takeNote(of: activity, in: mode, state)
        }
        CFRunLoopAddObserver(loop, observer, mode.cfMode)
        return observer
    }

    private static func takeNote(of activity: CFRunLoopActivity, in mode: RunLoop.Mode, _ state: State) {
        // A loop of which a timer is due only looks as if it were about to wait.
        let dueDate = activity == .beforeWaiting ? CFRunLoopGetCurrent().dateOfDueTimer : nil
        let isBusy = dueDate != nil && dueDate != state.dateOfFiringTimer.withLock(\.self)
        state.modes.withLock { modes in
            // Not covered: another thread takes the observer off just then.
            guard var runs = modes[mode]?.haveWaited else { return }
            modes[mode]?.haveWaited = []
            switch activity {
            case .entry: runs.append(false)
            case .exit: _ = runs.popLast()
            default: if !runs.isEmpty, !isBusy { runs[runs.count - 1] = true }
            }
            if runs.contains(false) {
                modes[mode]?.haveWaited = runs
            } else if modes[mode]?.isWanted == false {
                RunLoopRuns.leave(mode, &modes)
            }
        }
    }

    private static func leave(_ mode: RunLoop.Mode, _ modes: inout [RunLoop.Mode: Followed]) {
        if let followed = modes.removeValue(forKey: mode) { CFRunLoopObserverInvalidate(followed.observer) }
    }
}
