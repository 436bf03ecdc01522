/// A thread's first post takes a record, whose guard is in a table that other threads read without
/// a lock. After the thread's exit, another thread takes the record. The table is read up to the
/// last used guard.
struct ThreadRecords: Modelled {
    let epoch = Location("epoch", initially: 1)
    let slot = Location("slot", initially: 1)
    let hasSenders = Location("hasSenders")
    let lock = Lock("ThreadRecord.pool")
    let count = Location("GuardTable.count")
    /// A place in the table: 1 is a guard.
    let place = Location("place")
    /// The guards 0 and 1.
    let guardEpoch = [Location("0.epoch"), Location("1.epoch")]

    var countStore = Order.sequentiallyConsistent
    var countLoad = Order.sequentiallyConsistent
    /// Whether a thread with a reused record is counted.
    var countsAgain = true

    init(on machine: Machine) {}

    static let code = [
        Code(
            "Tether/Threads/ThreadRecord.swift", "func adopt(", "func exit(", "func setInUse(",
            "GuardTable.shared.setCount(1 + (records.lastIndex(where: \\.isInUse) ?? -1))"),
        Code(
            "Tether/Threads/Reclamation.swift", "func forEachUsed(", "func place(",
            "self.count.store(count, ordering: .sequentiallyConsistent)",
            "count.load(ordering: .sequentiallyConsistent)",
            "known.pointee.epoch.load(ordering: .sequentiallyConsistent)",
            "known.pointee.next.load(ordering: .acquiring)"),
    ]

    /// `ThreadRecord.adopt`, or the end of `exit`: so many guards are read from now on.
    func setCount(_ count: Value) {
        lock.withLock { self.count.store(count, countStore) }
    }

    /// A post, as far as a slot.
    func post(with record: Int) {
        guardEpoch[record].store(1, .sequentiallyConsistent)
        _ = hasSenders.load(.sequentiallyConsistent)
        note("slot of \(record)", slot.load(.sequentiallyConsistent))
    }

    /// `CenterCore.unlink`, and `EpochGuard.earliest`, which reads the whole table.
    func remove() {
        slot.store(0, .sequentiallyConsistent)
        epoch.wrappingAdd(1, .sequentiallyConsistent)
        let count = count.load(countLoad)
        for record in 0..<2 {
            note(
                "epoch of \(record)",
                record < count.number ? guardEpoch[record].load(.sequentiallyConsistent) : 0)
        }
    }

    static let claims: [Claim<ThreadRecords>] = [
        Claim(
            "the first post of a thread is seen by a removal",
            mutants: [
                Mutant("the count is released and acquired only", breaksOn: .language) {
                    $0.countStore = .releasing
                    $0.countLoad = .acquiring
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0["slot of 0"] == 1 && $0["epoch of 0"] == 0 },
                .init("new thread") {
                    code.setCount(1)
                    code.post(with: 0)
                },
                .init("remove") { code.remove() })
        },
        Claim(
            "a record that another thread takes is seen, though the table was shorter meanwhile",
            mutants: [
                Mutant("the count is released and acquired only", breaksOn: .language) {
                    $0.countStore = .releasing
                    $0.countLoad = .acquiring
                },
                Mutant("the thread is not counted again", breaksOn: .all) {
                    $0.countsAgain = false
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0["slot of 1"] == 1 && $0["epoch of 1"] == 0 },
                .init("threads that come and go") {
                    code.setCount(2)
                    code.setCount(1)
                    if code.countsAgain { code.setCount(2) }
                    code.post(with: 1)
                },
                .init("remove") { code.remove() })
        },
        Claim(
            "a guard that is counted is initialised",
            mutants: [
                Mutant("the count is loaded relaxed", breaksOn: .weak) { $0.countLoad = .relaxed },
                Mutant("the count is stored relaxed, without a lock", breaksOn: .weak) {
                    $0.countStore = .relaxed
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0["count"] == 1 && $0["place"] == 0 },
                .init("new thread") {
                    code.place.store(1, .plain)
                    code.count.store(1, code.countStore)
                },
                .init("remove") {
                    note("count", code.count.load(code.countLoad))
                    note("place", code.place.load(.plain))
                })
        },
    ]
}
