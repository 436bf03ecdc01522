import Foundation

/// The forms in which objects and values get into an `Any`, and out of it again.
enum LibraryForms {
    static func wrap(_ object: any Wrappable, form: Int) -> Any? { Wrapping.all[form].wrap(object) }

    /// A value as a sender or a key.
    static func wrap<Value: Hashable>(_ value: Value, form: Int) -> any Hashable {
        switch form {
        case 0: value
        case 1: Optional(value)
        case 2: AnyHashable(value)
        case 3: Optional(AnyHashable(value))
        default: AnyHashable(Optional(Optional(value)))
        }
    }

    static func number(of notification: Notification) -> Int {
        let content = notification.userInfo?[LibraryPayload.key]
        return (content as? LibraryPayload)?.number ?? content as? Int ?? -1
    }

    /// A post's sender as its handler sees it.
    static func sender(of notification: Notification) -> History.PostedSender {
        notification.object.map(sender) ?? .nobody
    }

    private static func sender(_ object: Any) -> History.PostedSender {
        if let object = object as? any LibraryObject { return .object(object.id) }
        let mirror = Mirror(reflecting: object)
        if mirror.displayStyle == .optional { return mirror.children.first.map { sender($0.value) } ?? .nobody }
        guard let value = object as? AnyHashable else { return .unknown }
        if type(of: object) == AnyHashable.self { return sender(value.base) }
        return LibraryWorld.values
            .firstIndex { AnyHashable($0) == value && type(of: $0 as Any) == type(of: object) }
            .map(History.PostedSender.value) ?? .unknown
    }
}
