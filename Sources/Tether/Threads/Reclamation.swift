internal import COwnerLifetime
internal import Synchronization

// Posts read slots, names, caches and registrations of their center without a lock, and retain none
// of them. This file decides when a removed object may be released. The file combines two known
// schemes.
//
// # Epochs
//
// As in crossbeam-epoch. Each center has an *epoch*, a counter. A post has an *epoch guard*, a
// place in memory readable by all threads. First of all, the post writes the center and the
// center's epoch into its guard. A removing thread adds the object to the center's *garbage*, with
// the current epoch, and increments the epoch. The object is released when no guard of the center
// has the object's epoch or an earlier epoch. A later post does not find the object.
//
// The garbage has outgrown slots, buckets, names, cache entries, keys of senders, and the memory of
// registrations.
//
// # Hazard pointers
//
// The captures of a handler do not wait for posts that are not calling the handler (R8). So a guard
// also has a *hazard pointer*: the registration that the post is calling.
//
//     post                                    cancel()
//     sets the hazard pointer                 closes the registration's state
//     reads the state: calls, or skips        reads the hazard pointers: releases, or leaves it to the post
//
// At least one side sees the other's write. A registration that a post is calling stays in the
// garbage as a whole, with its captures, while the post calls it, and at the latest until the end
// of that post (M9). The post then collects it, unless another post under way has: its epoch is the
// post's or a later one. Later posts have a later epoch, and do not look for it.
//
// # Guards
//
// Each posting thread has a `ThreadRecord`, and each record has a guard. The guards of all records
// stand side by side in a table, because each removal reads all guards. A guard is as long as a
// cache line, so two threads never write to the same line. A post inside of a handler needs another
// guard. The inner guard is allocated once, and linked to the guard of the outer post. Guards are
// never freed.
//
// # Memory orders
//
// Each side of both schemes needs a full fence between its store and its load (store buffering). In
// epochs both accesses at a post's beginning are sequentially consistent. A post's end is ordered
// before its look for garbage by the fence in `retire`. For hazard pointers a post has a compiler
// barrier only, and the removing thread fences all threads (Linux: `membarrier`). On a system
// without such a fence, posts fence. On ARM64 neither is needed: a sequentially consistent store
// and load keep their order at no cost. While a thread waits for handlers, all posts fence; see
// `attend`.
//
// Tests/Litmus checks the protocols exhaustively, and gives the reason for each order.
//
// # Cost
//
// A post: four stores to its guard (the center's first is sequentially consistent) and two to its
// record, and a store and a load for each call. A removal: a read of 64 bytes for each guard in the
// table, and a fence of all threads if another thread is posting on the center.

// MARK: Guards

/// The guard of one post, or of one block of a target, while the post or the block is under way.
/// SAFETY: `outer` and `next` point to guards, and guards and records are never freed.
@safe struct EpochGuard: ~Copyable {
    /// The bits of the address of the post's center; 0 while the guard is free.
    let center = Atomic<UInt>(0)
    /// The center's epoch when the post began.
    let epoch = Atomic<UInt64>(0)
    /// The hazard pointer: the bits of the address of the registration that is about to be called,
    /// or is running; or 0.
    let registration = Atomic<UInt>(0)
    /// The guard of a post inside of this post. Set once, by the guard's thread.
    let next = unsafe Atomic<UnsafeMutablePointer<EpochGuard>?>(nil)
    /// The guard whose `next` is this guard. Only read by the guard's thread.
    let outer: UnsafeMutablePointer<EpochGuard>?
    let record: Unmanaged<ThreadRecord>
    /// Fills the guard up to the size of a cache line.
    private let padding: (UInt, UInt) = (0, 0)

    init(of record: ThreadRecord, inside outer: UnsafeMutablePointer<EpochGuard>? = nil) {
        unsafe self.record = .passUnretained(record)
        unsafe self.outer = unsafe outer
    }

    @inline(__always)
    func begin(center: CenterAddress, epoch: UInt64) {
        // Release, for a thread that reads this epoch: the effects of the guard's previous post
        // happened before.
        self.epoch.store(epoch, ordering: .releasing)
        // Sequentially consistent: a thread that misses the store has removed its object before the
        // slots are read.
        self.center.store(center.bits, ordering: .sequentiallyConsistent)
    }

    /// Sets the hazard pointer to the next registration to be called, after the call of the
    /// previous registration.
    @inline(__always)
    func setHazardPointer(
        _ registration: RegistrationAddress, after previous: RegistrationAddress = .none
    ) {
        self.registration.publish(registration.bits)
        if tether_needs_attention() { EpochGuard.attend(after: previous) }
    }

    /// Moves the hazard pointer to the next registration to be called, which becomes `previous`.
    @inline(__always)
    func moveHazardPointer(
        to registration: RegistrationAddress, from previous: inout RegistrationAddress
    ) {
        setHazardPointer(registration, after: previous)
        previous = registration
    }

