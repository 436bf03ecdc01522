internal import COwnerLifetime
internal import Synchronization

/// One call of an async handler, from the beginning of its delivery until its return (R2); also the
/// run of an owner's task.
///
/// The call may change threads, so has no hazard pointer. The call retains its registration:
/// waiters await its address. The tasks that a handler starts inherit the object, and may keep it
/// after the return. So the return releases the registration and the work.
///
/// SAFETY: after `init`, only the task of the call reads or writes `work` and `registration`; the
/// lock of `underWay` protects `next`, `outer` and `isUnderWay`; the other properties never change.
final class AsyncRun: Chained, @unchecked Sendable {
    /// The call of a handler, on the handler's actor.
    typealias Work = @Sendable (isolated (any Actor)?) async -> Void

    /// The call around the current task. The task is the handler's own, a child task, or a task
    /// started by the handler.
    @TaskLocal static var current: AsyncRun?

    /// The calls under way, by the addresses of their registrations. An observer has at most one
    /// call at a time (P4).
    private static let underWay = Locked(HashChains<AsyncRun>())

    /// Protected by the lock of `underWay`.
    var next: AsyncRun?
    private(set) var registration: (any AnyObject & Sendable)?
    private let address: RegistrationAddress
    /// The call whose task started this call, if any: a task of an owner inherits it. Ended calls
    /// are left out by the next call that begins inside this one, so tasks that each start the next
    /// do not keep each other.
    private var outer: AsyncRun?
    private var isUnderWay = true
    private var work: Work?

    /// Begins a call, on a thread whose hazard pointer is the registration, or before other threads
    /// know the registration.
    init(of registration: any AnyObject & Sendable, _ work: Work? = nil) {
        self.registration = registration
        address = RegistrationAddress(of: registration)
        self.work = work
        let around = AsyncRun.current
        AsyncRun.underWay.withLock { calls in
            outer = AsyncRun.nearestUnderWay(around)
            AsyncRun.leaveOutEnded(from: outer)
            _ = unsafe calls.insert(self)
        }
    }

    deinit {
        // One after the other, because the release of a long row of calls must not nest. Without
        // the lock: nothing else refers to a call that only this one keeps.
        var next = outer.take()
        while isKnownUniquelyReferenced(&next) {
            let following = next?.outer.take()
            next = following
        }
    }

    /// Leaves the ended calls out of the calls around a call. Called under the lock of `underWay`.
    private static func leaveOutEnded(from call: AsyncRun?) {
        var next = call
        while let known = next {
            known.outer = nearestUnderWay(known.outer)
            next = known.outer
        }
    }

    /// The call, or the nearest around it, that has not ended. Called under the lock of `underWay`.
    private static func nearestUnderWay(_ call: AsyncRun?) -> AsyncRun? {
        var nearest = call
        while let known = nearest, !known.isUnderWay { nearest = known.outer }
        return nearest
    }

    /// Calls the handler, releases the arguments, and ends the call. Called once.
    ///
    /// All steps run on the handler's actor. So the actor releases the owner, the notification
    /// (O9), and the captures if the call is their last holder.
    func perform(on actor: isolated (any Actor)?) async {
        await AsyncRun.$current.withValue(self) {
            await work?(actor)
            work = nil
            end()
        }
    }

    /// Ends the call. Called once, by its task.
    func end() {
        // A `deinit` that runs here is part of the call, which others wait for (R8). The reference
        // keeps the address from other registrations while the call is found by it.
        let memory = registration.map { Unowned<AnyObject>($0) }
        registration = nil
        let removed = AsyncRun.underWay.withLock { calls in
            isUnderWay = false
            return calls.remove(self)
        }
        withExtendedLifetime((removed, memory)) {}
        if tether_is_awaited(address.bits) { HandlerWait.resumeWaiters(address) }
    }

    /// The calls under way around the current task, the nearest first.
    static var allCurrent: [AsyncRun] {
        guard let current else { return [] }
        return underWay.withLock { _ in
            var calls: [AsyncRun] = []
            var next = nearestUnderWay(current)
            while let call = next {
                calls.append(call)
                next = nearestUnderWay(call.outer)
            }
            return calls
        }
    }

    /// Whether the current task belongs to the registration's call under way.
    static func isCurrent(for registration: RegistrationAddress) -> Bool {
        allCurrent.contains { $0.address == registration }
    }

    /// The registration's call under way.
    static func underWay(for registration: RegistrationAddress) -> AsyncRun? {
        underWay.withLock { runs in
            // SAFETY: the table retains the run until the caller does.
            unsafe runs.find(
                chainHash(ofAddress: registration.bits), where: { $0.address == registration })?
                .takeUnretainedValue()
        }
    }

    var hash: UInt { chainHash(ofAddress: address.bits) }
}
