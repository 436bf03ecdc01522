internal import COwnerLifetime
internal import Synchronization

/// A thread's record of the posts under way on it, one frame a level.
///
/// Posting threads write with plain stores, so that a call costs nothing to announce. ARM64 keeps those in order with the
/// look at `tether_attention` behind them; elsewhere who waits fences all threads first (`membarrier`, on Linux) and then
/// reads, or, where the system has no such fence, the stores fence themselves.
/// Records of threads that exited are used again, and never freed: there are as many as threads ever posted at once.
/// They are taken out of the list that is looked through, and keep their place for who is at them: from there the list
/// goes on, or starts again once a new thread has the record, so no record in use is passed over.
///
/// SAFETY: what is not atomic is only touched by the thread that has the record, and `nextUnused` under the lock; frames
/// live as long as the process.
@safe final class PostingThread: @unchecked Sendable {
    static let centerOfDrains: UInt = 1

    /// What is done where a thread has ended in a post: about the registration that was called, then about the center. Set
    /// once, before there are centers.
    struct Abandonment: Sendable {
        let forsake: @Sendable (_ registration: UInt) -> Void
        let reclaim: @Sendable (_ center: UInt) -> Void
    }

    static let abandonment = Guarded<Abandonment?>(nil)
    /// The records of threads that exited; the lock under which records are linked.
    private static let unused = Guarded<PostingThread?>(nil)
    /// The address of the newest record in use, which leads to all of them.
    private static let newest = Atomic<UInt>(0)
    private let first: UnsafeMutablePointer<PostingFrame>
    private var free: UnsafeMutablePointer<PostingFrame>
    /// What others keep with the thread until it exits; touched by it alone.
    private var storage = ThreadStorage()
    /// What ends the deliveries under way on the thread, which never return if it exits in one; the innermost last.
    private var unfinished: [() -> Void] = []
    /// The address of the next older record in use.
    private let older = Atomic<UInt>(0)
    private var nextUnused: PostingThread?

    private init() {
        unsafe first = PostingThread.makeFrame()
        unsafe free = first
        // SAFETY: never given back, because a record is never freed.
        _ = unsafe Unmanaged.passRetained(self)
    }

    private static func makeFrame() -> UnsafeMutablePointer<PostingFrame> {
        let frame = UnsafeMutablePointer<PostingFrame>.allocate(capacity: 1)
        unsafe frame.initialize(to: PostingFrame())
        return unsafe frame
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
    func closeAtExit(_ object: any ClosedAtThreadExit) { storage.closeAtExit(object) }

    /// What the thread keeps in a slot until it exits.
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
        let centers = endLevels()
        while let ending = unfinished.popLast() { ending() }
        // What ends here may post, which takes another record.
        while let object = storage.popClosing() { object.close() }
        while let action = storage.exitActions.popLast() { action() }
        let kept = storage
        storage = ThreadStorage()
        withExtendedLifetime(kept) {}
        for center in centers { PostingThread.abandonment.withLock(\.self)?.reclaim(center) }
        PostingThread.unused.withLock { unused in
            unlink()
            nextUnused = unused
            unused = self
        }
    }

