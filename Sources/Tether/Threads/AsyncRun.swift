/// One call of an async handler, from the moment its delivery passed the gate until it has returned (R2).
///
/// Such a call may change threads, so it is not seen in the posting threads' pins. It keeps its registration, so that
/// who waits for its end has something to wait for.
///
/// SAFETY: `work` and `registration` are only touched by the task that performs it.
final class AsyncRun: @unchecked Sendable {
    /// The call of a handler, on the handler's actor.
    typealias Work = @Sendable (isolated (any Actor)?) async -> Void

    /// Its identity. An object of its own, because tasks that the handler starts inherit it, and may outlive the call.
    final class Identity: Sendable {
        /// Whether the handler is isolated to the main actor, so that it can only return on the main queue.
        let needsMain: Bool

        init(needsMain: Bool) {
            self.needsMain = needsMain
        }
    }

    /// The call that the current task belongs to: its handler's own task, one of its children, or one it started.
    @TaskLocal static var current: Identity?

    /// The calls under way, by the address of their registration; an observer has at most one at a time (P4).
    private static let underWay = Guarded<[UInt: Identity]>([:])

    /// The registration, until its handler has returned; then its address alone.
    private var registration: (any AnyObject & Sendable)?
    private let address: UInt
    private let identity: Identity
    private var work: Work?

    /// Begins a call, on the handler's actor, in a thread on which the registration is still announced.
    init(of registration: any AnyObject & Sendable, isOnMain: Bool, _ work: @escaping Work) {
        identity = Identity(needsMain: isOnMain)
        self.registration = registration
        address = UInt(bitPattern: ObjectIdentifier(registration))
        self.work = work
        AsyncRun.underWay.withLock { [identity, address] in $0[address] = identity }
    }

    /// Calls the handler, lets go of what it was called with, and ends the call. To be called once.
    ///
    /// All on the handler's actor, so that the owner and the notification go there (O9), and what the handler captured, if
    /// this is the last to hold it.
    func perform(on actor: isolated (any Actor)?) async {
        await AsyncRun.$current.withValue(identity) {
            await work?(actor)
            // A `deinit` that waits for the observer is part of the call.
            work = nil
        }
        AsyncRun.underWay.withLock { [address] in $0[address] = nil }
        Quiescence.handlerReturned(address)
        registration = nil
    }

    /// Whether the current task belongs to the call that is under way for a registration.
    static func isCurrent(for registration: UInt) -> Bool {
        guard let current else { return false }
        return underWay(for: registration) === current
    }

    /// The call that is under way for a registration.
    static func underWay(for registration: UInt) -> Identity? { underWay.withLock { $0[registration] } }
}
