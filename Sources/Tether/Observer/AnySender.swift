/// Stands for "any sender", or "any owner", where a class instance is asked for and may be left out.
///
/// That leaving it out and passing one are different calls, a `nil` that was meant to be an object can never widen to
/// "any" (M5): passing an optional does not compile.
public final class AnySender: Sendable {
    /// Any sender; any owner.
    public static let any = AnySender()

    private init() {}
}
