internal import COwnerLifetime
internal import Synchronization

/// The record of a thread that has posted: its epoch guards, and objects of other parts that live as long as the thread.
///
/// A thread takes a record when it first needs one, and gives it back when it exits. Records are used again, and never freed: there are
/// as many as threads have had one at the same time. A new thread takes the lowest free number, so that the guards in use stay at
/// the front of the table (see `GuardTable`), and a removal does not pay for threads that have exited.
///
/// A thread-local variable leads to the record. A key of the C library's sees the exit; in a program that has used up these keys, no
/// exit is seen, and the records of exited threads stay in use.
///
/// SAFETY: only the record's thread reads or writes what is not constant. The pool's lock passes the record to the next thread.
@safe final class ThreadRecord: @unchecked Sendable {
    /// All records, by their numbers, and which of the first ones running threads have.
    private struct Pool: Sendable {
        var records: [ThreadRecord] = []
        /// Ends with a record in use.
        var isInUse: [Bool] = []
    }

    private static let pool = Locked(Pool())

    private let number: Int
    /// The first guard that is free; those behind it are, too.
    private var firstFree: UnsafeMutablePointer<EpochGuard>
    /// The actions at the exit.
    private var exitActions: [@Sendable () -> Void] = []
    /// Objects to be closed at the exit.
    private var closing: [Closing] = []
    /// How long `closing` may become before objects that were deallocated are removed from it.
    private var closingLimit = 8
    /// The values by the indices of their slots.
    private var values: [AnyObject?] = []

    private struct Closing { weak var object: (any ClosedAtThreadExit)? }

    private init(number: Int) {
        self.number = number
        unsafe firstFree = GuardTable.shared.makePlace(number: number)
        unsafe firstFree.initialize(to: EpochGuard(of: self))
    }

    /// The calling thread's record. Complexity: O(1), but for the thread's first call.
    static var current: ThreadRecord { unsafe unmanagedCurrent.takeUnretainedValue() }

    /// The same, not retained.
    @inline(__always)
    private static var unmanagedCurrent: Unmanaged<ThreadRecord> {
        // SAFETY: the thread's variable holds a record, which is never freed.
        if let known = unsafe tether_thread_record() { return unsafe .fromOpaque(known) }
        return unsafe .passUnretained(adopt())
    }

    @inline(never)
    private static func adopt() -> ThreadRecord {
        let record = pool.withLock { pool in
            let number = pool.isInUse.firstIndex(of: false) ?? pool.isInUse.count
            if number == pool.records.count { pool.records.append(ThreadRecord(number: number)) }
            if number == pool.isInUse.count { pool.isInUse.append(true) } else { pool.isInUse[number] = true }
            GuardTable.shared.setCount(pool.isInUse.count)
            return pool.records[number]
        }
        // SAFETY: the pool keeps the record. The function is called on this thread.
        unsafe tether_set_thread_record(Unmanaged.passUnretained(record).toOpaque()) { record in
            unsafe Unmanaged<ThreadRecord>.fromOpaque(record).takeUnretainedValue().exit()
        }
        return record
    }

    private func exit() {
        // An object that is released here may post, and its thread then takes another record.
        while let last = closing.popLast() { last.object?.close() }
        while let action = exitActions.popLast() { action() }
        let released = values
        values = []
        withExtendedLifetime(released) {}
        ThreadRecord.pool.withLock { pool in
            pool.isInUse[number] = false
            while pool.isInUse.last == false { pool.isInUse.removeLast() }
            GuardTable.shared.setCount(pool.isInUse.count)
        }
    }

    // MARK: Posts

    /// Calls `body` with a guard of the calling thread, for a post of a center in its epoch, or for a block.
    @inline(__always)
    static func withGuard(center: UInt, epoch: UInt64, _ body: (UnsafeMutablePointer<EpochGuard>) -> Void) {
        let isFirst = unsafe tether_thread_record() == nil
        // SAFETY: records and guards are never freed.
        unsafe unmanagedCurrent._withUnsafeGuaranteedRef { record in
            let epochGuard = unsafe record.firstFree
            unsafe epochGuard.pointee.begin(center: center, epoch: epoch)
            unsafe record.firstFree =
                epochGuard.pointee.next.load(ordering: .relaxed) ?? addGuard(inside: epochGuard)
            unsafe body(epochGuard)
            unsafe record.firstFree = epochGuard
            unsafe epochGuard.pointee.end()
        }
        // A destructor of the thread has posted, maybe after the key's destructor was called for the last time.
        if isFirst, tether_thread_is_exiting() { tether_end_thread_record() }
    }

    @inline(never)
    private static func addGuard(inside outer: UnsafeMutablePointer<EpochGuard>) -> UnsafeMutablePointer<EpochGuard> {
        let made = UnsafeMutablePointer<EpochGuard>.allocate(capacity: 1)
        unsafe made.initialize(to: EpochGuard(of: outer.pointee.record.takeUnretainedValue(), inside: outer))
        unsafe outer.pointee.next.store(made, ordering: .releasing)
        return unsafe made
    }

    /// The guard of the thread's innermost post or block.
    private var innermost: UnsafeMutablePointer<EpochGuard>? { unsafe firstFree.pointee.outer }

    /// The registrations that the thread is calling, the outermost first; 0 for a post that is not calling one yet.
    var calledRegistrations: [UInt] {
        var (epochGuard, registrations) = unsafe (innermost, [UInt]())
        // SAFETY: guards are never freed.
        while let known = unsafe epochGuard {
            unsafe registrations.append(known.pointee.registration.load(ordering: .relaxed))
            unsafe epochGuard = known.pointee.outer
        }
        return registrations.reversed()
    }

    // MARK: What lives with the thread

    /// Adds an action for the thread's exit. The last one is called first.
    func atExit(_ action: @escaping @Sendable () -> Void) { exitActions.append(action) }

    /// Has an object closed when the thread exits, if it is still there. Complexity: O(1) amortised.
    func closeAtExit(_ object: any ClosedAtThreadExit) {
        closing.append(Closing(object: object))
        guard closing.count > closingLimit else { return }
        // Each may have been deallocated but for this reference. So they are released at the end, when nothing is accessed.
        let living = closing.compactMap(\.object)
        closing = living.map { Closing(object: $0) }
        closingLimit = max(8, living.count * 2)
        withExtendedLifetime(living) {}
    }

    /// The value that the thread has in a slot until it exits. Complexity: O(1).
    subscript<Value>(slot: ThreadSlot<Value>) -> Value? {
        get {
            guard slot.index < values.count, let value = values[slot.index] else { return nil }
            // SAFETY: only this subscript fills the slot, with values of its type.
            return unsafe unsafeDowncast(value, to: Value.self)
        }
        set {
            while values.count <= slot.index { values.append(nil) }
            values[slot.index] = newValue
        }
    }
}

/// An object that is closed when the thread exits that made it.
protocol ClosedAtThreadExit: AnyObject, Sendable {
    func close()
}

/// A place of a type of which every thread has one. Made once, as a static constant.
struct ThreadSlot<Value: AnyObject>: Sendable {
    fileprivate let index = slotCount.wrappingAdd(1, ordering: .relaxed).oldValue
}

private let slotCount = Atomic<Int>(0)
