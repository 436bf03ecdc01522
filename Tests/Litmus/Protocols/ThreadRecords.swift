/// A thread that posts for the first time links a record, which others look through without a lock; when it exits, the
/// record is unlinked, and used again by another thread.
///
/// That no record in use is passed over while others come and go is `RecordList`'s matter; here it is whether a new record
/// and what it says are seen at all.
struct ThreadRecords: Modelled {
    let epoch = Location("epoch", initially: 1)
    let slot = Location("slot", initially: 1)
    let newest = Location("newest")
    let hasSenders = Location("hasSenders")
    let lock = Lock("PostingThread.unused")
    /// The records 1 and 2.
    let older = [Location("1.older"), Location("2.older")]
    let center = [Location("1.center"), Location("2.center")]

    var newestStore = Order.sequentiallyConsistent
    var newestLoad = Order.sequentiallyConsistent
    var olderStore = Order.releasing
    var olderLoad = Order.acquiring
    var linksFirst = false

    init(on machine: Machine) {}

    static let code = [
        Code(
            "Tether/Threads/PostingThread.swift", "func adopt(", "func exit(", "func unlink(", "func forEachPin(",
            "record.older.store(newest.load(ordering: .relaxed), ordering: .releasing)",
            "newest.store(record.address, ordering: .sequentiallyConsistent)",
            "newest.load(ordering: .sequentiallyConsistent)", "thread.older.load(ordering: .acquiring)")
    ]

    /// `PostingThread.adopt`
    func adopt(_ record: Int) {
        lock.withLock {
            let next = newest.load(.relaxed)
            if linksFirst { newest.store(Value(record), newestStore) }
            older[record - 1].store(next, olderStore)
            if !linksFirst { newest.store(Value(record), newestStore) }
        }
    }

    /// `PostingThread.unlink`, of the newest record.
    func unlinkNewest(_ record: Int) {
        lock.withLock { newest.store(older[record - 1].load(.relaxed), newestStore) }
    }

    /// A post, as far as a slot.
    func post(with record: Int) {
        center[record - 1].store(1, .sequentiallyConsistent)
        _ = hasSenders.load(.sequentiallyConsistent)
        note("slot of \(record)", slot.load(.sequentiallyConsistent))
    }

    /// `PostingThread.oldestPin`, through the whole list.
    func look() {
        slot.store(0, .sequentiallyConsistent)
        epoch.wrappingAdd(1, .sequentiallyConsistent)
        var record = newest.load(newestLoad)
        var visited = 0
        while record.number != 0, visited < 3 {
            visited += 1
            let index = record.number - 1
            note("center of \(index + 1)", center[index].load(.sequentiallyConsistent, through: record))
            record = older[index].load(olderLoad, through: record)
        }
        note("ended", record.number == 0 ? 1 : 0)
    }

    static let claims: [Claim<ThreadRecords>] = [
        Claim(
            "the first post of a thread is seen by who looks for posts",
            mutants: [
                Mutant("the newest record is released and acquired only", breaksOn: .language) {
                    $0.newestStore = .releasing
                    $0.newestLoad = .acquiring
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0["slot of 1"] == 1 && $0["center of 1"] != 1 && $0["ended"] == 1 },
                .init("new thread") {
                    code.adopt(1)
                    code.post(with: 1)
                },
                .init("look") { code.look() })
        },
        Claim(
            "a record that leads to another one, and is used again, hides none",
            mutants: [
                Mutant("a record is linked before it leads on", breaksOn: .all) { $0.linksFirst = true },
                Mutant("the newest record is released and acquired only", breaksOn: .language) {
                    $0.newestStore = .releasing
                    $0.newestLoad = .acquiring
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0["slot of 2"] == 1 && $0["center of 2"] != 1 && $0["ended"] == 1 },
                .init("threads that come and go") {
                    code.adopt(2)
                    code.post(with: 2)
                    // Record 1 is in front of it, goes, and comes again.
                    code.adopt(1)
                    code.unlinkNewest(1)
                    code.adopt(1)
                },
                .init("look") { code.look() })
        },
    ]
}
