/// The executions of chosen runs of the threads: every way for reads to find writes, and every
/// order of the writes to each location.
struct Candidates {
    private var events: [Event] = []
    private var programOrder: Relation
    private let threadCount: Int
    /// The write of each location's first value.
    private var initial: [Location.Number: Int] = [:]
    private var writes: [Location.Number: [Int]] = [:]

    init(_ runs: [Run], locations: [Location]) {
        threadCount = runs.count
        for (thread, run) in runs.enumerated() {
            for event in run.events {
                var event = event
                event.thread = thread
                events.append(event)
            }
        }
        for location in locations {
            initial[location.number] = events.count
            events.append(
                Event(
                    kind: .write, order: .plain, location: location.number, value: location.initial)
            )
        }
        precondition(events.count <= 64, "A scenario has at most 64 events.")
        programOrder = Relation(count: events.count)
        for one in events.indices {
            for other in events.indices where events[other].thread >= 0 {
                let isLater =
                    events[one].thread == events[other].thread
                    && events[one].position < events[other].position
                // A location's first value comes before every access to the location.
                let isFirst =
                    events[one].isInitial && events[one].location == events[other].location
                if isLater || isFirst { programOrder.insert(one, other) }
            }
            if events[one].isWrite, !events[one].isInitial {
                writes[events[one].location, default: []].append(one)
            }
        }
    }

    /// Calls `body` with every coherent execution, until it returns false.
    func visit(_ body: (Execution) -> Bool) {
        let reads = events.indices.filter { events[$0].isRead }
        _ = chooseSources(reads[...], source: Array(repeating: -1, count: events.count), body)
    }

    private func chooseSources(_ reads: ArraySlice<Int>, source: [Int], _ body: (Execution) -> Bool)
        -> Bool
    {
        guard let read = reads.first else {
            return orderWrites(
                Array(writes.keys)[...], source: source, Relation(count: events.count), body)
        }
        let location = events[read].location
        for write in [initial[location]!] + writes[location, default: []] {
            guard events[write].value == events[read].value, !programOrder[read, write] else {
                continue
            }
            var source = source
            source[read] = write
            if !chooseSources(reads.dropFirst(), source: source, body) { return false }
        }
        return true
    }

    private func orderWrites(
        _ locations: ArraySlice<Location.Number>, source: [Int], _ coherence: Relation,
        _ body: (Execution) -> Bool
    ) -> Bool {
        guard let location = locations.first else { return finish(source: source, coherence, body) }
        return order(
            writes[location, default: []], after: [initial[location]!], source: source
        ) { sequence in
            var coherence = coherence
            for (index, write) in sequence.enumerated() {
                for later in sequence[(index + 1)...] { coherence.insert(write, later) }
            }
            return orderWrites(locations.dropFirst(), source: source, coherence, body)
        }
    }

    /// Calls `body` with every order of a location's writes. An order keeps the order of each
    /// thread, and a read-modify-write directly follows the write that it read.
    private func order(_ left: [Int], after sequence: [Int], source: [Int], _ body: ([Int]) -> Bool)
        -> Bool
    {
        if left.isEmpty { return body(sequence) }
        for write in left where !left.contains(where: { programOrder[$0, write] }) {
            // The read half is directly before the write half.
            if events[write].isExclusive, source[write - 1] != sequence.last { continue }
            if !order(left.filter { $0 != write }, after: sequence + [write], source: source, body)
            {
                return false
            }
        }
        return true
    }

    private func finish(source: [Int], _ coherence: Relation, _ body: (Execution) -> Bool) -> Bool {
        var readsFrom = Relation(count: events.count)
        var fromReads = Relation(count: events.count)
        for read in events.indices where events[read].isRead {
            readsFrom.insert(source[read], read)
            fromReads.insert(read, all: coherence.rows[source[read]])
        }
        let execution = Execution(
            events: events, threadCount: threadCount, programOrder: programOrder,
            readsFrom: readsFrom,
            coherence: coherence, fromReads: fromReads, source: source)
        return execution.isCoherent ? body(execution) : true
    }
}
