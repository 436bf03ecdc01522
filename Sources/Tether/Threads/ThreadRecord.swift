internal import COwnerLifetime
internal import Synchronization

/// The record of a posting thread: its epoch guards, and objects of other parts with the lifetime
/// of the thread.
///
/// A thread takes a record when it first needs one, and returns the record at its exit. Records are
/// reused and never freed. A new thread takes the lowest free number, so the guards in use stay at
/// the front of the `GuardTable`, and a removal does not pay for exited threads. There are as many
/// records as threads have had a record at the same time.
///
/// A thread-local variable has the record. A key of the C library reports the thread's exit. In a
/// program that has used up these keys no exit is seen, and the records of exited threads stay in
/// use.
///
/// SAFETY: the pool's lock protects `isInUse`, and passes the record on. Only the record's thread
/// reads or writes the other variables.
@safe final class ThreadRecord: @unchecked Sendable {
    /// All records, in the order of their guards in the table.
    private static let pool = Locked<[ThreadRecord]>([])

    /// Whether a running thread has the record. Protected by the pool's lock.
    private var isInUse = false
    /// The first free guard; the guards behind are free, too. A post takes it by `withGuard`, in
    /// Reclamation.swift.
    var firstFree: UnsafeMutablePointer<EpochGuard>
    /// The objects with the lifetime of the thread, by their classes.
    private var objects: [ObjectIdentifier: AnyObject] = [:]
    private var exitActions: [(hasObjectEnded: () -> Bool, run: () -> Void)] = []
    /// How many exit actions there may be before those of deallocated objects are removed.
    private var exitActionLimit = 8

    private init(number: Int) {
        unsafe firstFree = GuardTable.shared.place(number: number)
        unsafe firstFree.initialize(to: EpochGuard(of: self))
    }

    /// The calling thread's record. Complexity: O(1), but for the thread's first call.
    static var current: ThreadRecord { unsafe unmanagedCurrent.takeUnretainedValue() }

    /// The calling thread's record, not retained.
    @inline(__always)
    static var unmanagedCurrent: Unmanaged<ThreadRecord> {
        // SAFETY: the thread's variable has a record, and records are never freed.
        if let known = unsafe tether_thread_record() { return unsafe .fromOpaque(known) }
        return unsafe .passUnretained(adopt())
    }

    @inline(never)
    private static func adopt() -> ThreadRecord {
        let record = pool.withLock { records in
            let number = records.firstIndex { !$0.isInUse } ?? records.count
            if number == records.count { records.append(ThreadRecord(number: number)) }
            records[number].setInUse(true, among: records)
            return records[number]
        }
        // SAFETY: the pool retains the record. The function is called on this thread, at its exit.
        unsafe tether_set_thread_record(Unmanaged.passUnretained(record).toOpaque()) { record in
            unsafe Unmanaged<ThreadRecord>.fromOpaque(record).takeUnretainedValue().exit()
        }
        return record
    }

    private func exit() {
        // An object released here may post. The thread then takes another record.
        while let last = exitActions.popLast() { last.run() }
        _ = exchange(&objects, with: [:])
        ThreadRecord.pool.withLock { setInUse(false, among: $0) }
    }

    private func setInUse(_ isInUse: Bool, among records: [ThreadRecord]) {
        self.isInUse = isInUse
        GuardTable.shared.setCount(1 + (records.lastIndex(where: \.isInUse) ?? -1))
    }

    // MARK: Objects with the thread's lifetime

    /// Calls an action with an object when the thread exits, if the object still exists. The last
    /// action runs first.
    ///
    /// Complexity: O(1) amortised.
    func atExit<Object: AnyObject & Sendable>(
        _ object: Object, _ action: @escaping @Sendable (Object) -> Void
    ) {
        let reference = Unowned(object)
        exitActions.append(
            (hasObjectEnded: { reference.hasEnded }, run: { reference.retained.map(action) }))
        guard exitActions.count > exitActionLimit else { return }
        exitActions.removeAll { $0.hasObjectEnded() }
        exitActionLimit = max(8, exitActions.count * 2)
    }

    /// The thread's object of a class, until the thread exits. Complexity: O(1).
    subscript<Object: AnyObject>(type: Object.Type) -> Object? {
        // SAFETY: only this subscript adds objects, by their classes.
        get { objects[ObjectIdentifier(type)].map { unsafe unsafeDowncast($0, to: type) } }
        set { objects[ObjectIdentifier(type)] = newValue }
    }
}
