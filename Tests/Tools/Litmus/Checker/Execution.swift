/// A candidate execution: each thread's accesses, the write that each read found, and the order of
/// the writes to each location. A memory model decides whether the execution is possible.
struct Execution {
    let events: [Event]
    let threadCount: Int
    /// The events of a thread, in its order.
    let programOrder: Relation
    /// From a write to the reads of its value.
    let readsFrom: Relation
    /// From a write to the later writes to the same location.
    let coherence: Relation
    /// From a read to the writes after the write that the read found.
    let fromReads: Relation
    /// The write that each read found, by the read's index.
    let source: [Int]

    var count: Int { events.count }
    var indices: Range<Int> { events.indices }

    func isBetweenThreads(_ one: Int, _ other: Int) -> Bool {
        events[one].thread != events[other].thread
    }

    /// Whether two accesses are to the same location.
    func isSameLocation(_ one: Int, _ other: Int) -> Bool {
        events[one].isAccess && events[other].isAccess
            && events[one].location == events[other].location
    }

    /// The write half of a read-modify-write, by the index of its read.
    func partner(of read: Int) -> Int? {
        events[read].partner.map { read - events[read].position + $0 }
    }

    /// The indices of a thread's events.
    func events(of thread: Int) -> [Int] { indices.filter { events[$0].thread == thread } }

    /// The condition of all models: the accesses to each location have one order.
    var isCoherent: Bool {
        var order = programOrder.filter(isSameLocation)
        order.formUnion(readsFrom)
        order.formUnion(coherence)
        order.formUnion(fromReads)
        return order.isAcyclic
    }

    /// The execution as text.
    func description(threads: [String], locations: [Location.Number: String]) -> String {
        threads.indices.map { thread in
            let steps = events(of: thread).map { index -> String in
                let event = events[index]
                let name = locations[event.location] ?? ""
                switch event.kind {
                case .read:
                    let from = events[source[index]]
                    let writer = from.isInitial ? "the start" : threads[from.thread]
                    return "\(name) is \(event.value), from \(writer)"
                case .write: return "\(name) = \(event.value)"
                case .fence: return "fence"
                case .fenceOfAllThreads: return "fence of all threads"
                case .signalFence: return "signal fence"
                }
            }
            return "        \(threads[thread]): \(steps.joined(separator: "; "))"
        }.joined(separator: "\n")
    }
}
