internal import COwnerLifetime
internal import Synchronization

/// A thread's record of the posts under way on it, and the drains: a pin for each.
///
/// Posting threads write with plain stores, so that a call costs nothing to announce. ARM64 keeps those in order with the
/// look at `tether_attention` behind them; elsewhere who waits fences all threads first (`membarrier`, on Linux) and then
/// reads, or, where the system has no such fence, the stores fence themselves.
/// Records of threads that exited are used again, and never freed: there are as many as threads ever posted at once.
/// They are taken out of the list that is looked through, and keep their place for who is at them: from there the list
/// goes on, or starts again once a new thread has the record, so no record in use is passed over.
///
/// SAFETY: what is not atomic is only touched by the thread that has the record, and `nextUnused` under the lock; pins
/// live as long as the process.
@safe final class PostingThread: @unchecked Sendable {
    static let centerOfDrains: UInt = 1

    /// The actions after a thread has ended in a post: for the registration that was called, then for the center. Set
    /// once, before there are centers.
    struct ThreadEndActions: Sendable {
        let threadEnded: @Sendable (_ registration: UInt) -> Void
        let reclaim: @Sendable (_ center: UInt) -> Void
    }

    static let threadEndActions = Guarded<ThreadEndActions?>(nil)
    /// The records of threads that exited; the lock under which records are linked.
    private static let unused = Guarded<PostingThread?>(nil)
    /// The address of the newest record in use, which leads to all of them.
    private static let newest = Atomic<UInt>(0)
    private let first: UnsafeMutablePointer<Pin>
    private var firstFree: UnsafeMutablePointer<Pin>
    /// Values of other parts that live with the thread until it exits; touched by it alone.
    private var storage = ThreadStorage()
    /// Actions that end the deliveries under way on the thread, which never return if it exits in one; the innermost last.
    private var unfinished: [() -> Void] = []
    /// The address of the next older record in use.
    private let older = Atomic<UInt>(0)
    private var nextUnused: PostingThread?

    private init() {
        unsafe first = PostingThread.makePin(inside: nil)
        unsafe firstFree = first
        // SAFETY: never given back, because a record is never freed.
        _ = unsafe Unmanaged.passRetained(self)
    }

    private static func makePin(inside outer: UnsafeMutablePointer<Pin>?) -> UnsafeMutablePointer<Pin> {
        let pin = UnsafeMutablePointer<Pin>.allocate(capacity: 1)
        unsafe pin.initialize(to: Pin(inside: outer))
        return unsafe pin
    }

    /// The calling thread's record. Complexity: O(1).
    static var current: PostingThread { unsafe unmanagedCurrent.takeUnretainedValue() }

    /// The calling thread's record, not retained, because it is never freed.
    @inline(__always)
    static var unmanagedCurrent: Unmanaged<PostingThread> {
        // SAFETY: the slot holds a record that is never freed.
        if let known = unsafe tether_thread_record() { return unsafe .fromOpaque(known) }
        return unsafe .passUnretained(adopt())
    }

    @inline(never)
    private static func adopt() -> PostingThread {
        let record = unused.withLock { unused in
            let record = unused ?? PostingThread()
            unused = record.nextUnused.take()
            record.older.store(newest.load(ordering: .relaxed), ordering: .releasing)
            newest.store(record.address, ordering: .sequentiallyConsistent)
            return record
        }
        // SAFETY: the record is never freed; the exit function touches it alone.
        unsafe tether_set_thread_record(Unmanaged.passUnretained(record).toOpaque()) { record in
            unsafe Unmanaged<PostingThread>.fromOpaque(record).takeUnretainedValue().exit()
        }
        return record
    }

    /// Asks for something to be done on this thread when it exits, the last one first.
    func atExit(_ action: @escaping @Sendable () -> Void) { storage.exitActions.append(action) }

    /// Asks for an object to be closed when this thread exits, if it still is there. Complexity: O(1) amortised.
    func closeAtExit(_ object: any ClosedAtThreadExit) {
        let others = storage.closeAtExit(object)
        withExtendedLifetime(others) {}
    }

    /// The value that the thread keeps in a slot until it exits.
    subscript<Value>(slot: ThreadSlot<Value>) -> Value? {
        get { storage[slot] }
        set { storage[slot] = newValue }
    }

    /// Calls a body that calls handlers, and another one if a handler ends the thread in it.
    static func deliver(_ body: () -> Void, orAtExit ending: @escaping () -> Void) {
        let thread = current
        thread.unfinished.append(ending)
        body()
        thread.unfinished.removeLast()
    }

