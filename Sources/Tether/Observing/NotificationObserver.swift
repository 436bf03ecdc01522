public import Foundation
internal import Synchronization

// SAFETY: `reference` is set before the token is shared, and never afterwards; the registering call
// upholds that.

/// A registration with a center, and the token for the registration. The observer ends when the
/// token is deallocated.
///
/// ```swift
/// // Ends with `token`.
/// let token = center.observe(.modelDidChange) { note in … }
/// token.target = .dispatchQueue(work)
/// token.cancel()                                // or ends now
/// ```
///
/// An owner's side table retains the tokens of the owner's observers, so the caller need not keep
/// them. A token in a property is replaced by assignment, `token = center.observe(…)`, or in one
/// step with `key:`.
///
/// *Thread safety*: any thread, also inside a handler; only `cancelAndWait()` and `finish()` wait.
/// A token can be stored as `NSObjectProtocol`.
@safe public final class NotificationObserver: NSObject, NotifyingRegistration, @unchecked Sendable
{
    /// The registration; `nil` in a refused observer. Written once, before the object is shared.
    ///
    /// Not retained, so a handler's captures are released when the observer ends, also while the
    /// token stays (O11).
    private(set) var reference: Unowned<Registration>?

    override init() { super.init() }

    deinit { cancel() }

    func set(_ registration: Registration) { reference = Unowned(registration) }

    /// The registration, retained, unless it has ended.
    var live: Registration? { reference?.live }

    /// The registration of an observer. Nothing for an owner's task or loop, which no post reaches.
    var liveObserver: Registration? {
        guard let registration = live, registration.workHook == nil else { return nil }
        return registration
    }

    // MARK: Ending

    /// Whether the observer is registered. False after `cancel()`, after the end of the owner, the
    /// sender or the center, and after the run of a `once` observer. Complexity: O(1).
    public var isActive: Bool { live != nil }

    /// Ends the observer: no handler of the observer starts any more, and the handler's captures
    /// are released.
    ///
    /// A handler that had begun on another thread may still run when `cancel()` returns, but not
    /// when `cancelAndWait()` returns. Complexity: O(1) amortised, O(p) for p pending deliveries.
    public func cancel() {
        // Retained: no center retains a task's registration, and its owner's end releases it.
        live?.end()
    }

    /// The outcome of waiting for an observer's handlers.
    public enum WaitResult: Sendable {
        /// No handler of the observer runs on another thread any more.
        case finished
        /// The wait could not end: a handler of the observer waits, in turn, for a handler of the
        /// caller, or `finish()` was called in a handler of the observer with work left.
        /// After `cancelAndWait()` the observer has ended all the same. After `finish()` the
        /// observer takes no further post, and ends later.
        case wouldDeadlock
    }

    /// Ends the observer and waits until its handlers on other threads have returned.
    ///
    /// The call does not wait for handlers on the calling thread's own stack, or for the handler
    /// whose task makes the call. Do not call `cancelAndWait()` where a handler of the observer
    /// needs something that the caller has:
    /// - a lock that the handler takes;
    /// - the main thread, for a handler on the main thread or the main actor;
    /// - an actor, for an async handler of the actor;
    /// - a thread of Swift's tasks, for an async handler: there are only as many as processors.
    ///
    /// For a sandbox that forbids the system call `membarrier` on Linux, see [Misuse](doc:Misuse).
    /// - Returns: `.wouldDeadlock`, at once, if the wait could not end.
    @available(*, noasync, message: "write 'await'; at the top level of main.swift, in a task")
    @discardableResult
    public func cancelAndWait() -> WaitResult {
        guard let address = cancelled() else { return .finished }
        return HandlerWait.wait(for: address) ? .finished : .wouldDeadlock
    }

    /// Ends the observer and suspends until no handler of the observer runs.
    ///
    /// A call in an async handler of the observer, or in a task that the handler started, does not
    /// wait for that handler. A handler must not await a detached task that waits for the handler's
    /// observer.
    /// - Returns: `.wouldDeadlock`, at once, if async handlers would wait for each other.
    @discardableResult
    public func cancelAndWait() async -> WaitResult {
        guard let address = cancelled() else { return .finished }
        // Keeps the memory, so that no other registration gets the address.
        defer { withExtendedLifetime(self) {} }
        return await withCheckedContinuation { continuation in
            let canEnd = HandlerWait.whenReturned(address) {
                continuation.resume(returning: .finished)
            }
            if !canEnd { continuation.resume(returning: .wouldDeadlock) }
        }
    }

    /// Ends the observer. Returns what to wait for; `nil` if the registration was deallocated,
    /// after its handlers.
    private func cancelled() -> RegistrationAddress? {
        cancel()
        if let reference, !reference.hasEnded { return reference.registrationAddress }
        // Makes the handlers' stores visible, because the runtime reads the reference count without
        // an order.
        atomicMemoryFence(ordering: .acquiring)
        return nil
    }

