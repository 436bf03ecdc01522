internal import COwnerLifetime
internal import Synchronization

// Posts read slots, names, caches and registrations of their center without a lock, and retain none
// of them. This file decides when a removed object may be released. The file combines two known
// schemes.
//
// # Epochs
//
// As in crossbeam-epoch. Each center has an *epoch*, a counter. A post has an *epoch guard*, a
// place in memory readable by all threads. First of all, the post writes the center's epoch into
// its guard. A removing thread adds the object to the center's *garbage*, with the current epoch,
// and increments the epoch. The object is released when no guard has the object's epoch or an
// earlier epoch of the center. A later post does not find the object.
//
// The epochs of different centers are far apart, so an epoch also tells its center. The two are one
// word, because a thread may end a post, and use the guard for another center or for a block, between
// two loads of the removing thread.
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
// The removing thread reads the hazard pointers of posts of the garbage's epoch, or earlier epochs,
// alone. A later post collects no such garbage, nor does a block that the thread runs after it.
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
// Tests/Tools/Litmus checks the protocols exhaustively, and gives the reason for each order.
//
// # Cost
//
// A post: three stores to its guard (the first is sequentially consistent) and two to its record,
// and a store and a load for each call. A removal: a read of 64 bytes for each guard in the table,
// and a fence of all threads if another thread is posting on the center.

// MARK: Guards

/// The guard of one post, or of one block of a target, while the post or the block is under way.
/// SAFETY: `outer` and `next` point to guards, and guards and records are never freed.
@safe struct EpochGuard: ~Copyable {
    /// The epoch of a target's block, a foreign center's call or an unmuting: each keeps its
    /// registrations, and needs no epoch.
    static let noEpoch: UInt64 = 1

    /// The center's epoch when the post began; `noEpoch`; 0 while the guard is free.
    let epoch = Atomic<UInt64>(0)
    /// The hazard pointer: the bits of the address of the registration that is about to be called,
    /// or is running; or 0.
    let registration = Atomic<UInt64>(0)
    /// The guard of a post inside of this post. Set once, by the guard's thread.
    let next = unsafe Atomic<UnsafeMutablePointer<EpochGuard>?>(nil)
    /// The guard whose `next` is this guard. Only read by the guard's thread.
    let outer: UnsafeMutablePointer<EpochGuard>?
    let record: Unmanaged<ThreadRecord>
    /// Fills the guard up to the size of a cache line.
    private let padding: (UInt, UInt, UInt) = (0, 0, 0)

    init(of record: ThreadRecord, inside outer: UnsafeMutablePointer<EpochGuard>? = nil) {
        unsafe self.record = .passUnretained(record)
        unsafe self.outer = unsafe outer
    }

    @inline(__always)
    func begin(epoch: UInt64) {
        if epoch == EpochGuard.noEpoch {
            // Only the order with the hazard pointer, which is stored next, matters.
            return self.epoch.publish(epoch)
        }
        // Sequentially consistent: a thread that misses the store has removed its object before the
        // slots are read. For a thread that reads this epoch, the effects of the guard's previous
        // post happened before.
        self.epoch.store(epoch, ordering: .sequentiallyConsistent)
    }