    private func exit() {
        let centers = unpinAll()
        while let ending = unfinished.popLast() { ending() }
        // An object that ends here may post, which takes another record.
        while let object = storage.popClosing() { object.close() }
        while let action = storage.exitActions.popLast() { action() }
        let kept = storage
        storage = ThreadStorage()
        withExtendedLifetime(kept) {}
        for center in centers { PostingThread.threadEndActions.withLock(\.self)?.reclaim(center) }
        PostingThread.unused.withLock { unused in
            unlink()
            nextUnused = unused
            unused = self
        }
    }

    /// The pin of the calling thread's innermost post or drain.
    private var innermost: UnsafeMutablePointer<Pin>? { unsafe firstFree.pointee.outer }

    /// The identity of the calling thread's innermost post or drain; 0 outside of them.
    var innermostPost: UInt { unsafe UInt(bitPattern: innermost) }

    /// The pins of the calling thread's posts and drains, outermost first.
    private var pinsInUse: [UnsafeMutablePointer<Pin>] {
        var (pin, pins) = unsafe (innermost, [UnsafeMutablePointer<Pin>]())
        // SAFETY: pins are never freed.
        while let known = unsafe pin {
            unsafe pins.append(known)
            unsafe pin = known.pointee.outer
        }
        return unsafe pins.reversed()
    }

    /// The registrations that they announce, whose handlers the thread is in; 0 for a post that has not come to one.
    var announced: [UInt] { unsafe pinsInUse.map { unsafe $0.pointee.registration.load(ordering: .relaxed) } }

    /// Frees the pins of a thread that a handler has ended (`Thread.exit()`), innermost first; returns their centers.
    private func unpinAll() -> [UInt] {
        var pins = unsafe pinsInUse
        let centers = unsafe pins.map { unsafe $0.pointee.center.load(ordering: .relaxed) }
        let called = unsafe pins.map { unsafe $0.pointee.registration.load(ordering: .relaxed) }
        let actions = PostingThread.threadEndActions.withLock(\.self)
        for registration in called.reversed() { actions?.threadEnded(registration) }
        while let pin = unsafe pins.popLast() { unsafe unpin(pin) }
        return centers
    }

    /// Takes this out of the list, under the lock. Complexity: O(threads).
    private func unlink() {
        var link = PostingThread.newest.load(ordering: .relaxed)
        guard link != address else {
            return PostingThread.newest.store(older.load(ordering: .relaxed), ordering: .sequentiallyConsistent)
        }
        while let newer = PostingThread.record(at: link) {
            link = newer.older.load(ordering: .relaxed)
            if link == address {
                return newer.older.store(older.load(ordering: .relaxed), ordering: .releasing)
            }
        }
    }

