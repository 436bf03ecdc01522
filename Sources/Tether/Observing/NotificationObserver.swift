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
/// token.cancel()                                // or ends now
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
        struct State {
            var current: Unretained<Registration>?
            /// The registrations that it replaced, or is about to, until their handlers have returned.
            var former: [Unretained<Registration>] = []
            var muting = Muting()
            var backlog = BufferingPolicy.unbounded
        }

        let center: any NotifyingCenter
        let state = Guarded(State(), rank: .property)

        init(center: any NotifyingCenter) {
            self.center = center
        }

        var current: Unretained<Registration>? { state.withLock(\.current) }

        /// Makes a registration the current one, which `add` is to add in the place of those that were: more than one where
        /// another thread has not yet added the last of them.
        func replaceCurrent(
            with registration: Registration, _ add: (_ replacing: [Unretained<Registration>]) -> Void
        ) {
            let replaced = state.withLock { state in
                state.former.removeAll { $0.withMemory(\.hasGone) != false }
                // Who waits later sees what their handlers wrote.
                atomicMemoryFence(ordering: .acquiring)
                if let old = state.current { state.former.append(old) }
                state.current = Unretained(registration)
                registration.inherit(state.muting, state.backlog)
                return state.former.filter { $0.withMemory(\.hasEnded) == false }
            }
            add(replaced)
            // One that another thread has ended meanwhile was not added, and replaced nothing.
            for old in replaced { old.withMemory { $0.end() } }
        }

        /// Ends all; returns those whose handlers may be running.
        func end() -> [Unretained<Registration>] {
            let all = state.withLock { state in state.former + (state.current.map { [$0] } ?? []) }
            for registration in all { registration.withMemory { $0.end() } }
            return all
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
        cancel()
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

    /// Sets the only registration of a token.
    func set(_ registration: Registration) {
        // SAFETY: pairs with the release in `deinit`.
        unsafe tether_unowned_retain(Unmanaged.passUnretained(registration).toOpaque())
        word = registration.address
    }

    /// Calls `body` with the registration's memory; `nil` for a property that has none.
    func withMemory<Result>(_ body: (RegistrationMemory) -> Result?) -> Result? {
        guard let property else { return memory.flatMap(body) }
        return property.current?.withMemory(body)
    }

    /// The memory of a token's registration, which this keeps.
    private var memory: RegistrationMemory? {
        // SAFETY: our unowned reference keeps it.
        unsafe UnsafeMutableRawPointer(bitPattern: word).map { unsafe RegistrationMemory(at: $0) }
    }

    /// Returns what `body` makes of the registration, unless it has ended; see `RegistrationMemory.look`.
    func look<Result: Sendable>(_ body: (Registration) -> Result?) -> Result? { withMemory { $0.look(body) } }

    // MARK: Ending

    /// Whether the observer is registered: false once it was stopped, its owner, sender or center has ended, or it was
    /// a `once` observer and has run. Complexity: O(1).
    public var isActive: Bool { withMemory { !$0.hasEnded } ?? false }

    /// Ends the observer: no handler of it starts any more, and what it captured is released (R1,
    /// R8).
    ///
    /// Stopping again does nothing. A handler that had begun on another thread may still be running when this returns;
    /// `cancelAndWait()` excludes that. Never waits. Complexity: O(1) amortised, plus O(p) where p of its deliveries are
    /// pending.
    public func cancel() {
        if let property { _ = property.end() } else { withMemory { $0.end() } }
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
        func wait(for registration: RegistrationMemory) -> WaitResult {
            registration.end()
            if registration.hasGone { return NotificationObserver.afterAllHandlers() }
            return HandlerWait.wait(for: registration.address) ? .finished : .wouldDeadlock
        }
        // Not covered: the second, of a token that was refused its registration.
        guard let property else { return withMemory(wait) ?? .finished }
        let results = property.end().map { $0.withMemory(wait) }
        // Not covered: the first, which tokens have in the tests of cycles.
        return results.contains(.wouldDeadlock) ? .wouldDeadlock : .finished
    }

    /// Ends the observer and suspends until none of its handlers is running (R2).
    ///
    /// In an async handler of the observer itself, and in tasks that it starts, it does not wait for that call. Tether does not
    /// know which handler has started a detached task. So a handler must not await a detached task that waits for its observer.
    /// - Returns: `.wouldDeadlock`, at once, where two async handlers would have waited for each other.
    @discardableResult
    public func cancelAndWait() async -> WaitResult {
        func wait(for registration: RegistrationMemory) async -> WaitResult {
            registration.end()
            if registration.hasGone { return NotificationObserver.afterAllHandlers() }
            return await withCheckedContinuation { continuation in
                let canEnd = HandlerWait.whenReturned(registration.address) {
                    continuation.resume(returning: .finished)
                }
                if !canEnd { continuation.resume(returning: .wouldDeadlock) }
            }
        }
        // Their memory is kept meanwhile, so that its address stands for no other one.
        let ofProperty = property?.end() ?? []
        defer { withExtendedLifetime((self, ofProperty)) {} }
        let registrations =
            isProperty ? ofProperty.compactMap { $0.withMemory(\.self) } : [memory].compactMap(\.self)
        var result = WaitResult.finished
        for registration in registrations {
            if await wait(for: registration) == .wouldDeadlock { result = .wouldDeadlock }
        }
        return result
    }

    /// The outcome of waiting for a registration that has gone: its last release came after all its handlers, and what they
    /// wrote is to be seen here, though the runtime looks for the registration without an order.
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
    /// `.postingThread`. An observer whose handler is isolated to an actor stays on that actor (P1), and that of an
    /// async sequence, which its owner's list has, with the sequence (S2).
    public var target: DeliveryTarget {
        get {
            look(\.pending)?.target ?? .postingThread
        }
        set {
            guard isActive else { return }
            // Made outside the look, because a scheduler of the user's may be asked what it is.
            let bound = BoundTarget.bind(newValue)
            let seen = look { registration -> (pending: PendingDeliveries?, site: RegistrationSite)? in
                if registration.isIsolated { return nil }
                if registration.keeper != nil { return nil }
                return (bound.isPostingThread ? registration.pending : registration.madePending, registration.site)
            }
            guard let (pending, site) = seen else { return }
            if TraceEvent.isOn { Registration.traceSwitch(to: newValue, at: site) }
            pending?.redirect(to: bound)
        }
    }
}
