internal import CoreFoundation
public import Dispatch
public import Foundation

// A queue of notifications that are posted later.
//
// Notifications wait in a `PostingBacklog`. One of two clocks posts them:
//
//     a run loop         an observer in each mode in which something waits    beforeTimers           .asap
//                        and a source, which keeps the loop from ending       beforeWaiting, exit    .asap, then .whenIdle
//
//     a dispatch queue   two blocks, one after the other                      the first              .asap
//                                                                             the second             .asap, then .whenIdle
//
// The main queue stands for the main thread's run loop while that does not run. Each turn posts what was enqueued before it, and
// leaves what its handlers enqueue to a later one.
//
// The observer and the blocks retain the queue, so a queue lives as long as something waits. CoreFoundation does not call an
// observer that it is calling already. So a turn that posts makes a new observer first, for the runs that handlers begin.

/// A queue of notifications that are posted later, by a run loop: when it is idle, or at the end of its current pass.
///
/// ```swift
/// let queue = PostingQueue.main
/// let redraw = Notification(name: .needsRedraw, object: view)
/// queue.enqueue(redraw, postingStyle: .whenIdle)
/// queue.enqueue(redraw, postingStyle: .whenIdle)   // one redraw
/// ```
///
/// It has the interface of Foundation's `NotificationQueue`. Notifications are posted in the order in which they were
/// enqueued, those `.asap` before those `.whenIdle` (Q1). A new one takes the place of those that it coalesces with, at the
/// back (Q3). A notification that a handler enqueues is posted in a later pass, so handlers cannot starve the loop (Q6).
///
/// A queue belongs to the thread that made it, and posts there, in the run loop modes that were asked for (Q5). While that
/// thread runs no run loop the notifications wait, and the center's audit shows them. When the thread exits they are released,
/// and counted there. On the main thread of a program that runs the main queue without a run loop (`dispatchMain`,
/// `@main async`) the main queue posts them. A queue that nobody keeps posts what waits all the same.
///
/// *Thread safety*: everything may be called from any thread, also from inside handlers that the queue is calling.
/// Enqueueing wakes the queue's thread.
public final class PostingQueue: ClosedAtThreadExit, LatePoster, Sendable {
    private enum Clock {
        case loop(RunLoopTrigger)
        case queue(DispatchQueue)
    }

    /// SAFETY: protected by the lock. What leaves it is on its way to one post, or is released.
    private struct State: @unchecked Sendable {
        var backlog = PostingBacklog()
        /// Whether blocks on the dispatch queue are on their way.
        var isScheduled = false
        var isClosed = false
    }

    private let center: ObserverCenter
    private let clock: Clock
    private let state = Locked(State())
    /// The name of the thread or the dispatch queue, for the audit.
    let place: String
    /// Its number in the center's ledger.
    let number: PostingLedger.Number

    // MARK: Making one

    /// The main thread's queue, for `ObserverCenter.default` (Q2).
    @MainActor public static var main: PostingQueue { ofMainThread }

    /// The calling thread's queue, for `ObserverCenter.default`: one for each thread, freed with it (Q2).
    ///
    /// On the main queue it is `main`. Not for async code: it runs on threads that run no run loop.
    @available(
        *, noasync, message: "async code has no run loop; use PostingQueue.main, or init(notificationCenter:queue:)"
    )
    public static var current: PostingQueue {
        if MainQueue.isCurrent { return ofMainThread }
        let thread = ThreadRecord.current
        if let known = thread[ownQueue] { return known }
        let made = PostingQueue(notificationCenter: .default)
        thread[ownQueue] = made
        return made
    }

    /// The calling thread's queue, by Foundation's name: see `current`.
    @available(
        *, noasync, message: "async code has no run loop; use PostingQueue.main, or init(notificationCenter:queue:)"
    )
    public static var `default`: PostingQueue { current }

    private static let ownQueue = ThreadSlot<PostingQueue>()

    private static let ofMainThread = PostingQueue(.default, on: .loop(RunLoopTrigger(.main)), "the main thread")

    /// Makes a queue that posts to a center on the calling thread, by its run loop.
    /// - Parameter center: The center to post to, which is retained as long as the queue is.
    public convenience init(notificationCenter center: ObserverCenter) {
        if MainQueue.isCurrent {
            self.init(center, on: .loop(RunLoopTrigger(.main)), "the main thread")
        } else {
            let thread = ThreadRecord.current
            self.init(center, on: .loop(RunLoopTrigger(.current, of: thread)), describeCurrentThread())
            thread.closeAtExit(self)
        }
    }

