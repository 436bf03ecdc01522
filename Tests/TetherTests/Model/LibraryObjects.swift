import Foundation
import Tether

/// An owner, a sender, or both, which reports its `deinit`.
///
/// All are equal to each other, without an effect (M4).
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
struct LibraryHome: @unchecked Sendable {
    unowned let world: LibraryWorld

    /// Makes objects of several kinds, by turns.
    func makeObject(_ id: Int) -> any LibraryObject {
        switch id % 5 {
        case 0: LibraryClass(id: id, home: self)
        case 1: LibrarySubclass(id: id, home: self)
        case 2: LibraryGeneric<Int>(id: id, home: self)
        case 3: LibraryActor(id: id, home: self)
        default: LibraryExecutorActor(id: id, home: self)
        }
    }
}

/// SAFETY: constant.
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

/// An actor with a manual executor.
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

/// A handler's capture, which reports calls and its release.
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

    func call(_ notification: Notification, owner: (any LibraryObject)? = nil) {
        player.called(
            id, number: LibraryPayload.number(of: notification),
            sender: LibraryForms.sender(of: notification),
            hasOwner: owner != nil)
    }
}

/// The payload of a post, which reports its release.
final class LibraryPayload {
    static let key = "payload"
    private let number: Int
    private let player: Player

    init(number: Int, player: Player) {
        self.number = number
        self.player = player
    }

    deinit { player.payloadReleased(number) }

    static func number(of notification: Notification) -> Int? {
        (notification.userInfo?[key] as? LibraryPayload)?.number
    }
}

/// Wraps objects and values in the forms of an `Any`, and unwraps them.
enum LibraryForms {
    /// Half of the objects unwrapped.
    static func wrap(_ object: any Wrappable, form: Int) -> Any? {
        form.isMultiple(of: 2) ? object : Wrapping.all[form / 2 % Wrapping.all.count].wrap(object)
    }

    /// A value as a sender or a key.
    static func wrap<Value: Hashable>(_ value: Value, form: Int) -> any Hashable {
        switch form % 5 {
        case 0: value
        case 1: Optional(value)
        case 2: AnyHashable(value)
        case 3: Optional(AnyHashable(value))
        default: AnyHashable(Optional(Optional(value)))
        }
    }

    /// A post's sender in the handler.
    static func sender(of notification: Notification) -> History.PostedSender {
        notification.object.map(sender) ?? .nobody
    }

    private static func sender(_ object: Any) -> History.PostedSender {
        if let object = object as? any LibraryObject { return .object(object.id) }
        let mirror = Mirror(reflecting: object)
        if mirror.displayStyle == .optional {
            return mirror.children.first.map { sender($0.value) } ?? .nobody
        }
        guard let value = object as? AnyHashable else { return .unknown }
        if type(of: object) == AnyHashable.self { return sender(value.base) }
        return LibraryWorld.values
            .firstIndex { AnyHashable($0) == value && type(of: $0 as Any) == type(of: object) }
            .map(History.PostedSender.value) ?? .unknown
    }
}
