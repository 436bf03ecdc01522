internal import CoreFoundation
public import Dispatch
public import Foundation

// A queue of notifications that are posted later.
//
// Notifications wait in a `PostingBacklog`. One of two clocks posts them:
//
//     a run loop        an observer in each mode of a waiting notification  beforeTimers         .asap
//                       and a source, which keeps the loop from ending      beforeWaiting, exit  .asap, then .whenIdle
//
//     a dispatch queue  two blocks, one after the other                     the first            .asap
//                                                                           the second           .asap, then .whenIdle
//
// Each turn posts the notifications enqueued before the turn. The observer and the blocks retain
// the queue while notifications wait. CoreFoundation never calls an observer inside a call of the
// same observer. So a posting turn first makes a new observer, for the runs that handlers begin.

/// A queue of notifications that are posted later, by a run loop: when it is idle, or at the end of
/// its current pass.
///
/// ```swift
/// let queue = PostingQueue.main
/// let redraw = Notification(name: .needsRedraw, object: view)
/// queue.enqueue(redraw, postingStyle: .whenIdle)
/// queue.enqueue(redraw, postingStyle: .whenIdle)   // one redraw
/// ```
///
/// The interface is that of Foundation's `NotificationQueue`. Notifications are posted in the order
/// of enqueueing, `.asap` before `.whenIdle`. A new notification replaces the ones to coalesce
/// with, at the back. A notification that a handler enqueues is posted in a later pass, so handlers
/// cannot starve the loop.
///
/// A queue belongs to the thread that made the queue, and posts there, in the requested run loop
/// modes. While the thread runs no run loop the notifications wait, as the center's audit shows.
/// When the thread exits they are dropped and counted. Without a run loop on the main thread
/// (`dispatchMain`, `@main async`) the main queue posts. A released queue still posts the waiting
/// notifications.
///
/// *Thread safety*: any thread may call the queue, also in a handler that the queue calls.
/// Enqueueing wakes the thread.
public final class PostingQueue: Sendable {
    /// SAFETY: any thread may use a run loop of CoreFoundation, as far as it is used here.
    private enum Clock: @unchecked Sendable {
        /// A run loop and its thread; `nil` for the main thread.
        case loop(CFRunLoop, ThreadRecord?)
        case queue(DispatchQueue)
    }

    /// SAFETY: protected by the lock. A removed notification is posted once, or released.
    private struct State: @unchecked Sendable {
        var backlog = PostingBacklog()
        /// The run loop's observer, which retains the queue, while notifications wait.
        var hold: RunLoopHold?
        /// Whether blocks are scheduled on the dispatch queue.
        var isScheduled = false
        /// Whether a block on the main queue will remove the hold.
        var isRemovalScheduled = false
        var isClosed = false
    }

    private let center: ObserverCenter
    private let clock: Clock
    private let state = Locked(State())

    // MARK: Making one

    /// The main thread's queue, for `ObserverCenter.default`.
    public static let main = PostingQueue(
        .default, on: .loop(CFRunLoopGetMain(), nil), "the main thread")

    /// The calling thread's queue, for `ObserverCenter.default`: one for each thread, freed with
    /// the thread.
    ///
    /// On the main queue `current` is `main`. Not for async code, whose threads run no run loop.
    @available(
        *, noasync,
        message: "async code has no run loop; use PostingQueue.main, or a dispatch queue"
    )
    public static var current: PostingQueue {
        if MainQueue.isCurrent { return main }
        let thread = ThreadRecord.current
        if let known = thread[PostingQueue.self] { return known }
        let made = PostingQueue(notificationCenter: .default)
        thread[PostingQueue.self] = made
        return made
    }

    /// The calling thread's queue, by Foundation's name: see `current`.
    @available(
        *, noasync,
        message: "async code has no run loop; use PostingQueue.main, or a dispatch queue"
    )
    public static var `default`: PostingQueue { current }