    /// Sets the hazard pointer to the next registration to be called, after the call of the
    /// previous registration.
    @inline(__always)
    func setHazardPointer(
        _ registration: RegistrationAddress, after previous: RegistrationAddress = .none
    ) {
        self.registration.publish(UInt64(registration.bits))
        Interleaving.pass(.step)
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
        epoch.publish(0)
        Interleaving.pass(.step)
        if tether_needs_attention() {
            EpochGuard.attend(after: RegistrationAddress(bits: UInt(previous)))
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
    /// post. `now`: the center's epoch.
    static func earliest(until now: UInt64) -> (epoch: UInt64, isElsewhere: Bool)? {
        var earliest: UInt64?
        var isElsewhere = false
        // SAFETY: only addresses are compared.
        let own = unsafe tether_thread_record()
        GuardTable.shared.forEachUsed { epochGuard, epoch in
            guard Reclamation.isEpoch(epoch, until: now) else { return }
            earliest = min(earliest ?? .max, epoch)
            if unsafe epochGuard.record.toOpaque() != own { isElsewhere = true }
        }
        return earliest.map { ($0, isElsewhere) }
    }

    /// Whether a post that began in an epoch, or in an earlier epoch of the same center, is calling
    /// a registration. Called under the center's lock.
    ///
    /// A thread whose post ends meanwhile cannot use the guard again: at the post's end the thread
    /// waits for the lock, to collect the garbage of that epoch.
    static func isCalled(_ registration: RegistrationAddress, until epoch: UInt64) -> Bool {
        var isCalled = false
        GuardTable.shared.forEachUsed { epochGuard, begun in
            guard Reclamation.isEpoch(begun, until: epoch) else { return }
            // Acquire: a handler's stores into its captures happened before the release of the
            // captures.
            let bits = epochGuard.registration.load(ordering: .acquiring)
            if bits == UInt64(registration.bits) { isCalled = true }
        }
        return isCalled
    }

    /// The threads that are calling a registration, once for each call.
    static func threads(calling registration: RegistrationAddress) -> [ThreadRecord] {
        var threads: [ThreadRecord] = []
        GuardTable.shared.forEachUsed { epochGuard, _ in
            let bits = epochGuard.registration.load(ordering: .acquiring)
            guard bits == UInt64(registration.bits) else { return }
            // SAFETY: a record is never freed.
            unsafe threads.append(epochGuard.record.takeUnretainedValue())
        }
        return threads
    }
}

extension Atomic<UInt64> {
    /// Stores a word that other threads look for, before the load of `tether_awaited`. On ARM64 the
    /// load does not pass the store. The store is the same instruction as a store with release.
    @inline(__always)
    fileprivate borrowing func publish(_ value: UInt64) {
        #if arch(arm64) || arch(arm64_32)
        store(value, ordering: .sequentiallyConsistent)
        #else
        store(value, ordering: .releasing)
        #endif
    }
}

// MARK: The guards of a thread

extension ThreadRecord {
    /// Calls `body` with a guard of the calling thread, for a post in an epoch of its center, or
    /// without an epoch.
    @inline(__always)
    static func withGuard(
        epoch: UInt64, _ body: (UnsafeMutablePointer<EpochGuard>) -> Void
    ) {
        let hadNoRecord = unsafe tether_thread_record() == nil
        // SAFETY: records and guards are never freed.
        unsafe unmanagedCurrent._withUnsafeGuaranteedRef { record in
            let epochGuard = unsafe record.firstFree
            unsafe epochGuard.pointee.begin(epoch: epoch)
            unsafe record.firstFree =
                epochGuard.pointee.next.load(ordering: .relaxed) ?? addGuard(inside: epochGuard)
            unsafe body(epochGuard)
            unsafe record.firstFree = epochGuard
            unsafe epochGuard.pointee.end()
        }
        // A destructor of the thread has posted, perhaps after the last call of the key's
        // destructor.
        if hadNoRecord, tether_thread_is_exiting() { tether_end_thread_record() }
    }

    @inline(never)
    private static func addGuard(inside outer: UnsafeMutablePointer<EpochGuard>)
        -> UnsafeMutablePointer<EpochGuard>
    {
        let made = UnsafeMutablePointer<EpochGuard>.allocate(capacity: 1)
        unsafe made.initialize(
            to: EpochGuard(of: outer.pointee.record.takeUnretainedValue(), inside: outer))
        unsafe outer.pointee.next.store(made, ordering: .releasing)
        return unsafe made
    }

    /// Clears the hazard pointer of the calling thread's innermost post or block, which calls the
    /// handlers of `previous` no more.
    static func clearHazardPointer(after previous: RegistrationAddress) {
        // SAFETY: records and guards are never freed.
        unsafe unmanagedCurrent._withUnsafeGuaranteedRef { record in
            let innermost = unsafe record.firstFree.pointee.outer
            unsafe innermost?.pointee.setHazardPointer(.none, after: previous)
        }
    }

    /// Whether the innermost post, or unmuting, of the calling thread is made inside another one, or
    /// a block.
    static var isPostNested: Bool {
        // SAFETY: records and guards are never freed.
        unsafe unmanagedCurrent._withUnsafeGuaranteedRef { record in
            unsafe record.firstFree.pointee.outer?.pointee.outer != nil
        }
    }

    /// The registrations that the thread is calling, the outermost first; `.none` for a post
    /// without a call yet.
    var calledRegistrations: [RegistrationAddress] {
        // SAFETY: guards are never freed.
        let guards = unsafe sequence(first: firstFree) { unsafe $0.pointee.outer }.dropFirst()
        let addresses = unsafe guards.map {
            let bits = unsafe $0.pointee.registration.load(ordering: .relaxed)
            return RegistrationAddress(bits: UInt(bits))
        }
        return addresses.reversed()
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

    /// Calls `body` with every guard in use by a post or a block, and the guard's epoch.
    @inline(__always)
    func forEachUsed(_ body: (borrowing EpochGuard, _ epoch: UInt64) -> Void) {
        for number in 0..<count.load(ordering: .sequentiallyConsistent) {
            var next = unsafe Optional(guards + number)
            // Guards behind the first free guard are free, too.
            while let known = unsafe next {
                let epoch = unsafe known.pointee.epoch.load(ordering: .sequentiallyConsistent)
                if epoch == 0 { break }
                unsafe body(known.pointee, epoch)
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
        fileprivate(set) var called: [(epoch: UInt64, object: Object)] = []

        /// Both lists count. Between a post's end and the post's own `collect`, another thread may
        /// take out the retired memory; then `called` alone tells the post to collect.
        fileprivate var newest: UInt64 { max(retired.last?.epoch ?? 0, called.last?.epoch ?? 0) }

        var isEmpty: Bool { retired.isEmpty && called.isEmpty }
        var count: Int { retired.count }
    }

    /// Incremented by each change that retires objects, under the center's lock.
    let epoch: Atomic<UInt64>
    /// The epoch of the latest garbage; 0 if there is none.
    private let newestGarbage = Atomic<UInt64>(0)

    /// The epochs of a center begin in the middle of 2^48 numbers of its own. Every 65,536th center
    /// has the same numbers: at worst, garbage waits for a post on the other center.
    init(ofCenter number: UInt64) { epoch = Atomic(number << 48 | 1 << 47) }

    /// Whether an epoch is one of the center's epochs until `now`. No post lasts for 2^46 removals.
    @inline(__always)
    fileprivate static func isEpoch(_ epoch: UInt64, until now: UInt64) -> Bool {
        now &- epoch < 1 << 46
    }

    /// Whether a post on the center is under way. Called under the center's lock.
    var hasPosts: Bool { EpochGuard.earliest(until: epoch.load(ordering: .relaxed)) != nil }

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
        _ objects: [Object], and registration: Object? = nil, in garbage: inout Garbage
    ) -> [Object] {
        let now = epoch.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
        for object in objects { garbage.retired.append((now, object, nil)) }
        if let registration { garbage.retired.append((now, nil, Unowned(registration))) }
        newestGarbage.store(now, ordering: .sequentiallyConsistent)
        if EpochGuard.earliest(until: now)?.isElsewhere == true { EpochGuard.fenceOthers() }
        guard let registration else { return expired(in: &garbage) }
        if EpochGuard.isCalled(RegistrationAddress(of: registration), until: now) {
            garbage.called.append((now, registration))
            return expired(in: &garbage)
        }
        return expired(in: &garbage) + [registration]
    }

    /// Removes and returns the garbage that no post may still read, to be released without the
    /// lock. Called by an ended post of the epoch `since`. A registration that was retired in an
    /// earlier epoch is left out: this post cannot have called it, and the post that did collects
    /// it.
    func collect(_ garbage: inout Garbage, since: UInt64) -> [Object] {
        var released: [Object] = []
        if !garbage.called.isEmpty {
            var kept: [(epoch: UInt64, object: Object)] = []
            for (epoch, object) in garbage.called {
                let address = RegistrationAddress(of: object)
                if epoch >= since, !EpochGuard.isCalled(address, until: epoch) {
                    released.append(object)
                } else {
                    kept.append((epoch, object))
                }
            }
            garbage.called = kept
        }
        return released + expired(in: &garbage)
    }

    /// Removes and returns the objects that were removed before the earliest post under way began.
    private func expired(in garbage: inout Garbage) -> [Object] {
        let now = epoch.load(ordering: .relaxed)
        let earliest = EpochGuard.earliest(until: now)?.epoch ?? .max
        let firstKept =
            garbage.retired.firstIndex { $0.epoch >= earliest } ?? garbage.retired.endIndex
        let expired = garbage.retired[..<firstKept].compactMap(\.object)
        garbage.retired.removeSubrange(..<firstKept)
        garbage.retired.releaseUnusedCapacity()
        newestGarbage.store(garbage.newest, ordering: .relaxed)
        return expired
    }
}
