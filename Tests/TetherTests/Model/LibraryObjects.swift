import Foundation
import Tether

/// An object that is an owner, a sender, or both, and tells the player of its end.
class LibraryObject {
    final let id: Int
    private unowned let world: LibraryWorld

    init(id: Int, world: LibraryWorld) {
        self.id = id
        self.world = world
    }

    deinit { world.ended(self) }

    /// Objects of several classes, by turns.
    static func make(id: Int, world: LibraryWorld) -> LibraryObject {
        switch id % 3 {
        case 0: LibraryObject(id: id, world: world)
        case 1: LibrarySubclass(id: id, world: world)
        default: LibraryGeneric<Int>(id: id, world: world)
        }
    }
}

private final class LibrarySubclass: LibraryObject {}

private final class LibraryGeneric<Value>: LibraryObject {
    private let values: [Value] = []
}

/// What a handler captures: it tells the player of its calls and of its release.
///
/// SAFETY: everything of a run is on one thread.
final class LibraryCapture: @unchecked Sendable {
    private let id: Int
    private let player: Player

    init(id: Int, player: Player) {
        self.id = id
        self.player = player
        player.captureMade()
    }

    deinit { player.released(id) }

    func call(_ notification: Notification, owner: LibraryObject?) {
        let content = notification.userInfo?[LibraryPayload.key]
        let number = (content as? LibraryPayload)?.number ?? content as? Int ?? -1
        player.called(id, number: number, sender: sender(of: notification), hasOwner: owner != nil)
    }

    private func sender(of notification: Notification) -> History.PostedSender {
        guard let object = notification.object else { return .nobody }
        if let object = object as? LibraryObject { return .object(object.id) }
        guard let value = object as? AnyHashable else { return .unknown }
        return LibraryWorld.values
            .firstIndex { AnyHashable($0) == value && type(of: $0 as Any) == type(of: value.base) }
            .map(History.PostedSender.value) ?? .unknown
    }
}

/// What a post carries: it tells the player of its release.
final class LibraryPayload {
    static let key = "payload"
    let number: Int
    private let player: Player

    init(number: Int, player: Player) {
        self.number = number
        self.player = player
    }

    deinit { player.payloadReleased(number) }
}

/// Holds jobs until they are run or dropped.
///
/// SAFETY: everything of a run is on one thread.
class LibraryScheduler: DeliveryScheduler, @unchecked Sendable {
    private var jobs: [@Sendable () -> Void] = []

    func schedule(_ job: @escaping @Sendable () -> Void) { jobs.append(job) }

    /// Runs the jobs that wait now; those that running makes wait.
    func run() {
        let due = jobs
        jobs = []
        for job in due { job() }
    }

    func runAll() {
        while !jobs.isEmpty { run() }
    }

    func drop() {
        let dropped = jobs
        jobs = []
        withExtendedLifetime(dropped) {}
    }
}

final class LibraryFirstScheduler: LibraryScheduler, @unchecked Sendable {}
final class LibrarySecondScheduler: LibraryScheduler, @unchecked Sendable {}