    /// Makes a queue that posts to a center, which is retained, on the calling thread, by its run
    /// loop. Not for async code, whose threads run no run loop.
    @available(
        *, noasync,
        message:
            "async code has no run loop; give a dispatch queue: PostingQueue(notificationCenter:queue:)"
    )
    public convenience init(notificationCenter center: ObserverCenter) {
        if MainQueue.isCurrent {
            self.init(center, on: .loop(CFRunLoopGetMain(), nil), "the main thread")
        } else {
            let thread = ThreadRecord.current
            self.init(center, on: .loop(CFRunLoopGetCurrent(), thread), describeCurrentThread())
            thread.atExit(self) { $0.close() }
        }
    }

    /// Makes a queue that posts to a center on a dispatch queue, for threads that run no run loop.
    ///
    /// There `.asap` means as soon as the queue is free, and `.whenIdle` one turn later, behind the
    /// blocks then on the queue. Modes are without meaning, and `.now` posts on the calling thread.
    /// The center is retained.
    ///
    /// Give a serial queue. On a concurrent queue, posts may overlap and overtake each other.
    public convenience init(notificationCenter center: ObserverCenter, queue: DispatchQueue) {
        self.init(center, on: .queue(queue), "dispatch queue \(queue.label)")
    }

    private init(_ center: ObserverCenter, on clock: Clock, _ place: String) {
        self.center = center
        self.clock = clock
        let reference = Unowned(self)
        center.core.ledger.list(ObjectIdentifier(self)) {
            reference.retained?.state.withLock { state in
                state.backlog.isEmpty
                    ? nil
                    : (place, state.backlog.count(of: .asap), state.backlog.count(of: .whenIdle))
            }
        }
    }

    deinit { center.core.ledger.unlist(ObjectIdentifier(self)) }

    // MARK: Enqueueing and dequeueing

    /// When a queued notification is posted.
    public enum PostingStyle: Sendable, CaseIterable {
        /// When the run loop is about to wait, or ends a run.
        case whenIdle
        /// At the end of the run loop's current pass.
        case asap
        /// At once, by the call that enqueues it.
        case now
    }

    /// The equality of queued notifications. A new notification replaces the equal ones.
    public struct NotificationCoalescing: OptionSet, Sendable, Hashable {
        /// The bits of the set.
        public let rawValue: UInt
        /// Makes a set of the bits of `onName` and `onSender`.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// No notification replaces another.
        public static let none: NotificationCoalescing = []
        /// Notifications of one name are the same.
        public static let onName = NotificationCoalescing(rawValue: 1 << 0)
        /// Notifications of one sender are the same; notifications without a sender are too.
        public static let onSender = NotificationCoalescing(rawValue: 1 << 1)
    }

    /// Enqueues a notification.
    ///
    /// First the call removes the notifications to coalesce with, of every style. `.now` then posts
    /// on the calling thread. On the queue's own thread it posts nothing while the run loop there
    /// runs in a mode that is not listed. A notification whose object is being deinitialized is
    /// enqueued without the object, and no other notification counts as of the same sender.
    ///
    /// Complexity: O(1) amortised, at any backlog; O(waiting names) to coalesce on the sender
    /// alone.
    /// - Parameters:
    ///   - notification: The notification to post.
    ///   - postingStyle: When to post.
    ///   - coalesceMask: The equality between the new notification and those to be replaced.
    ///   - modes: The run loop modes that allow the post; `nil` for the default mode, `.common` for
    ///     every common mode.
    public func enqueue(
        _ notification: Notification, postingStyle: PostingStyle,
        coalesceMask: NotificationCoalescing = [.onName, .onSender],
        forModes modes: [RunLoop.Mode]? = nil
    ) {
        let modes = modes.map(Set.init) ?? [.default]
        guard !modes.isEmpty else {
            fatalError(
                "PostingQueue.enqueue(_:postingStyle:coalesceMask:forModes:): the list of modes is empty, so "
                    + "\(notification.name.rawValue) could never be posted; pass nil for the default mode, or .common."
            )
        }
        let kept = postingStyle == .now ? notification : notification.withoutEndingObject
        let hasLostSender = notification.object != nil && kept.object == nil
        var needsWaking = false
        // After the exit of the queue's thread, another thread may have the record of that thread.
        var isClosed = false
        change { state in
            isClosed = state.isClosed
            let removed = state.backlog.removeAll(matching: notification, on: coalesceMask)
            if state.isClosed, postingStyle != .now { center.core.ledger.countDroppedPosts(1) }
            if state.isClosed || postingStyle == .now { return removed }
            needsWaking = state.backlog.append(
                kept, style: postingStyle, modes: modes, hasLostSender: hasLostSender)
            if needsWaking { addHold(&state, in: modes) }
            return removed
        }
        if needsWaking { wake() }
        if postingStyle == .now, isClosed || allowsPostNow(in: modes) {
            center.post(notification)
        }
    }

