/// The epoch guard of a posting thread, and the thread's load of the word whose bits waiting
/// threads set.
///
/// Most protocols contain these steps, which model `EpochGuard` in `Threads/Reclamation.swift`, and
/// the word `tether_awaited` in `COwnerLifetime.h`.
struct Posting {
    let machine: Machine

    /// The number of read guards.
    let count = Location("count", initially: 1)
    /// The epoch of a post on the center, from 2; 1 for a block; 0 while the guard is free.
    let epoch = Location("guard.epoch")
    let registration = Location("guard.registration")
    /// 1: posting threads fence. 2: the registration's bit.
    let awaited: Location

    var epochStore = Order.sequentiallyConsistent
    var epochLoad = Order.sequentiallyConsistent
    /// The order of a block's beginning, if not `publication`.
    var blockStore: Order?
    /// `Atomic.publish(_:)`.
    var publication: Order
    var awaitedLoad = Order.sequentiallyConsistent
    /// Whether the fences are made. `false` models a system that refuses fences, unnoticed, or a
    /// library without fences.
    var isFenced = true

    init(on machine: Machine) {
        self.machine = machine
        awaited = Location("awaited", initially: machine.fence == .ofPosters ? 1 : 0)
        publication = machine.fence == .none ? .sequentiallyConsistent : .releasing
    }

    // MARK: The thread that posts

    /// `EpochGuard.begin(epoch:)`.
    func begin(epoch: Value) { self.epoch.store(epoch, epochStore) }

    /// The same for a block, which has no epoch.
    func beginBlock() { epoch.store(1, blockStore ?? publication) }

    /// `EpochGuard.setHazardPointer(_:after:)`.
    func setHazardPointer() {
        registration.store(1, publication)
        lookForWaiters()
    }

    /// `EpochGuard.end()`.
    func end() {
        registration.store(0, publication)
        epoch.store(0, publication)
        lookForWaiters()
    }

    /// `tether_needs_attention()`, and, if so, `EpochGuard.attend(after:)` and `tether_is_awaited`.
    private func lookForWaiters() {
        signalFence()
        guard awaited.load(awaitedLoad) != 0 else { return note("resumes", 0) }
        if isFenced { fence(.sequentiallyConsistent) }
        note("resumes", awaited.load(awaitedLoad) >= 2 ? 1 : 0)
    }

    /// `tether_is_awaited`, where an async handler has returned.
    func noteAwaited() { note("is awaited", awaited.load(.sequentiallyConsistent) >= 2 ? 1 : 0) }

    // MARK: A thread that waits for others

    /// `tether_begin_awaiting`
    func beginAwaiting() { awaited.wrappingAdd(2, .sequentiallyConsistent) }

    /// `EpochGuard.fenceOthers()`, `tether_fence_all_threads`
    func fenceOthers() {
        guard isFenced else { return }
        if machine.fence == .ofWaiters { fenceAllThreads() } else { fence(.sequentiallyConsistent) }
    }

    /// `GuardTable.forEachUsed(_:)`, at one guard: its epoch.
    func visit() -> Value {
        _ = count.load(.sequentiallyConsistent)
        return epoch.load(epochLoad)
    }
}