    @inline(__always)
    func end() {
        let previous = registration.load(ordering: .relaxed)
        registration.publish(0)
        center.publish(0)
        if tether_needs_attention() {
            EpochGuard.attend(after: RegistrationAddress(bits: previous))
        }
    }

    /// Fences, and resumes the threads that wait for the returned handler.
    ///
    /// A post that has to fence does so here. While a thread waits, every post does so, between its
    /// hazard pointer and its read of the state. So a thread that ends the awaited registration
    /// later, and reads the hazard pointers without a fence of all threads
    /// (`HandlerWait.resumeWaiters`), misses no call.
    @inline(never)
    private static func attend(after registration: RegistrationAddress) {
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if tether_is_awaited(registration.bits) { HandlerWait.resumeWaiters(registration) }
    }

    // MARK: Reading the guards of all threads

    /// Fences all threads. Afterwards this thread sees another thread's earlier stores, or the
    /// other thread sees this thread's earlier stores.
    static func fenceOthers() {
        guard tether_fence_all_threads() else {
            fatalError(
                "Ending an observer: the system refuses membarrier, which it allowed when the program started; "
                    + "start the program with TETHER_WITHOUT_MEMBARRIER=1, or let its sandbox allow membarrier."
            )
        }
    }

    /// The earliest epoch of a center's posts under way, and whether another thread has such a
    /// post.
    static func earliest(on center: CenterAddress) -> (epoch: UInt64, isElsewhere: Bool)? {
        var earliest: UInt64?
        var isElsewhere = false
        // SAFETY: only addresses are compared.
        let own = unsafe tether_thread_record()
        GuardTable.shared.forEachUsed { epochGuard in
            if epochGuard.center.load(ordering: .acquiring) == center.bits {
                // Acquire: see `begin`.
                earliest = min(earliest ?? .max, epochGuard.epoch.load(ordering: .acquiring))
                if unsafe epochGuard.record.toOpaque() != own { isElsewhere = true }
            }
        }
        return earliest.map { ($0, isElsewhere) }
    }

    static func hazardPointers(on center: CenterAddress) -> [RegistrationAddress] {
        var hazardPointers: [RegistrationAddress] = []
        GuardTable.shared.forEachUsed { epochGuard in
            if epochGuard.center.load(ordering: .acquiring) == center.bits {
                // Acquire: a handler's stores into its captures happened before the release of the
                // captures.
                let bits = epochGuard.registration.load(ordering: .acquiring)
                hazardPointers.append(RegistrationAddress(bits: bits))
            }
        }
        return hazardPointers
    }

    /// The threads that are calling a registration, once for each call.
    static func threads(calling registration: RegistrationAddress) -> [ThreadRecord] {
        var threads: [ThreadRecord] = []
        GuardTable.shared.forEachUsed { epochGuard in
            let bits = epochGuard.registration.load(ordering: .acquiring)
            guard bits == registration.bits else { return }
            // SAFETY: a record is never freed.
            unsafe threads.append(epochGuard.record.takeUnretainedValue())
        }
        return threads
    }
}

extension Atomic<UInt> {
    /// Stores a word that other threads look for, before the load of `tether_awaited`. On ARM64 the
    /// load does not pass the store. The store is the same instruction as a store with release.
    @inline(__always)
    fileprivate borrowing func publish(_ value: UInt) {
        #if arch(arm64) || arch(arm64_32)
        store(value, ordering: .sequentiallyConsistent)
        #else
        store(value, ordering: .releasing)
        #endif
    }
}

// MARK: The table of guards

/// The guards of all records, in 4 MB of addresses. Only places with guards take memory, and no
/// guard is ever freed.
/// SAFETY: each guard is initialised before `count` includes the guard.
@safe struct GuardTable: ~Copyable, @unchecked Sendable {
    static let shared = GuardTable()
    private static let capacity = 65_536

    private let guards = unsafe UnsafeMutableRawPointer.allocate(
        byteCount: capacity * MemoryLayout<EpochGuard>.stride, alignment: 64
    ).bindMemory(to: EpochGuard.self, capacity: capacity)
    /// The number of guards to read, up to the last guard of a running thread. Written under the
    /// lock of the records.
    private let count = Atomic<Int>(0)

    private init() {}

    /// The place of an uninitialised guard. Called with 0, 1, 2 and so on, under the lock of the
    /// records.
    func place(number: Int) -> UnsafeMutablePointer<EpochGuard> {
        guard number < GuardTable.capacity else {
            fatalError(
                "ObserverCenter.post(_:): \(number) running threads have posted; post on fewer threads."
            )
        }
        return unsafe guards + number
    }

    /// Limits readers to the first `count` guards; under the lock of the records. Sequentially
    /// consistent: a thread that misses a guard has removed its object before the guard's thread
    /// posts.
    func setCount(_ count: Int) { self.count.store(count, ordering: .sequentiallyConsistent) }

