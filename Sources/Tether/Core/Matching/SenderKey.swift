/// The key by which a post's sender is matched (M4): a class instance by identity, a value by equality within its own type.
enum SenderKey: Hashable {
    case object(ObjectIdentifier)
    case value(TypedValue)

    @inline(__always)
    init(_ object: AnyObject) { self = .object(ObjectIdentifier(object)) }

    /// The key of a sender as Foundation passes it; `nil` for none, and for a value that can match no observer.
    @inline(__always)
    init?(any sender: Any) {
        if let object = Unwrapped.storedObject(in: sender) { self.init(object) } else { self.init(Unwrapped(sender)) }
    }

    @inline(never)
    init?(_ content: Unwrapped) {
        switch content {
        case .nothing: return nil
        case .object(let object): self.init(object)
        case .value(let value):
            guard let value = TypedValue.find(in: value) else { return nil }
            self = .value(value)
        }
    }
}
