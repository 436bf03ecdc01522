import Foundation
import Tether

/// An object that is an owner, a sender, or both, and tells the player of its end.
///
/// All are equal to each other, which is not to matter (M4).
protocol LibraryObject: Wrappable {
    nonisolated var id: Int { get }
}

extension LibraryObject {
    nonisolated static func == (one: Self, other: Self) -> Bool { true }
    nonisolated func hash(into hasher: inout Hasher) {}
}

/// The world of an object.
///
/// SAFETY: everything of a run is on one thread.
private struct LibraryHome: @unchecked Sendable {
    unowned let world: LibraryWorld
}

extension LibraryWorld {
    /// Makes objects of several kinds, by turns.
    func makeObject(_ id: Int) -> any LibraryObject {
        let home = LibraryHome(world: self)
        return switch id % 5 {
        case 0: LibraryClass(id: id, home: home)
        case 1: LibrarySubclass(id: id, home: home)
        case 2: LibraryGeneric<Int>(id: id, home: home)
        case 3: LibraryActor(id: id, home: home)
        default: LibraryExecutorActor(id: id, home: home)
        }
    }
}

/// SAFETY: nothing of it changes.
private class LibraryClass: LibraryObject, @unchecked Sendable {
    final let id: Int
    private let home: LibraryHome

    init(id: Int, home: LibraryHome) {
        self.id = id
        self.home = home
    }

    deinit { home.world.ended(self) }
}

private final class LibrarySubclass: LibraryClass, @unchecked Sendable {}

private final class LibraryGeneric<Value>: LibraryClass, @unchecked Sendable {
    private let values: [Value] = []
}

private actor LibraryActor: LibraryObject {
    nonisolated let id: Int
    private let home: LibraryHome

    init(id: Int, home: LibraryHome) {
        self.id = id
        self.home = home
    }

    deinit { home.world.ended(self) }
}

/// An actor with an executor of its own.
private actor LibraryExecutorActor: LibraryObject {
    private static let executor = ManualExecutor()
    nonisolated let id: Int
    private let home: LibraryHome
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe LibraryExecutorActor.executor.asUnownedSerialExecutor()
    }

    init(id: Int, home: LibraryHome) {
        self.id = id
        self.home = home
    }

    deinit { home.world.ended(self) }
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

    func call(_ notification: Notification, owner: (any LibraryObject)?) {
        player.called(
            id, number: LibraryForms.number(of: notification), sender: LibraryForms.sender(of: notification),
            hasOwner: owner != nil,
            holding: [owner, notification.object as? any LibraryObject])
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