    /// Makes a queue that posts to a center on a dispatch queue, for threads that run no run loop (Q8).
    ///
    /// There `.asap` is as soon as the queue is free, and `.whenIdle` one turn behind what is on the queue then. Modes are
    /// without meaning, and `.now` posts on the calling thread.
    /// - Parameters:
    ///   - center: The center to post to, which is retained as long as the queue is.
    ///   - queue: The dispatch queue on which notifications are posted.
    public convenience init(notificationCenter center: ObserverCenter, queue: DispatchQueue) {
        self.init(center, on: .queue(queue), "dispatch queue \(queue.label)")
    }

    private init(_ center: ObserverCenter, on clock: Clock, _ place: String) {
        self.center = center
        self.clock = clock
        self.place = place
        number = center.core.ledger.makeNumber()
        center.core.ledger.list(self)
    }

    deinit { center.core.ledger.unlist(self) }

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

    /// By what queued notifications are the same, so that a new one replaces the old ones.
    public struct NotificationCoalescing: OptionSet, Sendable, Hashable {
        /// The bits of the set.
        public let rawValue: UInt

        /// Makes a set of its bits.
        /// - Parameter rawValue: The bits: those of `onName` and `onSender`.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Nothing replaces anything.
        public static let none: NotificationCoalescing = []
        /// Notifications of one name are the same.
        public static let onName = NotificationCoalescing(rawValue: 1 << 0)
        /// Notifications of one sender are the same; those without a sender are too.
        public static let onSender = NotificationCoalescing(rawValue: 1 << 1)
    }

    /// Enqueues a notification.
    ///
    /// First it removes the notifications that the new one coalesces with, whatever their style. `.now` does so too, then posts
    /// on the calling thread, unless the run loop of that is running in a mode that is not listed.
    /// A notification whose object is being deinitialised is enqueued without the object (X3).
    ///
    /// Complexity: O(1) amortised, however much waits.
    /// - Parameters:
    ///   - notification: The notification to post.
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

    private static let defaultModes: Set<RunLoop.Mode> = [.default]

    private enum Enqueued { case postsNow, needsWaking, waits, dropped }

