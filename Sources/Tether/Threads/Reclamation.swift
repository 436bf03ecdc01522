internal import COwnerLifetime
internal import Synchronization

// Posts read slots, names, caches and registrations of their center without a lock, and retain none of them. This file
// decides when such an object may be released after it has been removed from its center. It combines two known schemes.
//
// # Epochs
//
// As in crossbeam-epoch. Each center has an *epoch*, a counter. A post has an *epoch guard*, a place in memory that all
// threads can read. Before the post reads anything else it writes into its guard the center and the center's epoch. A thread that
// removes an object adds it to the center's *garbage*, with the current epoch, and increments the epoch. The object is released
// when no guard of the center has that epoch or an earlier one. A later post does not find the object any more.
//
// The garbage has slots that were outgrown, names, caches, and the memory of registrations.
//
// # Hazard pointers
//
// The captures of a handler do not wait for posts that call other observers (R8). So a guard also has a *hazard pointer*: the
// registration that the post is calling.
//
//     post                                    cancel()
//     sets the hazard pointer                 closes the registration's state
//     reads the state: calls, or skips        reads the hazard pointers: releases, or leaves it to the post
//
// At least one of the two sees what the other has written. A registration that a post is calling stays in the garbage as a whole.
// That post releases it when it ends, because its epoch is not later than the garbage. Posts that begin later have a later
// epoch, and do not even look.
//
// # Guards
//
// Each thread that posts has a `ThreadRecord`, and each record has a guard. The guards of all records stand side by side in a
// table, because each removal reads all of them. A guard is as long as a cache line, so that two threads never write to the same one.
// A post inside of a handler needs another guard. It is allocated once, and linked to the guard of the outer post.
// Guards are never freed.
//
// # Memory orders
//
// Both "sets, then reads" above are the store buffering pattern: each side needs a full fence between its store and its load.
// Posts are frequent, and removals are not. So a post only has a compiler barrier, and the removing thread has a fence executed
// on all threads (`membarrier`, on Linux). On ARM64, a sequentially consistent store and load keep their order, at no
// cost. On other systems, posts fence. Tests/Litmus checks the protocols exhaustively, and says what each order is for.
//
// # Cost
//
// A post: five plain stores, and a load for each call. A removal: a read of the guards of all threads that have
// posted and still run, which is 64 bytes for each; and a fence of all threads, if another thread is posting on that center.

// MARK: Guards

/// The place in which a thread announces one post, or one block of a target, while that is under way.
///
/// SAFETY: `outer` and `next` point to guards, which are never freed; nor is the record.
@safe struct EpochGuard: ~Copyable {
    /// The `center` of a block that a target runs. Such a block retains the registrations that it calls, and has no epoch. So does a call by a foreign center.
    static let block: UInt = 1

    /// The address of the center whose observers are being called; 0 while the guard is free.
    let center = Atomic<UInt>(0)
    /// The center's epoch when the post began.
    let epoch = Atomic<UInt64>(0)
    /// The hazard pointer: the address of the registration that is about to be called, or is running; or 0.
    let registration = Atomic<UInt>(0)
    /// The guard of a post inside of this one. Set once, by the guard's thread.
    let next = unsafe Atomic<UnsafeMutablePointer<EpochGuard>?>(nil)
    /// The guard that this is the `next` of. Only read by the guard's thread.
    let outer: UnsafeMutablePointer<EpochGuard>?
    /// The record that has the guard.
    let record: Unmanaged<ThreadRecord>
    /// Up to the size of a cache line.
    private let padding: (UInt, UInt) = (0, 0)

    init(of record: ThreadRecord, inside outer: UnsafeMutablePointer<EpochGuard>? = nil) {
        unsafe self.record = .passUnretained(record)
        unsafe self.outer = unsafe outer
    }

    /// Begins a post.
    @inline(__always)
    func begin(center: UInt, epoch: UInt64) {
        // Release, for a thread that reads this epoch: what the guard's previous post did happened before.
        self.epoch.store(epoch, ordering: .releasing)
        // Sequentially consistent: a thread that does not read it has removed its object before this post reads the slots.
        self.center.store(center, ordering: .sequentiallyConsistent)
    }

    /// Sets the hazard pointer to the registration that is about to be called, after the one that was called before.
    @inline(__always)
    func setHazardPointer(_ registration: UInt, after previous: UInt = 0) {
        self.registration.publish(registration)
        if tether_needs_attention() { EpochGuard.attend(after: previous) }
    }

    /// Ends the post.
    @inline(__always)
    func end() {
        let previous = registration.load(ordering: .relaxed)
        registration.publish(0)
        center.publish(0)
        if tether_needs_attention() { EpochGuard.attend(after: previous) }
    }

