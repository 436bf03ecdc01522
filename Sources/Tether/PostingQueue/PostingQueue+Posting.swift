internal import CoreFoundation
internal import Dispatch
internal import Foundation

extension PostingQueue {
    /// Posts what its run loop's current mode and activity let through.
    func ring(at activity: CFRunLoopActivity) {
        // Not covered: what has no loop has no alarm, which is called in a mode.
        guard case .loop(let alarm, _) = clock, let isOpen = alarm.openModes() else { return }
        if activity == .beforeTimers { alarm.beginPass() }
        post(alarm.isIdle(at: activity, isOpen: isOpen) ? [.asap, .whenIdle] : [.asap], isOpen: isOpen)
    }

    /// Posts what was enqueued before this call, in order, as far as it is open.
    func post(_ styles: [PostingStyle], isOpen: (Set<RunLoop.Mode>) -> Bool) {
        let limit = state.withLock { $0.backlog.nextSequence }
        var posted = false
        for style in styles {
            while let (notification, removed) = state.withLock({ state -> Popped? in
                let popped = state.backlog.popFirst(style, before: limit, isOpen: isOpen)
                guard let popped else { return nil }
                setAlarm(&state, anew: !posted)
                return Popped(notification: popped.notification, removed: popped.removed)
            })?.parts {
                posted = true
                center.post(notification)
                withExtendedLifetime(removed) {}
            }
        }
        // Notifications that handlers enqueued wait for another pass; with none left, the loop may have a reason to end.
        if posted { wake() }
    }

    /// SAFETY: a notification on its way from the queue to its one post.
    private struct Popped: @unchecked Sendable {
        let notification: Notification
        let removed: PostingBacklog.Removed

        var parts: (Notification, PostingBacklog.Removed) { (notification, removed) }
    }

    /// Sets the alarm to the modes in which something waits; `anew` while it is ringing.
    func setAlarm(_ state: inout State, anew: Bool = false) {
        guard case .loop(let alarm, _) = clock, anew || state.alarmedLines != state.backlog.lines else { return }
        alarm.install(in: state.backlog.modes, anew: anew)
        state.alarmedLines = state.backlog.lines
    }

    // MARK: Waking

    /// Sees to it that what waits gets its turn.
    func wake() {
        switch clock {
        case .loop(let alarm, let isMain):
            alarm.wake()
            if isMain { schedule(on: .main) }
        case .queue(let queue): schedule(on: queue)
        }
    }

    /// Whether what waits for some modes may be posted by a dispatch queue: the main queue, where it runs without a run
    /// loop, stands for the default mode.
    private func isOpenOnQueue(_ modes: Set<RunLoop.Mode>) -> Bool {
        if case .queue = clock { true } else { modes.contains(.default) || modes.contains(.common) }
    }

    /// Whether a dispatch queue is to post at all: the main queue only where it runs without a run loop.
    private var isPostedByQueue: Bool {
        if case .loop = clock { MainLoopExit.leavesLoopToQueue } else { true }
    }

    /// Posts in two turns of a dispatch queue: first what is asap, then what is idle too.
    private func schedule(on queue: DispatchQueue) {
        let isNeeded = state.withLock { state in
            guard !state.isScheduled, isOpenOnQueue(state) else { return false }
            state.isScheduled = true
            return true
        }
        guard isNeeded else { return }
        queue.async { [weak self] in
            if let self, isPostedByQueue { post([.asap], isOpen: isOpenOnQueue) }
            queue.async { [weak self] in
                guard let self else { return }
                let isLeft = state.withLock { state in
                    state.isScheduled = false
                    return isOpenOnQueue(state)
                }
                if isPostedByQueue {
                    post([.asap, .whenIdle], isOpen: isOpenOnQueue)
                    schedule(on: queue)
                } else if isLeft {
                    // A run loop that ends may leave it to the queue again.
                    MainLoopExit.next(for: self) { [weak self] in self?.schedule(on: queue) }
                }
            }
        }
    }

    /// Whether something waits that a dispatch queue may post.
    private func isOpenOnQueue(_ state: borrowing State) -> Bool {
        state.backlog.lines.contains { isOpenOnQueue($0.modes) }
    }
}