    /// Ends the levels of a handler that has ended its thread (`Thread.exit()`), innermost first; returns their centers.
    private func endLevels() -> [UInt] {
        var (level, levels) = unsafe (first, [UnsafeMutablePointer<PostingFrame>]())
        // SAFETY: frames are never freed, and one in use has another behind it.
        while unsafe level != free, let next = unsafe level.pointee.next.load(ordering: .relaxed) {
            unsafe levels.append(level)
            unsafe level = next
        }
        let centers = unsafe levels.map { unsafe $0.pointee.center.load(ordering: .relaxed) }
        let called = unsafe levels.map { unsafe $0.pointee.registration.load(ordering: .relaxed) }
        for registration in called.reversed() { PostingThread.abandonment.withLock(\.self)?.forsake(registration) }
        while let level = unsafe levels.popLast() { unsafe end(level) }
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

    /// Calls `body` at a level of its own on the calling thread: in a post on a center, in an era of it, or in a drain.
    @inline(__always)
    static func withLevel(center: UInt, era: UInt64, _ body: (UnsafeMutablePointer<PostingFrame>) -> Void) {
        let isFirst = unsafe tether_thread_record() == nil
        // SAFETY: records are never freed.
        unsafe unmanagedCurrent._withUnsafeGuaranteedRef { thread in
            let frame = unsafe thread.begin(center: center, era: era)
            unsafe body(frame)
            unsafe thread.end(frame)
        }
        // A destructor of the thread's posts, and may be the last one that is called.
        if isFirst, tether_thread_is_exiting() { tether_end_thread_record() }
    }

    @inline(__always)
    private func begin(center: UInt, era: UInt64) -> UnsafeMutablePointer<PostingFrame> {
        let frame = unsafe free
        // With the load in `earliestPost`: an era that is seen there has the end of the post before it in front of it.
        unsafe frame.pointee.begin.store(era, ordering: .releasing)
        unsafe frame.pointee.center.store(center, ordering: .sequentiallyConsistent)
        unsafe free = frame.pointee.next.load(ordering: .relaxed) ?? PostingThread.addFrame(after: frame)
        return unsafe frame
    }

    @inline(never)
    private static func addFrame(
        after frame: UnsafeMutablePointer<PostingFrame>
    ) -> UnsafeMutablePointer<PostingFrame> {
        let made = unsafe makeFrame()
        unsafe frame.pointee.next.store(made, ordering: .releasing)
        return unsafe made
    }

    /// Announces the registration that is about to be called at a level, after the one that was called there before.
    @inline(__always)
    static func announce(_ registration: UInt, after previous: UInt = 0, at frame: UnsafeMutablePointer<PostingFrame>) {
        unsafe frame.pointee.registration.announce(registration)
        if tether_needs_attention() { attend(after: previous) }
    }

    @inline(__always)
    private func end(_ frame: UnsafeMutablePointer<PostingFrame>) {
        unsafe free = frame
        let previous = unsafe frame.pointee.registration.load(ordering: .relaxed)
        unsafe frame.pointee.registration.announce(0)
        unsafe frame.pointee.center.announce(0)
        if tether_needs_attention() { PostingThread.attend(after: previous) }
    }

    /// What follows the return of a handler where posting threads fence, or while someone waits for one.
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

    /// Calls `body` with every level in use on every thread; with some twice if threads come and go meanwhile.
    private static func forEachFrame(_ body: (borrowing PostingThread, borrowing PostingFrame) -> Void) {
        var address = newest.load(ordering: .sequentiallyConsistent)
        // SAFETY: records and frames are never freed.
        while let known = unsafe UnsafeRawPointer(bitPattern: address) {
            address = unsafe Unmanaged<PostingThread>.fromOpaque(known)._withUnsafeGuaranteedRef { thread in
                var frame: UnsafeMutablePointer<PostingFrame>? = unsafe thread.first
                // Levels above the first free one are free too.
                while let level = unsafe frame, unsafe level.pointee.center.load(ordering: .sequentiallyConsistent) != 0
                {
                    unsafe body(thread, level.pointee)
                    unsafe frame = level.pointee.next.load(ordering: .acquiring)
                }
                return thread.older.load(ordering: .acquiring)
            }
        }
    }

    /// The earliest era in which a post under way on a center began, if there is one.
    static func earliestPost(on center: UInt) -> (era: UInt64, isElsewhere: Bool)? {
        var earliest: UInt64?
        var isElsewhere = false
        // SAFETY: only the identity of the calling thread's record is used.
        let own = unsafe tether_thread_record()
        forEachFrame { thread, frame in
            if frame.center.load(ordering: .acquiring) == center {
                earliest = min(earliest ?? .max, frame.begin.load(ordering: .acquiring))
                if thread.address != UInt(bitPattern: own) { isElsewhere = true }
            }
        }
        return earliest.map { ($0, isElsewhere) }
    }

    /// The threads on which a registration is announced.
    static func threads(running registration: UInt) -> [PostingThread] {
        var running: [PostingThread] = []
        forEachFrame { thread, frame in
            guard frame.registration.load(ordering: .acquiring) == registration else { return }
            if !running.contains(where: { $0 === thread }) { running.append(copy thread) }
        }
        return running
    }
}

extension Atomic<UInt> {
    /// Stores what other threads look for, in front of the look at `tether_attention`.
    ///
    /// On ARM64 that look does not pass this, which is the same instruction as a release there.
    @inline(__always)
    fileprivate borrowing func announce(_ value: UInt) {
        #if arch(arm64) || arch(arm64_32)
        store(value, ordering: .sequentiallyConsistent)
        #else
        store(value, ordering: .releasing)
        #endif
    }
}
