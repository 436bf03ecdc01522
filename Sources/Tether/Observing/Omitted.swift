/// Stands for an argument that was left out, where a class instance is asked for: a sender, or an owner.
///
/// Because leaving it out and passing one are different calls, a `nil` that was meant to be an object can never widen to
/// "any" (M5): passing an optional does not compile.
public final class Omitted: Sendable {
    /// Nothing given: any sender; no owner, or whatever owner.
    public static let argument = Omitted()

    private init() {}

    /// Whether it stands in an argument's place.
    ///
    /// Told by the type, because a build with cross-module optimisation gives each module a copy of `argument`.
    @inline(__always)
    static func stands(for argument: AnyObject) -> Bool { type(of: argument) == Omitted.self }
}
