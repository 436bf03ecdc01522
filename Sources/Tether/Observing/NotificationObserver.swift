public import Foundation
internal import Synchronization

// SAFETY: `reference` is set before the token is shared and never changes after it; `NSObject` adds no state.

/// One registration with a center, and the token for it: when the token goes, the observer ends.
///
/// ```swift
/// // Ends with `token`.
/// let token = center.observe(.modelDidChange) { note in … }
/// token.target = .dispatchQueue(work)
/// token.cancel()                                // or ends now
/// ```
///
/// An observer that is attached to an owner is held by the owner's side of Tether, ends when the owner does, and need
/// not be kept. A token that is kept as a property is replaced by assignment, `token = center.observe(…)`, or in one step
/// with `key:` (M7). The idea is that of `LRNotificationObserver`.
///
/// *Delivery*: see ``DeliveryTarget``.
///
/// *Thread safety*: everything here may be called from any thread, also from inside a handler. Tokens can be stored
/// as `NSObjectProtocol`.
@safe public final class NotificationObserver: NSObject, @unchecked Sendable {
    /// The registration; `nil` in an observer that was refused. Written once, before the object is shared.
    ///
    /// The center retains the registration. A token does not, so a handler's captures are released when the observer ends,
    /// also while the token stays (O11). A call on the token retains the registration until it returns (R8).
    private(set) var reference: Unowned<Registration>?

    override init() { super.init() }

    deinit { cancel() }

    // MARK: The registration

    /// Sets the only registration of a token.
    func set(_ registration: Registration) { reference = Unowned(registration) }

    /// The registration, retained, unless it has ended.
    var live: Registration? { reference?.live }

    // MARK: Ending

    /// Whether the observer is registered: false once it was stopped, its owner, sender or center has ended, or it was
    /// a `once` observer and has run. Complexity: O(1).
    public var isActive: Bool { live != nil }

    /// Ends the observer: no handler of it starts any more, and what it captured is released (R1,
    /// R8).
    ///
    /// Stopping again does nothing. A handler that had begun on another thread may still be running when this returns;
    /// `cancelAndWait()` excludes that. Never waits. Complexity: O(1) amortised, plus O(p) where p of its deliveries are
    /// pending.
    public func cancel() {
        reference?.take()?.end()
    }

    /// The outcome of waiting for an observer's handlers.
    public enum WaitResult: Sendable {
        /// No handler of the observer runs on another thread any more.
        case finished
        /// A handler of the observer waits, in turn, for a handler on the calling thread. The observer has stopped all the same.
        case wouldDeadlock
    }

    /// Ends the observer and waits until its handlers on other threads have returned (R2).
    ///
    /// It does not wait for handlers on the calling thread's own stack, at any depth, or for the handler whose task calls it. Do
    /// not call it where a handler of the observer needs what the caller has:
    /// - a lock that the handler takes;
    /// - the main thread, for a handler that runs there or on the main actor;
    /// - an actor, for an async handler of that actor;
    /// - a thread of Swift's tasks, for an async handler: there are only as many as processors.
    ///
    /// On Linux, but for ARM64, this rests on the system call `membarrier`, if that is there when the program starts. A
    /// program that takes it away from itself later, with a sandbox, is to be started with `TETHER_WITHOUT_MEMBARRIER=1`
    /// in its environment, for which every call of a handler pays some nanoseconds.
    /// - Returns: `.wouldDeadlock`, at once, where waiting could not have ended.
    @available(
        *, noasync,
        message:
            "Write 'await' before it, which suspends instead of blocking; at the top level of main.swift, in a task."
    )
    @discardableResult
    public func cancelAndWait() -> WaitResult {
        cancel()
        guard let reference, !reference.hasEnded else { return NotificationObserver.afterAllHandlers() }
        return HandlerWait.wait(for: reference.address) ? .finished : .wouldDeadlock
    }

    /// Ends the observer and suspends until none of its handlers is running (R2).
    ///
    /// In an async handler of the observer itself, and in tasks that it starts, it does not wait for that call. Tether does not
    /// know which handler has started a detached task. So a handler must not await a detached task that waits for its observer.
    /// - Returns: `.wouldDeadlock`, at once, where two async handlers would have waited for each other.
    @discardableResult
    public func cancelAndWait() async -> WaitResult {
        cancel()
        guard let reference, !reference.hasEnded else { return NotificationObserver.afterAllHandlers() }
        // Keeps the memory meanwhile, so that its address stands for no other registration.
        defer { withExtendedLifetime(self) {} }
        return await withCheckedContinuation { continuation in
            let canEnd = HandlerWait.whenReturned(reference.address) { continuation.resume(returning: .finished) }
            if !canEnd { continuation.resume(returning: .wouldDeadlock) }
        }
    }

    /// The outcome of waiting for a registration that was deallocated, after its handlers. Their stores are to be seen here, and
    /// the runtime reads the reference count without an order.
    private static func afterAllHandlers() -> WaitResult {
        atomicMemoryFence(ordering: .acquiring)
        return .finished
    }

