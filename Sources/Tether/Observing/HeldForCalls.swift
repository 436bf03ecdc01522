internal import Foundation

/// An object that is only held while a method of it runs (O4, O9).
final class HeldForCalls<Object: AnyObject>: Sendable {
    private let reference: OwnerReference<Object>

    /// `nil` for an object that is being deinitialised.
    init?(_ object: Object, call: StaticString) {
        ObjectArgument.receiver.check(object, call: call)
        guard let reference = OwnerReference(object) else { return nil }
        self.reference = reference
    }

    /// `call`, without its object: it does nothing once that has gone.
    func calling(_ call: @escaping Calling<Object>.Body) -> @Sendable (Notification) -> Void {
        { notification in self.reference.take().map { call($0, notification) } }
    }
}
