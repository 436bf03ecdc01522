import Foundation

@testable import Tether

/// A center of another maker, as operations are performed on it.
protocol LibraryForeign: NotifyingCenter {
    func post(_ name: Notification.Name, object: AnyObject?, userInfo: [AnyHashable: Any])
    /// How many closures it has, and how often it was asked to take off one that it had not; `nil` if it does not tell.
    var closures: CenterPicture.Closures? { get }
}

extension NotificationCenter: LibraryForeign {
    func post(_ name: Notification.Name, object: AnyObject?, userInfo: [AnyHashable: Any]) {
        post(name: name, object: object, userInfo: userInfo)
    }

    var closures: CenterPicture.Closures? { nil }
}

/// A list of closures, which are called in order.
final class LibraryListedCenter: LibraryForeign {
    private struct Entry: Sendable {
        let id: Int
        let name: Notification.Name?
        let sender: ObjectIdentifier?
        let handler: @Sendable (Notification) -> Void
    }

    /// What may outlive the center, because another thread takes closures off; it is empty then.
    private final class List: NotifyingRegistrations {
        let entries = Guarded<[Entry]>([])
        let registered = Guarded(0)
        let strangers = Guarded(0)

        func cancel(_ id: Int) {
            let removed = entries.withLock { entries in
                let removed = entries.filter { $0.id == id }
                entries.removeAll { $0.id == id }
                return removed
            }
            if removed.isEmpty { strangers.withLock { $0 += 1 } }
        }

        func clear() {
            let removed = entries.withLock { entries in
                let removed = entries
                entries = []
                return removed
            }
            withExtendedLifetime(removed) {}
        }
    }

    private struct Registration: NotifyingRegistration {
        let list: any NotifyingRegistrations
        let id: Int

        func cancel() { list.cancel(id) }
    }

    private let list = List()

    deinit { list.clear() }

    func register(
        name: Notification.Name?, sender: AnyObject?, handler: @escaping @Sendable (Notification) -> Void
    ) -> any NotifyingRegistration {
        let sender = sender.map { ObjectIdentifier($0) }
        let id = list.registered.withLock { registered in
            registered += 1
            return registered
        }
        list.entries.withLock { $0.append(Entry(id: id, name: name, sender: sender, handler: handler)) }
        return Registration(list: list, id: id)
    }

    func post(_ name: Notification.Name, object: AnyObject?, userInfo: [AnyHashable: Any]) {
        let sender = object.map { ObjectIdentifier($0) }
        let matches = list.entries.withLock { entries in
            entries.filter { entry in
                (entry.name == nil || entry.name == name) && (entry.sender == nil || entry.sender == sender)
            }
        }
        let notification = Notification(name: name, object: object, userInfo: userInfo)
        for entry in matches { entry.handler(notification) }
    }

    var closures: CenterPicture.Closures? {
        ForeignCleaner.shared.settle()
        return CenterPicture.Closures(
            count: list.entries.withLock(\.count), strangers: list.strangers.withLock(\.self))
    }
}

/// What takes closures off by their numbers.
private protocol NotifyingRegistrations: AnyObject, Sendable {
    func cancel(_ id: Int)
}

extension LibraryWorld {
    static func makeForeign(_ center: Int) -> any LibraryForeign {
        center == Places.foundation ? NotificationCenter() : LibraryListedCenter()
    }

    /// A center of either kind.
    func notifying(_ center: Int) -> any NotifyingCenter {
        center < Places.centers ? centers[center] : foreign[center - Places.centers]
    }

    func renewForeign(_ center: Int) {
        // Who takes closures off holds Foundation's center meanwhile, and would be the last one.
        if center == Places.foundation { ForeignCleaner.shared.settle() }
        let old = foreign[center - Places.centers]
        foreign[center - Places.centers] = LibraryWorld.makeForeign(center)
        letGo(old)
    }
}