    /// Whether a post of the style `.now` is made. On the queue's thread, a running loop must be in
    /// one of the modes.
    private func allowsPostNow(in modes: Set<RunLoop.Mode>) -> Bool {
        guard isOnOwnThread, let isOpen = openModes() else { return true }
        return isOpen(modes)
    }

    /// Changes the state. The caller releases the removed notifications with no lock held.
    @discardableResult
    private func change(_ body: (inout State) -> PostingBacklog.Removed) -> PostingBacklog.Removed {
        state.withLock { state in
            let removed = body(&state)
            if state.backlog.isEmpty { removeHold(&state) }
            return removed
        }
    }

    /// Removes the notifications that a notification coalesces with. An empty mask removes exactly
    /// that notification: the oldest with the same name, sender and `userInfo`, by identity. A
    /// sender value that cannot be compared equals no other sender, so a search by such a sender
    /// finds nothing.
    ///
    /// Complexity: O(removed), plus O(waiting names) on the sender alone; with an empty mask
    /// O(waiting notifications of the same name and sender).
    /// - Parameters:
    ///   - notification: The notification to compare with, enqueued or not.
    ///   - coalesceMask: The parts that must be the same; empty for every part.
    public func dequeueNotifications(
        matching notification: Notification, coalesceMask: NotificationCoalescing
    ) {
        change {
            coalesceMask.isEmpty
                ? $0.backlog.removeOne(notification)
                : $0.backlog.removeAll(matching: notification, on: coalesceMask)
        }
    }

    /// Posts all waiting notifications, in order, on the calling thread, in every mode.
    /// Notifications that handlers enqueue meanwhile wait for a later turn.
    public func flush() { postWaiting([.asap, .whenIdle]) { _ in true } }

    /// Drops waiting and later notifications, counted in the center's audit. Called when the thread
    /// exits.
    private func close() {
        change { state in
            state.isClosed = true
            let removed = state.backlog.removeAll()
            center.core.ledger.countDroppedPosts(removed.notifications.count)
            return removed
        }
    }

    // MARK: Posting

    /// Posts the notifications that were enqueued before the call, in order, as far as the mode is
    /// open.
    private func postWaiting(_ styles: [PostingStyle], isOpen: (Set<RunLoop.Mode>) -> Bool) {
        var due: [PostingBacklog.Number] = []
        change { state in
            due = state.backlog.due(styles, isOpen: isOpen)
            if !due.isEmpty { renewHold(&state) }
            return PostingBacklog.Removed()
        }
        for number in due {
            let removed = change { $0.backlog.remove(CollectionOfOne(number)) }
            for notification in removed.notifications { center.post(notification) }
        }
        if !due.isEmpty { wake() }
    }

    private func wake() {
        switch clock {
        case .loop(let loop, let thread):
            CFRunLoopWakeUp(loop)
            if thread == nil, CFRunLoopCopyCurrentMode(loop) == nil { schedule(on: .main) }
        case .queue(let queue): schedule(on: queue)
        }
    }

    // MARK: A run loop

