/// Stands for "any sender", or "any owner", where a class instance is asked for and may be left out.
///
/// That leaving it out and passing one are different calls, a `nil` that was meant to be an object can never widen to
/// "any" (M5): passing an optional does not compile.
public final class AnySender: Sendable {
    /// Any sender; any owner.
    public static let any = AnySender()

    private init() {}

    /// Whether it stands in an argument's place.
    ///
    /// Told by the type, because a build with cross-module optimisation gives each module a copy of `any`.
    @inline(__always)
    static func stands<Object: AnyObject>(for argument: Object) -> Bool {
        // An instance of a C++ class is not to be touched as an object.
        !MetadataKind.of(Object.self).isForeignReference && type(of: argument as AnyObject) == AnySender.self
    }
}
