/// An object that is given to a registration, or to a test's scope, which refuse what only looks like one (X1).
package enum ObjectArgument {
    case sender
    case owner
    case receiver
    case tracked

    /// Stops the program for an object whose end says nothing, or cannot be seen, with the call that it was given to.
    package func check(_ object: AnyObject, call function: StaticString) {
        var call: String { "\(function)".replacing("fileID:line:", with: "") }
        guard type(of: object) != ObjectArgument.box else {
            fatalError(
                "\(call): \(object) is a value in a box, and each cast to AnyObject makes another box; \(instead), or "
                    + "pass a class instance.")
        }
        #if canImport(ObjectiveC)
        // SAFETY: the reference's bits are looked at, not read through; the caller holds the object.
        let bits = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        guard self == .sender || !ObjectArgument.isTagged(bits) else {
            fatalError(
                "\(call): \(object), of \(type(of: object)), is stored in its reference and "
                    + "never ends; \(instead), or pass an object that ends.")
        }
        #endif
    }

    /// What else can be done than to pass another object.
    private var instead: String {
        switch self {
        case .sender: "pass a Hashable value to addObserver(forName:object:queue:using:)"
        case .owner, .receiver: "leave it out and keep the token"
        case .tracked: "track an object that holds it"
        }
    }

    /// The class of the boxes that casts to `AnyObject` make of values without an object form.
    private static let box: AnyClass = type(of: Boxed() as AnyObject)

    private struct Boxed {}

    /// Whether the bits of a reference are a value instead of an address, as Objective-C's tagged pointers are: they have
    /// the highest bit set, or, on a Mac with an Intel processor, the lowest. There are none where addresses have 32 bits.
    static func isTagged(_ bits: UInt) -> Bool {
        UInt.bitWidth == 64 && (bits & 1 != 0 || bits.leadingZeroBitCount == 0)
    }
}