    /// Has the run loop call the queue in some modes.
    private func addHold(_ state: inout State, in modes: Set<RunLoop.Mode>) {
        guard case .loop(let loop, let thread) = clock else { return }
        // After `dispatchMain` the main queue runs on other threads, and CoreFoundation logs an
        // error for the main thread, which has exited.
        if thread == nil, MainQueue.isCurrent, !Thread.isMainThread { return }
        if let hold = state.hold { return hold.add(to: modes) }
        let activities = RunLoopHold.beforeTimers | RunLoopHold.beforeWaiting | RunLoopHold.exit
        state.hold = RunLoopHold(loop, in: modes, observing: activities) { [self] in
            guard let isOpen = openModes() else { return }
            postWaiting(
                $0 == RunLoopHold.beforeTimers ? [.asap] : [.asap, .whenIdle], isOpen: isOpen)
            // What the handlers have enqueued. The main thread may never run a loop again.
            if $0 == RunLoopHold.exit, thread == nil { schedule(on: .main) }
        }
    }

    /// Replaces the observer by a new one, which the loop also calls inside a call of the old one.
    private func renewHold(_ state: inout State) {
        removeHold(&state)
        for modes in state.backlog.modes { addHold(&state, in: modes) }
    }

    /// Removes the observer on the loop's thread, or has that thread do so. Another thread must
    /// not: CoreFoundation does not retain the closure between choosing the observer and calling
    /// it, so the closure could be released just before the call.
    private func removeHold(_ state: inout State) {
        guard case .loop(let loop, let thread) = clock, let hold = state.hold else { return }
        if state.isClosed || isOnOwnThread {
            hold.invalidate()
            state.hold = nil
        } else if thread == nil, !state.isRemovalScheduled {
            // The main thread may run no loop that could be woken.
            state.isRemovalScheduled = true
            DispatchQueue.main.async { [self] in
                change { state in
                    state.isRemovalScheduled = false
                    return PostingBacklog.Removed()
                }
            }
        }
        // A woken run that has nothing else to wait for ends.
        CFRunLoopWakeUp(loop)
    }

    /// Whether the caller is on the loop's thread, or on the main queue, which stands for the main
    /// thread's loop.
    private var isOnOwnThread: Bool {
        guard case .loop(_, let thread) = clock else { return false }
        return thread.map { $0 === ThreadRecord.current } ?? MainQueue.isCurrent
    }

    /// A test of whether the current mode of the calling thread's loop allows a post; `nil` without
    /// a running loop.
    private func openModes() -> ((Set<RunLoop.Mode>) -> Bool)? {
        guard case .loop(let loop, _) = clock, let current = RunLoop.current.currentMode else {
            return nil
        }
        return {
            $0.contains(current) || $0.contains(.common) && PostingQueue.isCommon(current, in: loop)
        }
    }

    /// Whether a mode is common: CoreFoundation, which lists no common modes, puts a `.common`
    /// source into each.
    private static func isCommon(_ mode: RunLoop.Mode, in loop: CFRunLoop) -> Bool {
        if mode == .default { return true }
        let probe = RunLoopHold(loop, in: [.common])
        defer { probe.invalidate() }
        return probe.isIn(mode)
    }

    // MARK: A dispatch queue

    /// Schedules two turns of a dispatch queue, unless turns are scheduled or no notification can
    /// be posted there.
    private func schedule(on queue: DispatchQueue) {
        let isNeeded = state.withLock { state in
            guard !state.isScheduled, state.backlog.modes.contains(where: isOpenOnQueue) else {
                return false
            }
            state.isScheduled = true
            return true
        }
        guard isNeeded else { return }
        queue.async { [self] in
            postOnQueue([.asap])
            queue.async { [self] in
                state.withLock { $0.isScheduled = false }
                postOnQueue([.asap, .whenIdle])
            }
        }
    }

    private func postOnQueue(_ styles: [PostingStyle]) {
        if case .loop(let loop, _) = clock, CFRunLoopCopyCurrentMode(loop) != nil { return }
        postWaiting(styles, isOpen: isOpenOnQueue)
    }

    /// The main queue stands for the main thread's run loop in the default mode.
    private func isOpenOnQueue(_ modes: Set<RunLoop.Mode>) -> Bool {
        if case .queue = clock { true } else { modes.contains(.default) || modes.contains(.common) }
    }
}
