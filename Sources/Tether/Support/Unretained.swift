/// A reference to an object of one of Tether's classes that neither keeps it alive nor lets its address be reused, as an
/// object, to be stored and shared.
///
/// A weak one would make every retain of its object several times dearer.
final class Unretained<Object: AnyObject>: Sendable {
    private let reference: UnownedReference<Object>?

    init(_ object: Object) {
        reference = UnownedReference(object)
    }

    /// The object, held, as long as anything else keeps it.
    func take() -> Object? { reference?.take() }

    /// The object's address, to be read through only for what is known to stay when the object has gone; `nil` if it was
    /// being deinitialised when it was referred to.
    var rawAddress: UnsafeMutableRawPointer? {
        switch reference {
        case .some(let reference): unsafe reference.rawAddress
        // Not covered: no object that is being deinitialised is referred to so.
        case nil: nil
        }
    }
}