    /// Fences where posts have to, and resumes threads that wait for the handler that has returned.
    @inline(never)
    private static func attend(after registration: UInt) {
        if tether_posters_fence() { atomicMemoryFence(ordering: .sequentiallyConsistent) }
        if tether_is_awaited(registration) { HandlerWait.handlerReturned(registration) }
    }

    // MARK: Reading the guards of all threads

    /// Fences all threads. What another thread has published before is seen after this, or that thread sees what this one has
    /// stored before.
    static func fenceOthers() {
        guard tether_fence_all_threads() else {
            fatalError(
                "Ending an observer: the system refuses membarrier, which it allowed when the program started; "
                    + "start the program with TETHER_WITHOUT_MEMBARRIER=1, or let its sandbox allow membarrier.")
        }
    }

    /// The earliest epoch of the posts of a center that are under way, and whether one is on another thread.
    static func earliest(on center: UInt) -> (epoch: UInt64, isElsewhere: Bool)? {
        var earliest: UInt64?
        var isElsewhere = false
        // SAFETY: only addresses are compared.
        let own = unsafe tether_thread_record()
        GuardTable.shared.forEachUsed { epochGuard in
            if epochGuard.center.load(ordering: .acquiring) == center {
                // Acquire: see `begin`.
                earliest = min(earliest ?? .max, epochGuard.epoch.load(ordering: .acquiring))
                if unsafe epochGuard.record.toOpaque() != own { isElsewhere = true }
            }
        }
        return earliest.map { ($0, isElsewhere) }
    }

    /// The hazard pointers of the posts of a center that are under way.
    static func hazardPointers(on center: UInt) -> [UInt] {
        var hazardPointers: [UInt] = []
        GuardTable.shared.forEachUsed { epochGuard in
            if epochGuard.center.load(ordering: .acquiring) == center {
                // Acquire: what a handler stored in its captures happened before they are released.
                hazardPointers.append(epochGuard.registration.load(ordering: .acquiring))
            }
        }
        return hazardPointers
    }

    /// The records of the threads that call a registration.
    static func threads(calling registration: UInt) -> [ThreadRecord] {
        var threads: [ThreadRecord] = []
        GuardTable.shared.forEachUsed { epochGuard in
            guard epochGuard.registration.load(ordering: .acquiring) == registration else { return }
            // SAFETY: a record is never freed.
            let thread = unsafe epochGuard.record.takeUnretainedValue()
            if !threads.contains(where: { $0 === thread }) { threads.append(thread) }
        }
        return threads
    }
}

extension Atomic<UInt> {
    /// Stores a word that other threads look for, in front of the load of `tether_awaited`.
    ///
    /// On ARM64 that load does not pass this store, which is the same instruction as one with release.
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

/// The guards of all records, in chunks, each twice as long as the one before. None is ever moved or freed.
///
/// SAFETY: a chunk, and a guard in it, are initialised before `count` includes them.
@safe struct GuardTable: ~Copyable, @unchecked Sendable {
    static let shared = GuardTable()
    private static let firstCapacity = 16

    /// Written under the lock of the records.
    private let chunks = UnsafeMutablePointer<UnsafeMutablePointer<EpochGuard>>.allocate(capacity: 40)
    /// How many guards are read: those up to the last that a running thread has. Written under the lock of the records.
    private let count = Atomic<Int>(0)

    private init() {}

    /// Makes the place of a guard, to be initialised. To be called with 0, 1, 2 and so on, under the lock of the records.
    func makePlace(number: Int) -> UnsafeMutablePointer<EpochGuard> {
        var (chunk, capacity, index) = (0, GuardTable.firstCapacity, number)
        while index >= capacity { (chunk, capacity, index) = (chunk + 1, capacity * 2, index - capacity) }
        if index == 0 {
            let bytes = UnsafeMutableRawPointer.allocate(
                byteCount: capacity * MemoryLayout<EpochGuard>.stride, alignment: 64)
            unsafe chunks[chunk] = unsafe bytes.bindMemory(to: EpochGuard.self, capacity: capacity)
        }
        return unsafe chunks[chunk] + index
    }

    /// Has the first guards read, and no others; under the lock of the records.
    ///
    /// Sequentially consistent: a thread that does not read a guard has removed its object before that guard's thread posts.
    func setCount(_ count: Int) { self.count.store(count, ordering: .sequentiallyConsistent) }

