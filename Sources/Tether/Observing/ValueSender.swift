/// A value as the sender of an observer: the observer receives the posts whose sender equals the
/// value.
///
/// ```swift
/// center.observe(
///     .modelDidChange, from: ValueSender("draft"), owner: self, on: .mainActor
/// ) { sidebar, note in
///     sidebar.reload(note)
/// }
/// // The value itself.
/// center.post(name: .modelDidChange, object: "draft")
/// ```
///
/// For every parameter `from:`. It takes an object, which is matched by identity, or a value in
/// this class: an identifier, a name, a case of an enum. A value is equal only to a value of its
/// own type. A value has no end, so the observer ends with its owner or token.
///
/// `addObserver(forName:object:queue:using:)` and `notifications(named:object:)` of Foundation take
/// a value as it is. Complexity: a hash of the value for each post of the name. Any thread.
public final class ValueSender: Sendable {
    let value: any Hashable & Sendable

    /// Makes a sender of a value with pure `==` and `hash(into:)`.
    ///
    /// A `nil`, or a value that is not equal to itself, stops the program at the registration. In
    /// other calls it matches no observer of a value. A class instance is matched by identity, as
    /// without this class.
    public init(_ value: some Hashable & Sendable) { self.value = value }
}

extension SenderKey {
    /// The key of a sender that may be omitted, or a `ValueSender`; `nil` for any.
    init?(given sender: AnyObject) {
        if Omitted.stands(for: sender) { return nil }
        guard let sender = sender as? ValueSender else {
            self.init(sender)
            return
        }
        // No observer has a `nil` in a `ValueSender`, so that key matches none, instead of any.
        self = SenderKey(any: sender.value) ?? .value(TypedValue(sender.value))
    }
}
