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
// The main queue stands for the main thread's run loop while the loop does not run. Each turn posts the notifications
// enqueued before the turn, and leaves those that handlers enqueue to a later turn.
//
// The observer and the blocks retain the queue while notifications wait. CoreFoundation never calls an observer inside
// a call of the same observer. So a posting turn first makes a new observer, for the runs that handlers begin.

/// A queue of notifications that are posted later, by a run loop: when it is idle, or at the end of its current pass.
///
/// ```swift
/// let queue = PostingQueue.main
/// let redraw = Notification(name: .needsRedraw, object: view)
/// queue.enqueue(redraw, postingStyle: .whenIdle)
/// queue.enqueue(redraw, postingStyle: .whenIdle)   // one redraw
/// ```
///
/// The interface is that of Foundation's `NotificationQueue`. Notifications are posted in the order of enqueueing,
/// `.asap` before `.whenIdle` (Q1). A new notification replaces the ones to coalesce with, at the back (Q3). A
/// notification that a handler enqueues is posted in a later pass, so handlers cannot starve the loop (Q6).
///
/// A queue belongs to the thread that made the queue, and posts there, in the requested run loop modes (Q5). While the
/// thread runs no run loop the notifications wait, and the center's audit shows them. When the thread exits the
/// notifications are released and counted in the audit. If a program runs the main queue without a run loop
/// (`dispatchMain`, `@main async`), the main queue posts for the main thread. A released queue still posts the waiting
/// notifications.
///
/// *Thread safety*: any thread may call the queue, also in a handler that the queue calls. Enqueueing wakes the thread.
public final class PostingQueue: ClosedAtThreadExit, LatePoster, Sendable {
    private enum Clock {
        case loop(RunLoopTrigger)
        case queue(DispatchQueue)
    }

    /// SAFETY: protected by the lock. A removed notification is posted once, or released.
    private struct State: @unchecked Sendable {
        var backlog = PostingBacklog()
        /// Whether blocks are scheduled on the dispatch queue.
        var isScheduled = false
        var isClosed = false
    }

    private let center: ObserverCenter
    private let clock: Clock
    private let state = Locked(State())
    /// The name of the thread or the dispatch queue, for the audit.
    let place: String
    /// The queue's number in the center's ledger.
    let number: PostingLedger.Number

    // MARK: Making one

    /// The main thread's queue, for `ObserverCenter.default` (Q2).
    @MainActor public static var main: PostingQueue { ofMainThread }

    /// The calling thread's queue, for `ObserverCenter.default`: one for each thread, freed with the thread (Q2).
    ///
    /// On the main queue `current` is `main`. Not for async code, whose threads run no run loop.
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
    /// - Parameter center: The center to post to, retained by the queue.
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
    /// There `.asap` means as soon as the queue is free, and `.whenIdle` one turn later, behind the blocks then on the
    /// queue. Modes are without meaning, and `.now` posts on the calling thread.
    /// - Parameters:
    ///   - center: The center to post to, retained by the queue.
    ///   - queue: The dispatch queue that posts the notifications.
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

    /// The equality of queued notifications. A new notification replaces the equal ones.
    public struct NotificationCoalescing: OptionSet, Sendable, Hashable {
        /// The bits of the set.
        public let rawValue: UInt

        /// Makes a set of bits.
        /// - Parameter rawValue: The bits: those of `onName` and `onSender`.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// No notification replaces another.
        public static let none: NotificationCoalescing = []
        /// Notifications of one name are the same.
        public static let onName = NotificationCoalescing(rawValue: 1 << 0)
        /// Notifications of one sender are the same; notifications without a sender are too.
        public static let onSender = NotificationCoalescing(rawValue: 1 << 1)
    }

    /// Enqueues a notification.
    ///
    /// First the call removes the notifications to coalesce with, of every style. `.now` then posts on the calling
    /// thread, unless the thread's run loop is running in a mode that is not listed. A notification whose object is
    /// being deinitialised is enqueued without the object (X3).
    ///
    /// Complexity: O(1) amortised, at any backlog.
    /// - Parameters:
    ///   - notification: The notification to post.
    ///   - postingStyle: When to post.
    ///   - coalesceMask: The equality between the new notification and those to be replaced.
    ///   - modes: The run loop modes that allow the post; `nil` for the default mode, `.common` for every common mode.
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

