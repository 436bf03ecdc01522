internal import Foundation
internal import Tether

/// An object that is left, which is not held to find out by whom it is.
struct LeftObject {
    let heap: HeapObject
    /// How many strong references to it there are.
    let count: Int

    /// Describes a watched object; `nil` if it has ended.
    init?(_ object: WatchedObject) {
        guard let count = object.strongCount else { return nil }
        self.init((object.address, count))
    }

    init(_ token: (address: UInt, strongCount: Int)) {
        heap = HeapObject(address: token.address)
        count = token.strongCount
    }
}

/// The holders of objects that are left: handlers, pending notifications, and objects that are left themselves.
///
/// One graph and one search for each of them answers for all that is left.
final class Holders {
    private let graph: ObjectGraph
    private let registrations: [WatchedRegistration]
    private let objects: [(LeakTracker.Tracked, LeftObject)]
    private let targets: ObjectGraph.Targets

    init(
        registrations: [WatchedRegistration], objects: [(LeakTracker.Tracked, LeftObject)], targets: [HeapObject],
        limit: Duration
    ) {
        graph = ObjectGraph(until: .after(limit))
        self.registrations = registrations
        self.objects = objects
        self.targets = graph.targets(targets)
    }

    /// What was found of a target: the first place where a search began that led to it, and its own, if there is one.
    private struct Found<Place> {
        var first: (place: Place, path: ReferencePath)?
        var own: (place: Place, path: ReferencePath)?
    }

    /// Searches from each place, which may have a target of its own, in order.
    private func find<Place>(
        from places: [(place: Place, own: HeapObject?)],
        _ search: (Place, _ isWanted: (HeapObject) -> Bool) -> [HeapObject: ReferencePath]
    ) -> [HeapObject: Found<Place>] {
        var found: [HeapObject: Found<Place>] = [:]
        for (place, ownTarget) in places {
            for (target, path) in search(place, { $0 == ownTarget ? found[$0]?.own == nil : found[$0]?.first == nil }) {
                if target == ownTarget {
                    found[target, default: Found()].own = (place, path)
                } else {
                    found[target, default: Found()].first = (place, path)
                }
            }
        }
        return found
    }

    /// Whether something was not looked at because the time was over.
    var isExhausted: Bool { graph.isExhausted }

    /// Whether something was not looked at because a collection has more than is looked into.
    var isCut: Bool { graph.isCut }

    /// How many objects were looked into.
    var count: Int { graph.count }

    // MARK: Handlers

    /// The paths from the handlers, in the order in which they were registered; its own target is a handler's token.
    private lazy var handlers = find(
        from: registrations.map { registration in
            (registration, own: registration.token.map { HeapObject(address: $0.address) })
        }
    ) { registration, isWanted in
        registration.handler.map { graph.paths(from: ReferencePath.roots($0), to: targets, where: isWanted) } ?? [:]
    }

    /// The handler that holds a target, and how: of a token that of its own registration, or else the first one.
    func handler(of target: HeapObject) -> (WatchedRegistration, ReferencePath)? {
        handlers[target].flatMap { $0.own ?? $0.first }
    }

    // MARK: Pending notifications

    private lazy var notifications = find(
        from: registrations.flatMap { registration in
            registration.pendingNotifications.map { ((registration, $0), own: nil) }
        }
    ) { place, isWanted in
        let roots =
            ReferencePath.roots(place.1.object).map { $0.inside("object") }
            + ReferencePath.roots(place.1.userInfo).map { $0.inside("userInfo") }
        return graph.paths(from: roots, to: targets, where: isWanted)
    }

    /// The first pending notification that holds a target, and how.
    func notification(of target: HeapObject) -> (WatchedRegistration, Notification.Name, ReferencePath)? {
        notifications[target]?.first.map { ($0.place.0, $0.place.1.name, $0.path) }
    }

    // MARK: Objects

    /// The paths from the objects that are left.
    private lazy var holding = find(from: objects.map { ($0, own: $0.1.heap) }) { place, isWanted in
        graph.paths(from: place.1.heap, to: targets, where: isWanted)
    }

    /// The way from a target back to it.
    func cycle(through target: HeapObject) -> ReferencePath? { holding[target]?.own?.path }

    /// The first object that holds a target, other than that itself, and how.
    func object(of target: HeapObject) -> (LeakTracker.Tracked, ReferencePath)? {
        holding[target]?.first.map { ($0.place.0, $0.path) }
    }
}
