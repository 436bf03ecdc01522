internal import CoreFoundation
public import Dispatch
public import Foundation

/// A queue of notifications that are posted later, by a run loop: when it is idle, or at the end of its current pass.
///
/// ```swift
/// let queue = PostingQueue.current
/// let redraw = Notification(name: .needsRedraw, object: view)
/// queue.enqueue(redraw, postingStyle: .whenIdle)
/// queue.enqueue(redraw, postingStyle: .whenIdle)   // one redraw
/// ```
///
/// It has the interface of Foundation's `NotificationQueue`. Notifications are posted in the order in which they were
/// enqueued, those `.asap` before those `.whenIdle` (Q1); a new one takes the place of those that it
/// coalesces with, at the back (Q3). A handler that enqueues is served in a later pass, so it cannot
/// starve its loop (Q6).
///
/// A queue belongs to the thread that made it, and posts there, in the run loop modes that were asked for
/// (Q5). While that thread runs no run loop its notifications wait, and the center's audit shows
/// them; when it exits they are released, and counted there. On the main thread of a program that runs the main queue
/// without a run loop (`dispatchMain`, `@main async`) the main queue posts them.
///
/// *Thread safety*: everything may be called from any thread, also from inside handlers that the queue is calling.
/// Enqueueing wakes the queue's thread.
public final class PostingQueue: ClosedAtThreadExit, LatePoster, Sendable {
    enum Clock {
        /// The run loop of a thread; also the main queue, if it is the main thread's.
        case loop(RunLoopAlarm, isMain: Bool)
        case queue(DispatchQueue)
    }

    /// SAFETY: only touched under the mutex, which upholds it; what leaves it is on its way to one handler.
    struct State: @unchecked Sendable {
        var backlog = PostingBacklog()
        /// The backlog's lines when the alarm was last set.
        var alarmedLines: Set<PostingBacklog.Line> = []
        /// Whether a block on the dispatch queue is on its way.
        var isScheduled = false
        var isClosed = false
    }

    let center: ObserverCenter
    let clock: Clock
    /// The name of the thread or the dispatch queue, for the audit.
    let place: String
    let state = Guarded(State())
    /// Its number in the center's ledger.
    let number: PostingLedger.Number

    // MARK: Making one

    /// The calling thread's queue, for `ObserverCenter.default`: one for each thread, freed with it (Q2).
    ///
    /// On the main queue it is the main thread's, on whatever thread the main queue runs.
    public static var current: PostingQueue {
        if MainQueue.isCurrent { return ofMainThread }
        let thread = ThreadRecord.current
        if let known = thread[ownQueue] { return known }
        let made = PostingQueue(center: .default)
        thread[ownQueue] = made
        return made
    }

    private static let ownQueue = ThreadSlot<PostingQueue>()

    private static let ofMainThread = PostingQueue(center: .default, loop: CFRunLoopGetMain(), isMain: true)

    /// Makes a queue that posts to a center on the calling thread, by its run loop.
    ///
    /// The center is held as long as the queue is.
    /// - Parameter center: The center to post to, which is held as long as the queue is.
    public convenience init(center: ObserverCenter) {
        let isMain = MainQueue.isCurrent
        self.init(center: center, loop: isMain ? CFRunLoopGetMain() : CFRunLoopGetCurrent(), isMain: isMain)
        if !isMain { ThreadRecord.current.closeAtExit(self) }
    }

    private init(center: ObserverCenter, loop: CFRunLoop, isMain: Bool) {
        self.center = center
        number = center.core.ledger.makeNumber()
        let alarm = RunLoopAlarm(loop: loop)
        clock = .loop(alarm, isMain: isMain)
        place = isMain ? "the main thread" : describeThread(.current)
        alarm.connect(self)
        center.core.ledger.list(self)
    }

    /// Makes a queue that posts to a center on a dispatch queue, for threads that run no run loop (Q8).
    ///
    /// There `.asap` is as soon as the queue is free, `.whenIdle` one turn behind what is on the queue then. Modes are
    /// without meaning, and `.now` posts on the calling thread.
    /// - Parameters:
    ///   - center: The center to post to, which is held as long as the queue is.
    ///   - queue: The dispatch queue on which notifications are posted.
    public init(center: ObserverCenter, queue: DispatchQueue) {
        self.center = center
        number = center.core.ledger.makeNumber()
        clock = .queue(queue)
        place = "dispatch queue \(queue.label)"
        center.core.ledger.list(self)
    }

    deinit {
        if case .loop(_, isMain: true) = clock { MainLoopExit.forget(self) }
        close()
        center.core.ledger.unlist(self)
    }

    // MARK: Enqueueing

