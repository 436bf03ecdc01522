internal import Tether

// A test with a center of its own would miss the leak of an owner that a handler captures, because
// such an owner ends with the center. So a scope looks for such owners when a center ends:
//
// - Before the end, near captures are searched. An owner on a circle of captures is reported, even
//   if a local variable of the test still holds the owner: only the end of an observer opens the
//   circle.
// - An owner that its handler reaches over a property is reported if the center's end released the
//   owner. The test may be about to set the property.
// - Any other owner that ended with the release of its handler is reported without a path.
// - A token that its own handler reaches is reported if the center's end released the token.

/// An owner alive at the end of its center, and perhaps kept alive by a handler of the center
/// alone.
struct KeptOwner: Sendable {
    let owner: WatchedObject
    /// Whether captures of handlers alone keep the owner.
    let isCaptured: Bool
    let finding: Finding

    /// An owner reached by its own handler, or by `other`, the handler of another kept owner.
    fileprivate init(
        _ owner: WatchedObject, of registration: WatchedRegistration,
        heldBy other: WatchedRegistration? = nil,
        by path: ReferencePath
    ) {
        let tracked = LeakTracker.Tracked(
            object: owner, label: "\(owner.type)", site: registration.site,
            owned: registration.ownedDescription)
        let holder = other ?? registration
        self.init(
            owner, isCaptured: path.isCapture, of: registration,
            by: holder,
            "\(holder.handlerDescription) \(path.sentence(from: .closure))"
                + (other == nil ? "" : ", and its own owner is retained, too"),
            remedy: other == nil ? SelfCapture.remedy : "Capture it weakly there.",
            holder.picture(path, to: HeapObject(address: owner.address), tracked.lines))
    }

    /// An owner that ended with the release of its handler, though the search found no path.
    init(_ owner: WatchedObject, of registration: WatchedRegistration) {
        self.init(
            owner, isCaptured: true, of: registration,
            by: Memory.isReadable ? registration : nil,
            Memory.isReadable
                ? "\(registration.handlerDescription) captures it, directly, through another handler, "
                    + "or through a value that cannot be inspected"
                : "a handler of the center captures it or its holder. The path is unknown, "
                    + "because this process may not read its own memory",
            remedy: SelfCapture.remedy, LeakPicture(handlerOf: registration).diagram)
    }

    private init(
        _ owner: WatchedObject, isCaptured: Bool, of registration: WatchedRegistration,
        by holder: WatchedRegistration?, _ cause: String,
        remedy: String, _ picture: Diagram
    ) {
        self.owner = owner
        self.isCaptured = isCaptured
        let tracked = LeakTracker.Tracked(
            object: owner, label: "\(owner.type)", site: registration.site,
            owned: registration.ownedDescription)
        finding = Finding(
            message: "\(tracked.subject(besides: holder?.site)) was deallocated only because its "
                + "center was: \(cause). With a center that stays, such as "
                + "ObserverCenter.default, it leaks. \(remedy)",
            site: registration.site, picture: picture)
    }
}

extension KeptOwner {
    private typealias Candidate = (
        registration: WatchedRegistration, owner: WatchedObject, handler: ValueBytes
    )
    private typealias Holder = (candidate: Candidate, path: ReferencePath)

    /// The owners that a center may keep, in the order of its registrations. `owners` has the
    /// living ones by address.
    static func search(
        _ registrations: [WatchedRegistration], owners: [UInt: WatchedObject],
        keptOnPurpose: Set<UInt>, limit: Duration
    ) -> [KeptOwner] {
        let graph = ObjectGraph(until: .after(limit))
        let candidates = registrations.compactMap { registration -> Candidate? in
            guard let owner = registration.owner.flatMap({ owners[$0] }), !owner.hasEnded,
                !keptOnPurpose.contains(owner.address), let handler = registration.handler
            else { return nil }
            return (registration, owner, handler)
        }
        // The near captures of every handler come first, because the search of a large model may
        // use up the time.
        var captures: [UInt: [Holder]] = [:]
        let targets = graph.targets(candidates.map { HeapObject(address: $0.owner.address) })
        for candidate in candidates {
            let paths = graph.paths(
                from: ReferencePath.roots(candidate.handler), to: targets, lookingInto: 32)
            for (end, path) in paths where path.isCapture {
                captures[end.address, default: []].append((candidate, path))
            }
        }
        let circles = behindCircles(captures)
        var kept: [UInt: KeptOwner] = [:]
        for (registration, owner, handler) in candidates where kept[owner.address] == nil {
            let holders = circles.contains(owner.address) ? captures[owner.address] ?? [] : []
            if let own = holders.first(where: { $0.candidate.owner === owner }) {
                kept[owner.address] = KeptOwner(owner, of: own.candidate.registration, by: own.path)
            } else if let other = holders.first(where: {
                circles.contains($0.candidate.owner.address)
            }) {
                kept[owner.address] = KeptOwner(
                    owner, of: registration, heldBy: other.candidate.registration, by: other.path)
            } else if let path = graph.path(from: handler, to: HeapObject(address: owner.address)) {
                kept[owner.address] = KeptOwner(owner, of: registration, by: path)
            }
        }
        // An owner that ended meanwhile did not need the center's end.
        return candidates.compactMap { kept.removeValue(forKey: $0.owner.address) }.filter {
            !$0.owner.hasEnded
        }
    }

    /// The owners on circles of captures, or captured behind one. Found by a topological sort,
    /// which removes each owner that no handler of a remaining owner captures. What remains is on a
    /// circle, or behind one.
    private static func behindCircles(_ captures: [UInt: [Holder]]) -> Set<UInt> {
        var captured: [UInt: [UInt]] = [:]
        var counts = captures.mapValues(\.count)
        for (end, holders) in captures {
            for holder in holders {
                captured[holder.candidate.owner.address, default: []].append(end)
            }
        }
        var removed = captured.keys.filter { counts[$0] == nil }
        while let owner = removed.popLast() {
            for end in captured[owner] ?? [] {
                counts[end, default: 0] -= 1
                if counts[end] == 0 { removed.append(end) }
            }
        }
        return Set(counts.lazy.filter { $0.value > 0 }.map(\.key))
    }
}

/// The token of an observer without an owner, perhaps kept alive by the observer's own handler
/// alone.
struct KeptToken: Sendable {
    private let registration: WatchedRegistration
    let finding: Finding

    var hasEnded: Bool { registration.token == nil }

    /// The tokens that a center may keep.
    static func search(_ registrations: [WatchedRegistration], limit: Duration) -> [KeptToken] {
        let graph = ObjectGraph(until: .after(limit))
        return registrations.compactMap { registration in
            guard registration.owner == nil, registration.work == nil, !registration.isRunning,
                registration.pending.count == 0, let token = registration.token,
                let handler = registration.handler,
                let path = graph.path(from: handler, to: HeapObject(address: token.address))
            else { return nil }
            return KeptToken(registration, path)
        }
    }

    private init(_ registration: WatchedRegistration, _ path: ReferencePath) {
        self.registration = registration
        var picture = LeakPicture(handlerOf: registration)
            .following(path, from: .closure, to: registration.tokenLines)
        picture.close("keeps, while it lives")
        let holder = path.firstHolder ?? "it"
        finding = Finding(
            message:
                "\(registration.description) ended only because its center was deallocated: its "
                + "own handler \(path.sentence(from: .closure, calling: "this observer's token")). "
                + "With a center that stays, such as ObserverCenter.default, it leaks. Capture "
                + "\(holder) weakly there, or cancel() the observer before the test ends.",
            site: registration.site, picture: picture.diagram)
    }
}