    // MARK: The target

    /// Where the handler runs. Setting the target switches a live observer.
    ///
    /// Pending deliveries move to the new target in order, and a running call finishes first. A
    /// switch to `.postingThread` takes effect when no delivery is pending and no call runs on the
    /// old target; until then posts join the old target. A post under way, such as the one whose
    /// handler switches the target, may still call the handler itself. The setter runs no handler.
    /// An ended observer's target is `.postingThread`.
    ///
    /// The target is fixed for an isolated handler (`.mainActor` too), an async handler, the
    /// observer of an async sequence, and the token of an owner's task or loop. Setting a
    /// fixed target stops the program with a sentence.
    public var target: DeliveryTarget {
        get { live?.mailbox?.target ?? .postingThread }
        set {
            guard let registration = live else { return }
            let site = registration.site
            guard !registration.isTargetFixed else {
                fatalError(
                    "NotificationObserver.target: the target of the observer registered at \(site.file):\(site.line) is fixed, "
                        + "because its handler is async, isolated to an actor, or feeds a sequence, or it is an owner's task or loop; register a synchronous handler with on:."
                )
            }
            Registration.redirect([registration], to: newValue)
        }
    }

    // MARK: The backlog (D8)

    /// How many deliveries may wait for the observer on the target. The default is no limit.
    ///
    /// Setting a limit drops the deliveries beyond the limit at once, counted in the audit. A
    /// `once` observer has one delivery, so no limit drops it. The exception is an observer of
    /// main-actor messages: several notifications may wait to be converted, and the limit counts
    /// them. An ended observer's backlog is `.unbounded`. Complexity: O(1), plus O(p) if some of p
    /// pending deliveries are dropped.
    public var backlog: BufferingPolicy {
        get { live?.mailbox?.backlog ?? .unbounded }
        set { liveObserver?.makeMailboxIfNeeded().setBacklog(newValue) }
    }

    /// How many deliveries the observer has dropped so far: by the backlog, by muting, with the
    /// target, or because it was used up. The observer's row of an audit has the number for each
    /// reason.
    ///
    /// A handler that sees the number grow has missed posts, and may read the present state. 0 once
    /// the observer has ended. Complexity: O(1).
    public var droppedCount: Int {
        guard let registration = live, let mailbox = registration.mailbox else { return 0 }
        let (report, _) = mailbox.report(with: nil)
        return report.drops.total
    }

    // MARK: Muting (D9)

    /// Whether the token or the owner mutes the observer. Complexity: O(1).
    public var isMuted: Bool { live?.mailbox?.isMuted ?? false }

    /// Mutes the observer: posts do not reach it until `unmute()` was called as often as
    /// `mute(keepingNewest:)`.
    ///
    /// Notifications posted meanwhile are dropped, and counted in the audit. With `keepingNewest`
    /// the newest notification is kept, and delivered at the last `unmute()`. The kept notification
    /// is pending until then, and retains its object. If mutings overlap, keeping begins with the
    /// first `keepingNewest`.
    ///
    /// An owner's task or loop is not muted: it has no posts.
    ///
    /// *Delivery*: notifications posted before the muting are delivered also while muted. A post
    /// under way, such as the one whose handler mutes, may still call the handler. A dropped or
    /// displaced notification does not use up a `once` observer. Muting works on every target, and
    /// survives a switch. Complexity: O(1).
    public func mute(keepingNewest: Bool = false) {
        liveObserver?.makeMailboxIfNeeded().mute(by: .token, keepingNewest: keepingNewest)
    }

    /// Mutes the observer while a closure runs.
    ///
    /// ```swift
    /// token.muted(keepingNewest: true) {
    ///     for row in rows { model.insert(row) }     // the handler runs once
    /// }
    /// ```
    public func muted<Result, Failure>(
        keepingNewest: Bool = false, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        mute(keepingNewest: keepingNewest)
        defer { unmute() }
        return try body()
    }

    /// Ends one muting; the last `unmute()` delivers the kept notification.
    ///
    /// *Delivery*: as if the notification were posted now, to the observer alone. On a target that
    /// is inline here, the handler runs before `unmute()` returns. An `unmute()` without a
    /// `mute(keepingNewest:)` stops the program with a sentence, unless the observer has ended.
    /// Complexity: O(1), plus the handler's time.
    public func unmute() {
        guard let registration = liveObserver else { return }
        guard Mailbox.unmute([registration.makeMailboxIfNeeded()], by: .token) else {
            let site = registration.site
            fatalError(
                "NotificationObserver.unmute(): the observer registered at \(site.file):\(site.line) was not muted by its "
                    + "token; call unmute() once for each mute(keepingNewest:), and OwnerObservers.unmute() for each "
                    + "OwnerObservers.mute(keepingNewest:).")
        }
    }
}
