/// A reference that neither keeps its object alive nor lets its address be reused, as an object, to be stored and shared.
///
/// A weak one would make every retain of its object several times dearer.
final class Unretained<Object: AnyObject>: Sendable {
    private let reference: OwnerReference<Object>?

    init(_ object: Object) {
        reference = OwnerReference(object)
    }

    /// The object, held, as long as anything else keeps it.
    func take() -> Object? { reference?.take() }
}
