internal import Foundation
internal import Tether

/// An object left behind. The search for its holders does not retain the object.
struct LeftObject {
    let heap: HeapObject
    /// The number of strong references to the object.
    let count: Int

    /// Describes a watched object; `nil` if the object has ended.
    init?(_ object: WatchedObject) {
        guard let count = object.strongCount else { return nil }
        self.init((object.address, count))
    }

    init(_ token: (address: UInt, strongCount: Int)) {
        heap = HeapObject(address: token.address)
        count = token.strongCount
    }
}

/// The holders of objects left behind: handlers, pending notifications, and other objects left
/// behind.
///
/// All objects share one graph, and one search from each holder.
final class Holders {
    let graph: ObjectGraph
    private let registrations: [WatchedRegistration]
    private let objects: [(LeakTracker.Tracked, LeftObject)]
    private let targets: ObjectGraph.Targets

    init(
        registrations: [WatchedRegistration], objects: [(LeakTracker.Tracked, LeftObject)],
        targets: [HeapObject],
        limit: Duration
    ) {
        graph = ObjectGraph(until: .after(limit))
        self.registrations = registrations
        self.objects = objects
        self.targets = graph.targets(targets)
    }

    private typealias Found<Place> = [HeapObject: (place: Place, path: ReferencePath)]

    /// Searches in order from each place, which may have a target of its own. Finds for each target
    /// its own place, or else the first place.
    private func find<Place>(
        from places: [(place: Place, own: HeapObject?)],
        _ search: (Place, _ isWanted: (HeapObject) -> Bool) -> [HeapObject: ReferencePath]
    ) -> Found<Place> {
        var found: Found<Place> = [:]
        for (place, own) in places {
            let paths = search(place) { $0 == own || found[$0] == nil }
            found.merge(paths.mapValues { (place, $0) }) { _, new in new }
        }
        return found
    }

    // MARK: Handlers

    /// The paths from the handlers, in the order of registration. A handler's own target is its
    /// token.
    private lazy var handlers = find(
        from: registrations.map { registration in
            (registration, own: registration.token.map { HeapObject(address: $0.address) })
        }
    ) { registration, isWanted in
        registration.handler.map {
            graph.paths(from: ReferencePath.roots($0), to: targets, where: isWanted)
        } ?? [:]
    }

    /// The handler that holds a target, and the path. A token's own handler has precedence over the
    /// first handler.
    func handler(of target: HeapObject) -> (WatchedRegistration, ReferencePath)? {
        handlers[target].map { ($0.place, $0.path) }
    }

    /// The registrations with an owner and a running handler, by the address of the owner. A task
    /// runs without its owner.
    private lazy var running: [UInt: WatchedRegistration] = Dictionary(
        registrations.filter { $0.isRunning && $0.work == nil }.compactMap { registration in
            registration.owner.map { ($0, registration) }
        }
    ) { first, _ in first }

    /// The registration whose running handler holds an owner.
    func runningHandler(of owner: HeapObject) -> WatchedRegistration? { running[owner.address] }

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

    /// The first pending notification that holds a target, and the path.
    func notification(of target: HeapObject) -> (
        WatchedRegistration, Notification.Name, ReferencePath
    )? {
        notifications[target].map { ($0.place.0, $0.place.1.name, $0.path) }
    }

    // MARK: Objects

    /// The paths from the objects left behind.
    private lazy var holding = find(from: objects.map { ($0, own: $0.1.heap) }) { place, isWanted in
        graph.paths(from: place.1.heap, to: targets, where: isWanted)
    }

    /// The object that holds a target, and the path: the target itself, or else the first other
    /// object.
    func object(of target: HeapObject) -> (LeakTracker.Tracked, ReferencePath)? {
        holding[target].map { ($0.place.0, $0.path) }
    }
}