    private static func record(at address: UInt) -> PostingThread? {
        // SAFETY: records are never freed.
        unsafe UnsafeRawPointer(bitPattern: address).map {
            unsafe Unmanaged<PostingThread>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Its identity, for looking through all records.
    ///
    /// SAFETY: a record is never freed, so its address stands for it for ever.
    private var address: UInt { unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    // MARK: Posting

    /// Calls `body` with a pin on the calling thread, for a post on a center in an epoch of it, or for a drain.
    @inline(__always)
    static func withPin(center: UInt, epoch: UInt64, _ body: (UnsafeMutablePointer<Pin>) -> Void) {
        let isFirst = unsafe tether_thread_record() == nil
        // SAFETY: records are never freed.
        unsafe unmanagedCurrent._withUnsafeGuaranteedRef { thread in
            let pin = unsafe thread.pin(center: center, epoch: epoch)
            unsafe body(pin)
            unsafe thread.unpin(pin)
        }
        // A destructor of the thread's posts, and may be the last one that is called.
        if isFirst, tether_thread_is_exiting() { tether_end_thread_record() }
    }

    @inline(__always)
    private func pin(center: UInt, epoch: UInt64) -> UnsafeMutablePointer<Pin> {
        let pin = unsafe firstFree
        // With the load in `oldestPin`: an epoch that is seen there has the end of the post before it in front of it.
        unsafe pin.pointee.epoch.store(epoch, ordering: .releasing)
        unsafe pin.pointee.center.store(center, ordering: .sequentiallyConsistent)
        unsafe firstFree = pin.pointee.next.load(ordering: .relaxed) ?? PostingThread.addPin(after: pin)
        return unsafe pin
    }

    @inline(never)
    private static func addPin(after pin: UnsafeMutablePointer<Pin>) -> UnsafeMutablePointer<Pin> {
        let made = unsafe makePin(inside: pin)
        unsafe pin.pointee.next.store(made, ordering: .releasing)
        return unsafe made
    }

    /// Announces in a pin the registration that is about to be called, after the one that was called there before.
    @inline(__always)
    static func announce(_ registration: UInt, after previous: UInt = 0, at pin: UnsafeMutablePointer<Pin>) {
        unsafe pin.pointee.registration.announce(registration)
        if tether_needs_attention() { attend(after: previous) }
    }

    /// Takes the announcement of a registration back, if the calling thread's innermost pin has it: the post touches the
    /// registration no more.
    static func withdraw(_ registration: UInt) {
        if let pin = unsafe current.innermost,
            unsafe pin.pointee.registration.load(ordering: .relaxed) == registration
        {
            unsafe announce(0, after: registration, at: pin)
        }
    }

    @inline(__always)
    private func unpin(_ pin: UnsafeMutablePointer<Pin>) {
        unsafe firstFree = pin
        let previous = unsafe pin.pointee.registration.load(ordering: .relaxed)
        unsafe pin.pointee.registration.announce(0)
        unsafe pin.pointee.center.announce(0)
        if tether_needs_attention() { PostingThread.attend(after: previous) }
    }

    /// The slow path after a handler has returned: where posting threads fence, or while someone waits for one.
    @inline(never)
    private static func attend(after registration: UInt) {
        // Not covered: the fence, which is for systems that cannot fence all threads; the suite is run without that, too.
        if tether_posters_fence() { atomicMemoryFence(ordering: .sequentiallyConsistent) }
        Quiescence.handlerReturned(registration)
    }

    // MARK: Looking at the others

    /// After this, every other thread's announcement is seen here, or what was stored here before is seen there.
    static func fenceOthers() {
        guard tether_fence_all_threads() else {
            // Not covered: ends the process; MemoryFenceTests run it apart.
            fatalError(
                "Ending an observer: the system refuses membarrier, which it allowed when the program started; "
                    + "start the program with TETHER_WITHOUT_MEMBARRIER=1, or let its sandbox allow membarrier.")
        }
    }

    /// Calls `body` with every pin in use on every thread; with some twice if threads come and go meanwhile.
    private static func forEachPin(_ body: (borrowing PostingThread, borrowing Pin) -> Void) {
        var address = newest.load(ordering: .sequentiallyConsistent)
        // SAFETY: records and pins are never freed.
        while let known = unsafe UnsafeRawPointer(bitPattern: address) {
            address = unsafe Unmanaged<PostingThread>.fromOpaque(known)._withUnsafeGuaranteedRef { thread in
                var next: UnsafeMutablePointer<Pin>? = unsafe thread.first
                // Pins behind the first free one are free too.
                while let pin = unsafe next, unsafe pin.pointee.center.load(ordering: .sequentiallyConsistent) != 0 {
                    unsafe body(thread, pin.pointee)
                    unsafe next = pin.pointee.next.load(ordering: .acquiring)
                }
                return thread.older.load(ordering: .acquiring)
            }
        }
    }

    /// The earliest epoch in which a post under way on a center began, if there is one: that of its oldest pin.
    static func oldestPin(on center: UInt) -> (epoch: UInt64, isElsewhere: Bool)? {
        var earliest: UInt64?
        var isElsewhere = false
        // SAFETY: only the identity of the calling thread's record is used.
        let own = unsafe tether_thread_record()
        forEachPin { thread, pin in
            if pin.center.load(ordering: .acquiring) == center {
                earliest = min(earliest ?? .max, pin.epoch.load(ordering: .acquiring))
                if thread.address != UInt(bitPattern: own) { isElsewhere = true }
            }
        }
        return earliest.map { ($0, isElsewhere) }
    }

    /// The registrations that posts under way on a center announce.
    static func calledRegistrations(on center: UInt) -> [UInt] {
        var called: [UInt] = []
        forEachPin { _, pin in
            if pin.center.load(ordering: .acquiring) == center {
                called.append(pin.registration.load(ordering: .acquiring))
            }
        }
        return called
    }

    /// The threads on which a registration is announced.
    static func threads(running registration: UInt) -> [PostingThread] {
        var running: [PostingThread] = []
        forEachPin { thread, pin in
            guard pin.registration.load(ordering: .acquiring) == registration else { return }
            if !running.contains(where: { $0 === thread }) { running.append(copy thread) }
        }
        return running
    }
}
