internal import COwnerLifetime
public import Foundation
internal import Synchronization

// SAFETY: `word` is set before the token is shared and never changes after it; `NSObject` adds no state.

/// One registration with a center, and the token for it: when the token goes, the observer ends.
///
/// ```swift
/// // Ends with `token`.
/// let token = center.observe(.modelDidChange) { note in … }
/// token.target = .dispatchQueue(work)
/// token.stop()                                // or ends now
/// ```
///
/// An observer that is attached to an owner is held by the owner's side of Tether, ends when the owner does, and need
/// not be kept. The idea is that of `LRNotificationObserver`, whose two forms are here too: attached to an owner, and
/// as a property that is configured and configured again (`init(center:)`).
///
/// *Delivery*: see ``DeliveryTarget``.
///
/// *Thread safety*: everything here may be called from any thread, also from inside a handler. Tokens can be stored
/// as `NSObjectProtocol`.
@safe public final class NotificationObserver: NSObject, @unchecked Sendable {
    /// The address of the registration, by an unowned reference, or with its lowest bit set that of a `PropertyState`.
    ///
    /// The center holds the registration; a token does not keep it, so that what a handler captured goes when the
    /// observer ends, also while the token stays (O11).
    private var word: UInt = 0

    /// The state of a property form: the center that it will register with, the registration that it has now, and what
    /// stays from one registration to the next.
    final class PropertyState: Sendable {
        struct State: ~Copyable {
            var current: OwnerReference<Registration>?
            var muting = Muting()
            var backlog = BufferingPolicy.unbounded
        }

        let center: any NotifyingCenter
        let state = Guarded(State(), rank: .property)

        init(center: any NotifyingCenter) {
            self.center = center
        }
    }

    /// Makes an idle observer, to be kept as a property and configured with its `observe` methods.
    ///
    /// The center is held as long as the observer is: Tether's, Foundation's, or any other.
    /// - Parameter center: The center to observe, which is held as long as this observer is.
    public init(center: any NotifyingCenter) {
        super.init()
        // SAFETY: `deinit` gives back what this retains.
        word = unsafe UInt(bitPattern: Unmanaged.passRetained(PropertyState(center: center)).toOpaque()) | 1
    }

    /// Makes an idle observer, to be kept as a property and configured with its `observe` methods.
    ///
    /// The center is held as long as the observer is. `.default` is ``ObserverCenter/default``; another initializer of this
    /// name takes any ``NotifyingCenter``.
    /// - Parameter center: The center to observe, which is held as long as this observer is.
    public convenience init(center: ObserverCenter) {
        self.init(center: center as any NotifyingCenter)
    }

    override init() { super.init() }

    deinit {
        stop()
        // SAFETY: gives back what `init(center:)` or `set` took.
        guard let address = unsafe UnsafeMutableRawPointer(bitPattern: word & ~1) else { return }
        if isProperty {
            unsafe Unmanaged<PropertyState>.fromOpaque(address).release()
        } else {
            unsafe tether_unowned_release(address)
        }
    }

    /// The center of a property form.
    var centerOfProperty: (any NotifyingCenter)? { property?.center }

    var isProperty: Bool { word & 1 == 1 }

    var property: PropertyState? {
        guard isProperty, let address = unsafe UnsafeRawPointer(bitPattern: word & ~1) else { return nil }
        // SAFETY: held since `init(center:)`.
        return unsafe Unmanaged<PropertyState>.fromOpaque(address).takeUnretainedValue()
    }

    // MARK: The registration

    func set(_ registration: Registration) {
        guard let property else {
            // SAFETY: pairs with the release in `deinit`.
            unsafe tether_unowned_retain(Unmanaged.passUnretained(registration).toOpaque())
            word = registration.address
            return
        }
        let old = property.state.withLock { state in
            let old = state.current?.take()
            state.current = OwnerReference(registration)
            registration.inherit(state.muting, state.backlog)
            return old
        }
        old?.end()
    }

