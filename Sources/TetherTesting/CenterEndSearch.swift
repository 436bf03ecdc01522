internal import Tether

/// Searches, when a center ends, for owners kept by handlers of the center. A test with a center of its own would
/// otherwise miss the leak, because the owners end with the center.
struct CenterEndSearch {
    private struct Candidate {
        let registration: WatchedRegistration
        let owner: WatchedObject
        let handler: ValueBytes

        var heap: HeapObject { HeapObject(address: owner.address) }
    }

    /// A connection from an owner to an owner that a handler of the first one reaches, and so keeps alive. There may be
    /// a way for each pair of owners.
    private struct Way {
        /// The index of the candidate with the handler.
        let start: Int
        let end: UInt
    }

    /// The registrations with an owner that is alive and not kept on purpose.
    private let candidates: [Candidate]
    private let graph: ObjectGraph
    private let limit: Duration

    /// Prepares a search among the live registrations of a center.
    init(
        _ registrations: [WatchedRegistration], owners: [UInt: WatchedObject], keptOnPurpose: Set<UInt>, limit: Duration
    ) {
        self.limit = limit
        graph = ObjectGraph(until: .after(limit))
        candidates = registrations.compactMap { registration in
            guard let owner = registration.owner.flatMap({ owners[$0] }), !owner.hasEnded,
                !keptOnPurpose.contains(owner.address), let handler = registration.handler
            else { return nil }
            return Candidate(registration: registration, owner: owner, handler: handler)
        }
    }

    /// The owners that the center may keep, in the order of their registrations.
    func keptOwners() -> [KeptOwner] {
        var kept = [KeptOwner?](repeating: nil, count: candidates.count)
        var known = Set<UInt>()
        func keep(_ owner: KeptOwner, at index: Int) {
            kept[index] = owner
            known.insert(owner.owner.address)
        }
        // The near captures of every handler come first, because the search of a large model may use up the time.
        for (index, candidate) in candidates.enumerated() {
            if let near = graph.path(from: candidate.handler, to: candidate.heap, lookingInto: 32) {
                keep(KeptOwner(candidate.owner, of: candidate.registration, by: near), at: index)
            }
        }
        let left = candidates.enumerated().filter { !known.contains($0.element.owner.address) }
        var ways: [Way] = []
        let targets = graph.targets(left.map(\.element.heap))
        for (index, candidate) in left {
            // Paths are built only to the candidate's own owner, because the ways may be very many.
            let paths = graph.paths(from: ReferencePath.roots(candidate.handler), to: targets) { end in
                ways.append(Way(start: index, end: end.address))
                return end == candidate.heap
            }
            if let path = paths[candidate.heap] {
                keep(KeptOwner(candidate.owner, of: candidate.registration, by: path), at: index)
            }
        }
        let lastWays = lastWays(ofCyclesIn: ways)
        for (index, candidate) in left where !known.contains(candidate.owner.address) {
            guard let last = lastWays[candidate.owner.address].map({ candidates[$0.start] }),
                let path = graph.path(from: last.handler, to: candidate.heap)
            else { continue }
            let registration = candidate.registration
            keep(KeptOwner(candidate.owner, of: registration, heldBy: last.registration, by: path), at: index)
        }
        if let reason = untold() {
            for (index, candidate) in left where !known.contains(candidate.owner.address) {
                keep(KeptOwner(candidate.owner, of: candidate.registration, untold: reason), at: index)
            }
        }
        // An owner that ended meanwhile did not need the center's end.
        return kept.compactMap(\.self).filter { !$0.owner.hasEnded }
    }

    /// For each owner on a cycle through captures of handlers, a way on the cycle that leads to the owner; empty after
    /// the deadline.
    private func lastWays(ofCyclesIn ways: [Way]) -> [UInt: Way] {
        func start(of way: Way) -> UInt { candidates[way.start].owner.address }
        var components = StrongComponents<UInt>()
        for (number, way) in ways.enumerated() {
            if number % 1024 == 0, graph.isOver() { return [:] }
            components.connect(start(of: way), to: way.end)
        }
        let component = components.numbers()
        return ways.reduce(into: [:]) { last, way in
            let isOnCycle = component[start(of: way)] == component[way.end]
            if isOnCycle, last[way.end] == nil { last[way.end] = way }
        }
    }

    /// The reason why a search may have missed an owner; `nil` after a complete search.
    private func untold() -> String? {
        if !Memory.isReadable { return "this process may not read its own memory" }
        if graph.isExhausted {
            return "the limit for explanations, less what earlier centers of this test took of it, \(limit), was "
                + "reached after \(graph.count) objects; set a longer one (explanation:)"
        }
        return nil
    }
}