    /// Enqueues a notification.
    ///
    /// It first takes out of the queue, whatever their style, the notifications that the new one coalesces with. `.now`
    /// does so too, then posts on the calling thread, unless its run loop is running in a mode that is not listed.
    /// A notification whose object is being deinitialised is enqueued without the object (X3).
    ///
    /// Complexity: O(1) amortised, whatever waits.
    /// - Parameters:
    ///   - notification: What to post.
    ///   - postingStyle: When to post it.
    ///   - coalesceMask: What makes waiting notifications the same as this one.
    ///   - modes: The run loop modes in which it may be posted; `nil` for the default mode, `.common` for all that are
    ///     common.
    public func enqueue(
        _ notification: Notification, postingStyle: PostingStyle,
        coalesceMask: NotificationCoalescing = [.onName, .onSender], forModes modes: [RunLoop.Mode]? = nil
    ) {
        let modes = modes.map(Set.init) ?? PostingQueue.defaultModes
        guard !modes.isEmpty else {
            // Not covered: ends the process; MisuseTableTests run it apart.
            fatalError(
                "PostingQueue.enqueue(_:postingStyle:coalesceMask:forModes:): the list of modes is empty, so "
                    + "\(notification.name.rawValue) could never be posted; pass nil for the default mode, or .common.")
        }
        let kept = postingStyle == .now ? notification : notification.withoutEndingObject
        switch enter(kept, matching: notification, style: postingStyle, mask: coalesceMask, modes: modes) {
        case .postsNow: if isOpenNow(for: modes) { center.post(notification) }
        case .needsWaking: wake()
        case .dropped: center.core.ledger.countDroppedPosts(1)
        case .waits: break
        }
    }

    /// Takes out what a notification coalesces with, and puts in the notification itself, unless it is to be posted now.
    ///
    /// A function of its own, so that what is taken out is let go of before any handler runs.
    private func enter(
        _ kept: Notification, matching notification: Notification, style: PostingStyle, mask: NotificationCoalescing,
        modes: Set<RunLoop.Mode>
    ) -> Enqueued {
        let (removed, outcome) = state.withLock { state -> (PostingBacklog.Removed, Enqueued) in
            let removed = state.backlog.removeAll(matching: notification, on: mask)
            var outcome = Enqueued.waits
            if style == .now {
                outcome = .postsNow
            } else if state.isClosed {
                outcome = .dropped
            } else if state.backlog.append(kept, style: style, modes: modes) {
                outcome = .needsWaking
            }
            setAlarm(&state)
            return (removed, outcome)
        }
        withExtendedLifetime(removed) {}
        return outcome
    }

    private static let defaultModes: Set<RunLoop.Mode> = [.default]

    private enum Enqueued { case postsNow, needsWaking, waits, dropped }

    private func isOpenNow(for modes: Set<RunLoop.Mode>) -> Bool {
        guard case .loop(let alarm, _) = clock, alarm.loop === CFRunLoopGetCurrent(), let isOpen = alarm.openModes()
        else {
            return true
        }
        return isOpen(modes)
    }

    // MARK: Dequeueing

    /// Takes out the notifications that a notification coalesces with; with an empty mask exactly that notification:
    /// the oldest with its name, its sender and its very `userInfo`. A sender that is a value which cannot be compared is
    /// the same as none, so such a notification is not found by its sender.
    ///
    /// Complexity: O(1), plus O(1) for each that is taken out.
    /// - Parameters:
    ///   - notification: The notification to compare with. It need not be one that was enqueued.
    ///   - coalesceMask: What must be the same; empty for all of it.
    public func dequeueNotifications(matching notification: Notification, coalesceMask: NotificationCoalescing) {
        let removed = state.withLock { state in
            let removed =
                coalesceMask.isEmpty
                ? state.backlog.removeOne(notification)
                : state.backlog.removeAll(matching: notification, on: coalesceMask)
            setAlarm(&state)
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    /// Posts everything that waits, in order, on the calling thread, in whatever mode (Q8).
    ///
    /// Notifications that handlers enqueue meanwhile wait for their turn.
    public func flush() {
        post([.asap, .whenIdle]) { _ in true }
    }

    // MARK: The end

    /// Takes no more, and drops what waits, counted in the center's audit: the queue's thread exits.
    func close() {
        let removed = state.withLock { state in
            state.isClosed = true
            let removed = state.backlog.removeAll()
            setAlarm(&state)
            return removed
        }
        center.core.ledger.countDroppedPosts(removed.count)
        withExtendedLifetime(removed) {}
    }

    /// How many notifications wait, by style.
    var counts: (asap: Int, whenIdle: Int) {
        state.withLock { ($0.backlog.count(of: .asap), $0.backlog.count(of: .whenIdle)) }
    }
}