    /// Calls `body` with every guard that a post, or a block, is using.
    @inline(__always)
    func forEachUsed(_ body: (borrowing EpochGuard) -> Void) {
        var (left, chunk, capacity) = (count.load(ordering: .sequentiallyConsistent), 0, GuardTable.firstCapacity)
        while left > 0 {
            let first = unsafe chunks[chunk]
            for index in 0..<min(left, capacity) {
                var next = unsafe Optional(first + index)
                // Guards behind the first free one are free, too.
                while let known = unsafe next, unsafe known.pointee.center.load(ordering: .sequentiallyConsistent) != 0
                {
                    unsafe body(known.pointee)
                    unsafe next = known.pointee.next.load(ordering: .acquiring)
                }
            }
            (left, chunk, capacity) = (left - capacity, chunk + 1, capacity * 2)
        }
    }
}

// MARK: Garbage

/// The epoch of one center, and the release of its garbage.
struct Reclamation: ~Copyable, Sendable {
    typealias Object = any AnyObject & Sendable

    /// Objects that were removed from the center and may still be read. Protected by the center's lock.
    struct Garbage: Sendable {
        /// A removed object, or the memory alone of a registration.
        fileprivate enum Retired: Sendable {
            case object(Object)
            case memory(Unowned<AnyObject>)
        }

        /// Each with the epoch of its removal, oldest first.
        fileprivate var retired: [(epoch: UInt64, Retired)] = []
        /// Registrations that a post was calling when they ended; likewise.
        fileprivate var called: [(epoch: UInt64, object: Object)] = []

        /// The calling post may have ended when the memory was released. So both count.
        fileprivate var newest: UInt64 { max(retired.last?.epoch ?? 0, called.last?.epoch ?? 0) }

        var isEmpty: Bool { retired.isEmpty && called.isEmpty }
        var count: Int { retired.count }
    }

    /// Incremented by each change that retires something.
    let epoch = Atomic<UInt64>(1)
    /// The epoch of the latest garbage; 0 if there is none.
    private let newestGarbage = Atomic<UInt64>(0)

    /// Whether a post that began in an epoch, and has ended, has to collect the garbage. The garbage may wait for it.
    ///
    /// Sequentially consistent, as the store in `retire`: that thread sees the post's end, or the post sees its garbage.
    @inline(__always)
    func hasGarbage(since epoch: UInt64) -> Bool { newestGarbage.load(ordering: .sequentiallyConsistent) >= epoch }

    /// Retires objects that were removed from a center, and a registration whose state is closed. Returns the objects that
    /// no post may still read, to be released without the lock.
    func retire(
        _ objects: [Object], and registration: Object? = nil, of center: UInt, in garbage: inout Garbage
    ) -> [Object] {
        let now = epoch.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
        for object in objects { garbage.retired.append((now, .object(object))) }
        if let registration { garbage.retired.append((now, .memory(Unowned(registration)))) }
        newestGarbage.store(now, ordering: .sequentiallyConsistent)
        if EpochGuard.earliest(on: center)?.isElsewhere == true { EpochGuard.fenceOthers() }
        guard let registration else { return expired(in: &garbage, of: center) }
        if EpochGuard.hazardPointers(on: center).contains(Reclamation.address(of: registration)) {
            garbage.called.append((now, registration))
            return expired(in: &garbage, of: center)
        }
        return expired(in: &garbage, of: center) + [registration]
    }

    /// Takes from the garbage of a center the objects that no post may still read, to be released without the lock. To be called
    /// by a post that began in an epoch and has ended; it leaves registrations that ended before it began to the posts calling them.
    func collect(_ garbage: inout Garbage, of center: UInt, since: UInt64) -> [Object] {
        var released: [Object] = []
        if !garbage.called.isEmpty {
            let called = Set(EpochGuard.hazardPointers(on: center))
            let isLeft = { (epoch: UInt64, object: Object) in
                epoch < since || called.contains(Reclamation.address(of: object))
            }
            released = garbage.called.filter { !isLeft($0.epoch, $0.object) }.map(\.object)
            garbage.called.removeAll { !isLeft($0.epoch, $0.object) }
        }
        return released + expired(in: &garbage, of: center)
    }

    private static func address(of object: Object) -> UInt { UInt(bitPattern: ObjectIdentifier(object)) }

    /// Takes from the garbage the objects that were removed before the earliest post under way began.
    private func expired(in garbage: inout Garbage, of center: UInt) -> [Object] {
        let earliest = EpochGuard.earliest(on: center)?.epoch ?? .max
        let firstKept = garbage.retired.firstIndex { $0.epoch >= earliest } ?? garbage.retired.endIndex
        let expired = garbage.retired[..<firstKept].compactMap { entry -> Object? in
            if case .object(let object) = entry.1 { object } else { nil }
        }
        garbage.retired.removeSubrange(..<firstKept)
        newestGarbage.store(garbage.newest, ordering: .relaxed)
        return expired
    }
}
