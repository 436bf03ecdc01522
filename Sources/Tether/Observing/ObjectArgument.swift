/// An object that is given to a registration, or to a test's scope, which refuse what only looks like one (X1).
package enum ObjectArgument {
    case sender
    case owner
    case receiver
    case tracked

    /// Stops the program for an object whose end says nothing, or cannot be seen, with the call that it was given to.
    package func check<Object: AnyObject>(_ object: Object, call function: StaticString) {
        // Not covered: read by what ends the process.
        var call: String { "\(function)".replacing("fileID:line:", with: "") }
        // First, because the object is not to be touched as one of Swift's.
        guard !MetadataKind.of(Object.self).isForeignReference else {
            // Not covered: a C++ class takes a module with C++ interoperability.
            fatalError(
                "\(call): \(Object.self) is a C++ class, the end of whose instances cannot be seen; pass "
                    + "a Swift object that holds the instance.")
        }
        let isClassless = ObjectArgument.isClassless(object)
        guard !isClassless, type(of: object as AnyObject) != ObjectArgument.box else {
            // Not covered: ends the process; MisuseTests run it apart.
            fatalError(
                "\(call): \(isClassless ? "an error" : "\(object)") is a value in a box, and each cast "
                    + "to AnyObject makes another box; \(instead), or pass a class instance.")
        }
        #if canImport(ObjectiveC)
        // SAFETY: the reference's bits are looked at, not read through; the caller holds the object.
        let bits = unsafe UInt(bitPattern: Unmanaged.passUnretained(object as AnyObject).toOpaque())
        guard self == .sender || !ObjectArgument.isTagged(bits) else {
            fatalError(
                "\(call): \(object), of \(type(of: object as AnyObject)), is stored in its reference and "
                    + "never ends; \(instead), or pass an object that ends.")
        }
        #endif
    }

    // Not covered: read by what ends the process.
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

    /// Whether a reference is to memory that is counted as an object is, but of no class, as an error's box is on Linux: a
    /// cast of an optional error to `AnyObject` takes that. Its type is not to be asked for.
    private static func isClassless(_ object: some AnyObject) -> Bool {
        #if canImport(ObjectiveC)
        return false
        #else
        // SAFETY: without Objective-C the first word of all that is counted is the address of metadata, which begins with
        // the kind: ABI, which the compiler upholds. The caller holds the object.
        let object = unsafe Unmanaged.passUnretained(object).toOpaque()
        return unsafe !MetadataKind(object.load(as: UnsafePointer<UInt>.self).pointee).isClass
        #endif
    }

    /// Whether the bits of a reference are a value instead of an address, as Objective-C's tagged pointers are: they have
    /// the highest bit set, or, on a Mac with an Intel processor, the lowest. There are none where addresses have 32 bits.
    static func isTagged(_ bits: UInt) -> Bool {
        UInt.bitWidth == 64 && (bits & 1 != 0 || bits.leadingZeroBitCount == 0)
    }
}