    // MARK: The target

    /// Where the handler runs. Setting it switches a live observer (D6).
    ///
    /// Pending deliveries move to the new target, in order; a call that is running finishes first. A switch to `.postingThread` takes
    /// effect when nothing of the observer is pending: until then posts join the old target. The setter runs no handler and
    /// never waits. On an observer that has ended it does nothing, and reads
    /// `.postingThread`.
    ///
    /// A handler that is isolated to an actor (`.mainActor` too) stays there, and an async one in its task (P1). To set the target
    /// of its observer, or of an async sequence's (S2), stops the program with a sentence (X1).
    public var target: DeliveryTarget {
        get {
            live?.pending?.target ?? .postingThread
        }
        set {
            guard isActive else { return }
            let bound = BoundTarget.bind(newValue)
            guard let registration = live else { return }
            let site = registration.site
            let isFixed = registration.isIsolated || registration.keeper != nil
            guard !isFixed else {
                fatalError(
                    "NotificationObserver.target: the handler registered at \(site.file):\(site.line) is isolated to an "
                        + "actor, async or a sequence's, and stays where it is; register one that is neither, with on:."
                )
            }
            if Events.areTraced { Events.report(.switched(to: newValue, at: site)) }
            (bound.isPostingThread ? registration.pending : registration.madePending)?.redirect(to: bound)
        }
    }

    // MARK: The backlog (D8)

    /// How many deliveries may wait for this observer on its target; all, unless this is set.
    ///
    /// ```swift
    /// token.backlog = .newest(1)
    /// ```
    ///
    /// Set on a live observer it drops at once the deliveries beyond the bound. The audit counts dropped deliveries. A `once`
    /// observer is not affected: the first delivery is its only one (R7). On an observer that has ended setting it does
    /// nothing, and it reads `.unbounded`.
    ///
    /// Complexity: O(1), plus O(d log p) where d of p pending deliveries are dropped. Any thread.
    public var backlog: BufferingPolicy {
        get { live?.pending?.backlog ?? .unbounded }
        set { live?.madePending.setBacklog(newValue) }
    }

    // MARK: Muting (D9)

    /// Whether the observer is muted, by itself or with its owner. Complexity: O(1). Any thread.
    public var isMuted: Bool { live?.pending?.isMuted ?? false }

    /// Mutes the observer: what is posted from now on does not reach it, until `unmute()` was called as often as this.
    ///
    /// ```swift
    /// token.mute(keepingNewest: true)
    /// defer { token.unmute() }
    /// // Many posts; the handler runs once.
    /// for row in rows { model.insert(row) }
    /// ```
    ///
    /// Posts meanwhile are dropped, and counted in the audit. With `keepingNewest` the newest is kept, and
    /// delivered at the last `unmute()`: it is pending until then, holds its object, and is let go when the observer
    /// ends. Where several mutings overlap, the newest is kept from when the first one asks for it.
    ///
    /// *Delivery*: what was posted before is delivered all the same, also while muted. Neither what is dropped nor what
    /// is displaced uses up a `once` observer (R7). Muting works on every target, and stays when the
    /// target is switched.
    ///
    /// *Thread safety*: any thread, also inside a handler; never waits. A handler that a post on another thread has
    /// begun to call may still run. On an observer that has ended it does nothing. Complexity: O(1).
    /// - Parameter keepingNewest: Whether the newest of what is posted meanwhile is kept for the last `unmute()`.
    public func mute(keepingNewest: Bool = false) {
        live?.madePending.mute(by: .token, keepingNewest: keepingNewest)
    }

    /// Mutes the observer while a closure runs (D9).
    ///
    /// ```swift
    /// token.muted(keepingNewest: true) {
    ///     for row in rows { model.insert(row) }     // the handler runs once
    /// }
    /// ```
    /// - Parameters:
    ///   - keepingNewest: Whether the newest of the notifications that are posted meanwhile is delivered at the end.
    ///   - body: The closure, whose posts do not reach the observer.
    public func muted<Result, Failure>(
        keepingNewest: Bool = false, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        mute(keepingNewest: keepingNewest)
        defer { unmute() }
        return try body()
    }

    /// Ends one muting; the last one delivers what was kept.
    ///
    /// *Delivery*: as if it were posted now, to this observer alone. On `.postingThread`, and on a target that calls the handler at once
    /// here (D3), the handler runs before this returns. Otherwise the notification is enqueued.
    ///
    /// One `unmute()` more than there were `mute(keepingNewest:)` stops the program with a sentence, unless the observer
    /// has ended. Any thread. Complexity: O(1), and what the handler takes.
    public func unmute() {
        guard let registration = live else { return }
        guard PendingDeliveries.unmute([registration.madePending], by: .token) else {
            let site = registration.site
            fatalError(
                "NotificationObserver.unmute(): the observer registered at \(site.file):\(site.line) was not muted by its "
                    + "token; call unmute() once for each mute(keepingNewest:), and OwnerObservers.unmute() for each "
                    + "OwnerObservers.mute(keepingNewest:).")
        }
    }
}