    /// Removes the notifications to coalesce with, and appends the new notification, unless the style is `.now`.
    ///
    /// A function of its own, so that the removed notifications are released before any handler runs.
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

    /// Removes the notifications that a notification coalesces with. An empty mask removes exactly that notification:
    /// the oldest with the same name, sender and `userInfo`, by identity. A sender value that cannot be compared equals
    /// no other sender, so a search by such a sender finds nothing.
    ///
    /// Complexity: O(removed); with an empty mask O(waiting notifications of the same name and sender).
    /// - Parameters:
    ///   - notification: The notification to compare with, enqueued or not.
    ///   - coalesceMask: The parts that must be the same; empty for every part.
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

    /// Posts all waiting notifications, in order, on the calling thread, in every mode (Q8).
    ///
    /// Notifications that handlers enqueue meanwhile wait for a later turn.
    public func flush() {
        post([.asap, .whenIdle]) { _ in true }
    }

    /// Drops waiting and later notifications, counted in the center's audit. Called when the thread exits.
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

    /// Posts the notifications that were enqueued before the call, in order, as far as the mode is open.
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
        // A notification that coalesced into a later one may be left, although none was posted.
        if posted || hasNotifications(of: styles, isOpen: isOpen) { wake() }
    }

    private func hasNotifications(of styles: [PostingStyle], isOpen: (Set<RunLoop.Mode>) -> Bool) -> Bool {
        state.withLock { $0.backlog.lines.contains { styles.contains($0.style) && isOpen($0.modes) } }
    }

    /// Has the trigger fire in the modes of waiting notifications; `anew` also in runs that begin inside this turn.
    private func setTrigger(_ state: inout State, anew: Bool = false) {
        guard case .loop(let trigger) = clock else { return }
        if anew || state.backlog.isEmpty { trigger.removeAll(onOwnThread: state.isClosed) }
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

    /// Schedules two turns of a dispatch queue, unless turns are scheduled or no notification can be posted there.
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

/// The observer and the source of a posting queue in a run loop, while notifications wait.
///
/// The observer's closure retains the queue. CoreFoundation does not retain the closure during a call. So only the
/// loop's thread removes the observer. A thread that empties the queue wakes the loop to do so in the next pass.
///
/// SAFETY: the lock of the queue protects the state. Any thread may call the functions of CoreFoundation used here.
private final class RunLoopTrigger: @unchecked Sendable {
    private let loop: CFRunLoop
    /// The loop's thread; `nil` for the main thread.
    private let thread: ThreadRecord?
    private let source = makeIdleRunLoopSource()
    private var observer: CFRunLoopObserver?
    /// The modes of the observer and of the source.
    private var modes: Set<RunLoop.Mode> = []

    enum Loop { case main, current }

    init(_ loop: Loop, of thread: ThreadRecord? = nil) {
        self.loop = loop == .main ? CFRunLoopGetMain() : CFRunLoopGetCurrent()
        self.thread = thread
    }

    var isOfMainThread: Bool { thread == nil }

    /// Whether the caller is on the loop's thread, or on the main queue, which stands for the main thread's loop.
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

    /// Removes both on the loop's thread, or wakes the loop to do so. A run with nothing else to wait for ends.
    ///
    /// A thread that exits has no record any more, so it says `onOwnThread`.
    func removeAll(onOwnThread: Bool) {
        guard let removed = observer else { return }
        if onOwnThread || isCurrent {
            observer = nil
            CFRunLoopObserverInvalidate(removed)
            for mode in modes { CFRunLoopRemoveSource(loop, source, mode.cfMode) }
            modes = []
        }
        wake()
    }

    /// Returns a test of whether the loop's current mode allows a post; `nil` while the loop, the caller's, does not
    /// run.
    func openModes() -> ((Set<RunLoop.Mode>) -> Bool)? {
        guard let current = RunLoop.current.currentMode else { return nil }
        return { [self] modes in modes.contains(current) || modes.contains(.common) && isCommon(current) }
    }

    /// Whether a mode is common: CoreFoundation, which lists no common modes, puts a `.common` source into each.
    private func isCommon(_ mode: RunLoop.Mode) -> Bool {
        if mode == .default { return true }
        let probe = makeIdleRunLoopSource()
        CFRunLoopAddSource(loop, probe, RunLoop.Mode.common.cfMode)
        defer { CFRunLoopSourceInvalidate(probe) }
        return CFRunLoopContainsSource(loop, probe, mode.cfMode)
    }
}
