internal import Tether

/// The search, at a center's end, for owners that go only because the center does: a test with a center of its own would
/// not see the leak.
struct CenterEndSearch {
    private struct Candidate {
        let registration: WatchedRegistration
        let owner: WatchedObject
        let handler: ValueBytes

        var heap: HeapObject { HeapObject(address: owner.address) }
    }

    /// From an owner to another one that a handler of its leads to: that one lives as long as this does. There may be as many
    /// as pairs of owners.
    private struct Way {
        /// The place of the candidate whose handler it is.
        let start: Int
        let end: UInt
    }

    /// The registrations with owners that are alive, and not meant to stay.
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

    /// The owners that may be kept, in the order of their registrations.
    func keptOwners() -> [KeptOwner] {
        var kept = [KeptOwner?](repeating: nil, count: candidates.count)
        var known = Set<UInt>()
        func keep(_ owner: KeptOwner, at index: Int) {
            kept[index] = owner
            known.insert(owner.owner.address)
        }
        // What each handler captures, before what all of that leads to: a large model takes the time of its own search.
        for (index, candidate) in candidates.enumerated() {
            if let near = graph.path(from: candidate.handler, to: candidate.heap, lookingInto: 32) {
                keep(KeptOwner(candidate.owner, of: candidate.registration, by: near), at: index)
            }
        }
        let left = candidates.enumerated().filter { !known.contains($0.element.owner.address) }
        var ways: [Way] = []
        let targets = graph.targets(left.map(\.element.heap))
        for (index, candidate) in left {
            // Of what may be very many ways only those that are told of are made up.
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
        // What ended meanwhile did without the center's end.
        return kept.compactMap(\.self).filter { !$0.owner.hasEnded }
    }

    /// The way to each owner from one that it keeps itself, directly or through others, by what its handlers capture; none if
    /// there is no time left.
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

    /// Why a search that found nothing may have missed something; `nil` if it has seen all.
    private func untold() -> String? {
        if !Memory.isReadable { return "this process may not read its own memory" }
        if graph.isExhausted {
            return "the limit for explanations, less what earlier centers of this test took of it, \(limit), was "
                + "reached after \(graph.count) objects; set a longer one (explanation:)"
        }
        return nil
    }
}