    /// The registration, as long as anything keeps it.
    var registration: Registration? {
        if let property { return property.state.withLock { $0.current?.take() } }
        // SAFETY: our unowned reference keeps the memory; a retain that succeeded is handed to the caller.
        guard let address = unsafe UnsafeMutableRawPointer(bitPattern: word), unsafe tether_try_retain(address) else {
            return nil
        }
        return unsafe Unmanaged<Registration>.fromOpaque(address).takeRetainedValue()
    }

    // MARK: Ending

    /// Whether the observer is registered: false once it was stopped, its owner, sender or center has ended, or it was
    /// a `once` observer and has run. Complexity: O(1).
    public var isActive: Bool { registration.map { !$0.hasEnded } ?? false }

    /// Ends the observer: no handler of it starts any more, and what it captured is released ([R1](doc:Contract#R1),
    /// [R8](doc:Contract#R8)).
    ///
    /// Stopping again does nothing. A handler that had begun on another thread may still be running when this returns;
    /// `stopAndWait()` excludes that. Never waits. Complexity: O(1) amortised, plus O(p) where p of its deliveries are
    /// pending.
    public func stop() { registration?.end() }

    /// The outcome of waiting for an observer's handlers.
    public enum WaitResult: Sendable {
        /// No handler of the observer runs on another thread any more.
        case finished
        /// A handler of the observer waits, in turn, for a handler on the calling thread, so waiting for it would never
        /// have ended. The observer has stopped all the same.
        case wouldDeadlock
    }

    /// Ends the observer and waits until its handlers on other threads have returned ([R2](doc:Contract#R2)).
    ///
    /// Handlers that are on the calling thread's own stack, at any depth, or whose task called this, are not waited for. Do not call it while
    /// holding a lock that a handler of the observer takes.
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
    public func stopAndWait() -> WaitResult {
        guard let registration else { return NotificationObserver.afterAllHandlers() }
        registration.end()
        // Held meanwhile, so that its address stands for no other one.
        return withExtendedLifetime(registration) {
            Quiescence.wait(for: registration.address) ? .finished : .wouldDeadlock
        }
    }

    /// Ends the observer and suspends until none of its handlers is running ([R2](doc:Contract#R2)).
    ///
    /// In an async handler of the observer itself, and in tasks that it starts, that call of it is not waited for.
    /// - Returns: `.wouldDeadlock`, at once, where two async handlers would have waited for each other.
    @discardableResult
    public func stopAndWait() async -> WaitResult {
        guard let registration else { return NotificationObserver.afterAllHandlers() }
        registration.end()
        let result = await withCheckedContinuation { continuation in
            let canEnd = Quiescence.whenQuiescent(registration.address) { continuation.resume(returning: true) }
            if !canEnd { continuation.resume(returning: false) }
        }
        withExtendedLifetime(registration) {}
        return result ? .finished : .wouldDeadlock
    }

    /// The outcome of waiting for a registration that has gone: its last release came after all its handlers, and what they
    /// wrote is to be seen here, though the runtime looks for the registration without an order.
    private static func afterAllHandlers() -> WaitResult {
        atomicMemoryFence(ordering: .acquiring)
        return .finished
    }

    // MARK: The target

    /// Where the handler runs. Setting it switches a live observer ([D6](doc:Contract#D6)).
    ///
    /// Posts from before the switch are delivered before posts from after it. A drain that is running finishes
    /// where it runs; otherwise what is pending moves to the new target, or, on `.poster`, is delivered first by the
    /// next post. The setter runs no handler and never waits. On an observer that has ended it does nothing, and reads
    /// `.poster`. An observer whose handler is isolated to an actor stays on that actor ([P1](doc:Contract#P1)), and that of an
    /// async sequence, which its owner's list has, with the sequence ([S2](doc:Contract#S2)).
    public var target: DeliveryTarget {
        get {
            guard let registration, !registration.hasEnded else { return .poster }
            return registration.inbox?.target ?? .poster
        }
        set {
            guard let registration, !registration.hasEnded, !registration.isIsolated else { return }
            if registration.keeper == nil { registration.redirect(to: Route(to: newValue)) }
        }
    }
}