    /// Removes what a notification coalesces with, and appends the notification, unless it is to be posted now.
    ///
    /// A function of its own, so that what is removed is released before any handler runs.
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
            setTrigger(&state)
            return (removed, outcome)
        }
        withExtendedLifetime(removed) {}
        return outcome
    }

    private func isOpenNow(for modes: Set<RunLoop.Mode>) -> Bool {
        guard case .loop(let trigger) = clock, trigger.isCurrent, let isOpen = trigger.openModes() else { return true }
        return isOpen(modes)
    }

    /// Removes the notifications that a notification coalesces with; with an empty mask exactly that notification:
    /// the oldest with its name, its sender and its very `userInfo`. A sender that is a value which cannot be compared is
    /// the same as none, so such a notification is not found by its sender.
    ///
    /// Complexity: O(1), plus O(1) for each that is removed.
    /// - Parameters:
    ///   - notification: The notification to compare with. It need not be one that was enqueued.
    ///   - coalesceMask: What must be the same; empty for all of it.
    public func dequeueNotifications(matching notification: Notification, coalesceMask: NotificationCoalescing) {
        let removed = state.withLock { state in
            let removed =
                coalesceMask.isEmpty
                ? state.backlog.removeOne(notification)
                : state.backlog.removeAll(matching: notification, on: coalesceMask)
            setTrigger(&state)
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

    /// Takes no more, and drops what waits, counted in the center's audit: the queue's thread exits.
    func close() {
        let removed = state.withLock { state in
            state.isClosed = true
            let removed = state.backlog.removeAll()
            setTrigger(&state)
            return removed
        }
        center.core.ledger.countDroppedPosts(removed.count)
        withExtendedLifetime(removed) {}
    }

    /// How many notifications wait, by style.
    var counts: (asap: Int, whenIdle: Int) {
        state.withLock { ($0.backlog.count(of: .asap), $0.backlog.count(of: .whenIdle)) }
    }

    // MARK: Posting

    /// Posts what was enqueued before this call, in order, as far as it is open.
    private func post(_ styles: [PostingStyle], isOpen: (Set<RunLoop.Mode>) -> Bool) {
        let limit = state.withLock { $0.backlog.nextSequence }
        var posted = false
        for style in styles {
            while let popped = state.withLock({ state in
                let popped = state.backlog.popFirst(style, before: limit, isOpen: isOpen)
                setTrigger(&state, anew: popped != nil && !posted)
                return popped
            }) {
                posted = true
                center.post(popped.notification)
            }
        }
        if posted { wake() }
    }

    /// Has the trigger fire in the modes in which something waits; `anew` also in runs that begin inside this turn.
    private func setTrigger(_ state: inout State, anew: Bool = false) {
        guard case .loop(let trigger) = clock else { return }
        if anew || state.backlog.isEmpty { trigger.removeAll() }
        for line in state.backlog.lines { trigger.add(line.modes, for: self) }
    }

    /// A turn of the run loop.
    fileprivate func fire(at activity: CFRunLoopActivity) {
        guard case .loop(let trigger) = clock, let isOpen = trigger.openModes() else { return }
        post(activity == .beforeTimers ? [.asap] : [.asap, .whenIdle], isOpen: isOpen)
    }

    private func wake() {
        switch clock {
        case .loop(let trigger):
            trigger.wake()
            if trigger.isOfMainThread, !RunLoopTrigger.isMainLoopRunning { schedule(on: .main) }
        case .queue(let queue): schedule(on: queue)
        }
    }

    /// Schedules two turns of a dispatch queue, unless they are scheduled or nothing waits for them.
    private func schedule(on queue: DispatchQueue) {
        let isNeeded = state.withLock { state in
            guard !state.isScheduled, state.backlog.lines.contains(where: { isOpenOnQueue($0.modes) }) else {
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
        if case .loop = clock, RunLoopTrigger.isMainLoopRunning { return }
        post(styles, isOpen: isOpenOnQueue)
    }

    /// The main queue stands for the main thread's run loop in the default mode.
    private func isOpenOnQueue(_ modes: Set<RunLoop.Mode>) -> Bool {
        if case .queue = clock { true } else { modes.contains(.default) || modes.contains(.common) }
    }
}

/// The observer and the source that a posting queue has with its run loop, while something waits.
///
/// The observer's closure retains the queue. CoreFoundation does not retain the closure while it calls it. So only the loop's
/// thread removes the observer; another thread that empties the queue wakes the loop, which does so in its next pass.
///
/// SAFETY: the state is protected by the lock of the queue. CoreFoundation's functions used here may be called from any thread.
private final class RunLoopTrigger: @unchecked Sendable {
    private let loop: CFRunLoop
    /// The loop's thread; `nil` for the main thread.
    private let thread: ThreadRecord?
    private let source = makeIdleRunLoopSource()
    private var observer: CFRunLoopObserver?
    /// The modes in which both are.
    private var modes: Set<RunLoop.Mode> = []

    enum Loop { case main, current }

    init(_ loop: Loop, of thread: ThreadRecord? = nil) {
        self.loop = loop == .main ? CFRunLoopGetMain() : CFRunLoopGetCurrent()
        self.thread = thread
    }

    var isOfMainThread: Bool { thread == nil }

    /// Whether the caller is on the loop's thread, or on the main queue, which stands for it.
    var isCurrent: Bool { thread.map { $0 === ThreadRecord.current } ?? MainQueue.isCurrent }

    static var isMainLoopRunning: Bool { CFRunLoopCopyCurrentMode(CFRunLoopGetMain()) != nil }

    func wake() { CFRunLoopWakeUp(loop) }

    func add(_ wanted: Set<RunLoop.Mode>, for queue: PostingQueue) {
        if wanted.isSubset(of: modes) { return }
        // CoreFoundation logs an error for a main thread that has exited.
        if isOfMainThread, MainQueue.isCurrent, !Thread.isMainThread { return }
        if observer == nil {
            let activities: CFRunLoopActivity = [.beforeTimers, .beforeWaiting, .exit]
            observer = CFRunLoopObserverCreateWithHandler(nil, activities.rawValue, true, 0) { _, activity in
                queue.fire(at: activity)
            }
        }
        for mode in wanted.subtracting(modes) {
            CFRunLoopAddObserver(loop, observer, mode.cfMode)
            CFRunLoopAddSource(loop, source, mode.cfMode)
        }
        modes.formUnion(wanted)
    }

    /// Removes both, on the loop's thread, or has that do it in its next pass. A run with nothing else to wait for ends.
    func removeAll() {
        guard let removed = observer else { return }
        if isCurrent {
            observer = nil
            CFRunLoopObserverInvalidate(removed)
            for mode in modes { CFRunLoopRemoveSource(loop, source, mode.cfMode) }
            modes = []
        }
        wake()
    }

    /// Says whether what waits for some modes may be posted in the mode in which the calling thread's loop, which is this one,
    /// is running; `nil` where it is not running.
    func openModes() -> ((Set<RunLoop.Mode>) -> Bool)? {
        guard let current = RunLoop.current.currentMode else { return nil }
        return { [self] modes in modes.contains(current) || modes.contains(.common) && isCommon(current) }
    }

    /// Whether a mode is one of the common modes, which CoreFoundation does not list: a source that is in all of them is in it.
    private func isCommon(_ mode: RunLoop.Mode) -> Bool {
        if mode == .default { return true }
        let probe = makeIdleRunLoopSource()
        CFRunLoopAddSource(loop, probe, RunLoop.Mode.common.cfMode)
        defer { CFRunLoopSourceInvalidate(probe) }
        return CFRunLoopContainsSource(loop, probe, mode.cfMode)
    }
}
