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

    /// What was found from each place where a search began, by target: so that telling of a target costs what holds it.
    private typealias Found<Place> = [HeapObject: [(place: Place, path: ReferencePath)]]

    private func find<Place>(from places: [(Place, paths: [HeapObject: ReferencePath])]) -> Found<Place> {
        var found: Found<Place> = [:]
        for (place, paths) in places {
            for (target, path) in paths { found[target, default: []].append((place, path)) }
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

    /// The paths from the handlers, in the order in which they were registered.
    private lazy var handlers = find(
        from: registrations.compactMap { registration in
            registration.handler.map { (registration, paths: graph.paths(from: ReferencePath.roots($0), to: targets)) }
        })

    /// The first handler that holds a target, or the one of a registration if that does, and how.
    func handler(
        of target: HeapObject, preferring preferred: WatchedRegistration? = nil
    ) -> (WatchedRegistration, ReferencePath)? {
        let holders = handlers[target] ?? []
        return holders.first { $0.place === preferred } ?? holders.first
    }

    // MARK: Pending notifications

    private lazy var notifications = find(
        from: registrations.flatMap { registration in
            registration.pendingNotifications.map { notification in
                let roots =
                    ReferencePath.roots(notification.object).map { $0.inside("object") }
                    + ReferencePath.roots(notification.userInfo).map { $0.inside("userInfo") }
                return ((registration, notification.name), paths: graph.paths(from: roots, to: targets))
            }
        })

    /// The first pending notification that holds a target, and how.
    func notification(of target: HeapObject) -> (WatchedRegistration, Notification.Name, ReferencePath)? {
        notifications[target]?.first.map { ($0.place.0, $0.place.1, $0.path) }
    }

    // MARK: Objects

    /// The paths from the objects that are left.
    private lazy var holding = find(
        from: objects.map { tracked, object in
            ((tracked, object: object.heap), paths: graph.paths(from: object.heap, to: targets))
        })

    /// The way from a target back to it.
    func cycle(through target: HeapObject) -> ReferencePath? {
        holding[target]?.first { $0.place.object == target }?.path
    }

    /// The first object that holds a target, other than that itself, and how.
    func object(of target: HeapObject) -> (LeakTracker.Tracked, ReferencePath)? {
        holding[target]?.first { $0.place.object != target }.map { ($0.place.0, $0.path) }
    }
}