    /// Calls `body` with every guard in use by a post or a block.
    @inline(__always)
    func forEachUsed(_ body: (borrowing EpochGuard) -> Void) {
        for number in 0..<count.load(ordering: .sequentiallyConsistent) {
            var next = unsafe Optional(guards + number)
            // Guards behind the first free guard are free, too.
            while let known = unsafe next,
                unsafe known.pointee.center.load(ordering: .sequentiallyConsistent) != 0
            {
                unsafe body(known.pointee)
                unsafe next = known.pointee.next.load(ordering: .acquiring)
            }
        }
    }
}

// MARK: Garbage

/// The epoch of one center, and the release of its garbage.
struct Reclamation: ~Copyable, Sendable {
    typealias Object = any AnyObject & Sendable

    /// Objects removed from the center, perhaps still read by posts. Protected by the center's
    /// lock.
    struct Garbage: Sendable {
        /// A removed object, or the memory alone of a registration, with the epoch of the removal;
        /// oldest first.
        fileprivate var retired: [(epoch: UInt64, object: Object?, memory: Unowned<AnyObject>?)] =
            []
        /// Registrations that a post was calling when they ended; likewise.
        fileprivate var called: [(epoch: UInt64, object: Object)] = []

        /// Both lists count. Between a post's end and the post's own `collect`, another thread may
        /// take out the retired memory; then `called` alone tells the post to collect.
        fileprivate var newest: UInt64 { max(retired.last?.epoch ?? 0, called.last?.epoch ?? 0) }

        var isEmpty: Bool { retired.isEmpty && called.isEmpty }
        var count: Int { retired.count }
    }

    /// Incremented by each change that retires objects.
    let epoch = Atomic<UInt64>(1)
    /// The epoch of the latest garbage; 0 if there is none.
    private let newestGarbage = Atomic<UInt64>(0)

    /// Whether a post of an epoch must collect the garbage at its end. The garbage may wait for the
    /// post. If `retire` finds a post on another thread, it fences all threads and looks again. So
    /// it sees the post's end, or the post sees the garbage.
    @inline(__always)
    func hasGarbage(since epoch: UInt64) -> Bool {
        newestGarbage.load(ordering: .sequentiallyConsistent) >= epoch
    }

    /// Retires objects removed from a center, and a registration whose state is closed. Returns the
    /// objects that no post may still read, to be released without the lock.
    func retire(
        _ objects: [Object], and registration: Object? = nil, of center: CenterAddress,
        in garbage: inout Garbage
    ) -> [Object] {
        let now = epoch.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
        for object in objects { garbage.retired.append((now, object, nil)) }
        if let registration { garbage.retired.append((now, nil, Unowned(registration))) }
        newestGarbage.store(now, ordering: .sequentiallyConsistent)
        if EpochGuard.earliest(on: center)?.isElsewhere == true { EpochGuard.fenceOthers() }
        guard let registration else { return expired(in: &garbage, of: center) }
        if EpochGuard.hazardPointers(on: center).contains(RegistrationAddress(of: registration)) {
            garbage.called.append((now, registration))
            return expired(in: &garbage, of: center)
        }
        return expired(in: &garbage, of: center) + [registration]
    }

    /// Removes and returns the garbage that no post may still read, to be released without the
    /// lock. Called by an ended post of the epoch `since`. A registration that was retired in an
    /// earlier epoch is left out: this post cannot have called it, and the post that did collects
    /// it.
    func collect(_ garbage: inout Garbage, of center: CenterAddress, since: UInt64) -> [Object] {
        var released: [Object] = []
        if !garbage.called.isEmpty {
            let called = Set(EpochGuard.hazardPointers(on: center))
            let isFree = { (epoch: UInt64, object: Object) in
                epoch >= since && !called.contains(RegistrationAddress(of: object))
            }
            released = garbage.called.filter { isFree($0.epoch, $0.object) }.map(\.object)
            garbage.called.removeAll { isFree($0.epoch, $0.object) }
            garbage.called.releaseUnusedCapacity()
        }
        return released + expired(in: &garbage, of: center)
    }

    /// Removes and returns the objects that were removed before the earliest post under way began.
    private func expired(in garbage: inout Garbage, of center: CenterAddress) -> [Object] {
        let earliest = EpochGuard.earliest(on: center)?.epoch ?? .max
        let firstKept =
            garbage.retired.firstIndex { $0.epoch >= earliest } ?? garbage.retired.endIndex
        let expired = garbage.retired[..<firstKept].compactMap(\.object)
        garbage.retired.removeSubrange(..<firstKept)
        garbage.retired.releaseUnusedCapacity()
        newestGarbage.store(garbage.newest, ordering: .relaxed)
        return expired
    }
}
