/// A type's name in a descriptor of the compiler: text, with embedded addresses of descriptors.
struct MangledName {
    let address: UInt
    let bytes: [UInt8]

    /// Reads a name; `nil` without a name or without an end of the name.
    init?(at address: UInt?) {
        guard let address, let memory = Memory.prefix(at: address, count: 4096) else { return nil }
        self.address = address
        var count = 0
        while true {
            guard count < memory.count else { return nil }
            let next = memory[count]
            if next == 0 { break }
            // A symbolic reference: this byte and a 32-bit offset, or an absolute address.
            count += next < 0x18 ? 5 : next < 0x20 ? 9 : 1
        }
        bytes = Array(memory[..<count])
    }

    private func hasSuffix(_ suffix: String) -> Bool {
        bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// The name without the marks of optionals and of references that are not strong.
    private var wrapped: ArraySlice<UInt8> {
        var name = isStrong ? bytes[...] : bytes.dropLast(2)
        while name.suffix(2).elementsEqual("Sg".utf8) { name = name.dropLast(2) }
        return name
    }

    /// Whether a value of the type is neither a weak nor an unowned nor an unmanaged reference.
    var isStrong: Bool { !["Xw", "Xo", "Xu"].contains(where: hasSuffix) }

    /// Whether the name is of a box: a variable on the heap.
    var isBox: Bool { ["Xx", "XX", "Xb"].contains(where: hasSuffix) }

    /// Whether the name is of an existential. A reference to an existential may be several words.
    var isExistential: Bool {
        wrapped.last == UInt8(ascii: "p")
            || ["Xl", "Xc", "XP"].contains { wrapped.suffix(2).elementsEqual($0.utf8) }
    }

    enum FunctionKind {
        /// A function and its context.
        case thick
        /// A function without a context.
        case thin
    }

    /// The kind of a captured function, whose name is `I`, the conventions, `_`; `nil` if the name
    /// is of something else.
    var functionKind: FunctionKind? {
        let name = wrapped
        guard name.last == UInt8(ascii: "_") else { return nil }
        let conventions = name.dropLast().reversed().prefix { $0 != UInt8(ascii: "I") }
        guard conventions.count < name.count - 1, !conventions.isEmpty,
            conventions.allSatisfy({ UInt8(ascii: "A")...UInt8(ascii: "z") ~= $0 })
        else { return nil }
        return conventions.suffix(2).contains(UInt8(ascii: "t")) ? .thin : .thick
    }

    /// Whether the name is of a class or a standard collection, which are one reference whatever
    /// the generic arguments. A symbolic reference begins the name of a class.
    var isReference: Bool {
        if ["Sa", "SD", "Sh"].contains(where: { bytes.starts(with: $0.utf8) }),
            wrapped.last == UInt8(ascii: "G")
        {
            return true
        }
        guard let kind = bytes.first, kind == 1 || kind == 2,
            wrapped.count == 5 || wrapped.last == UInt8(ascii: "G"),
            let target = Memory.relative(at: address &+ 1),
            let descriptor = kind == 1 ? target : Memory.load(UInt.self, at: target)
        else { return false }
        return RuntimeType.isDescriptor(descriptor, of: .class)
    }

    /// The type that the runtime finds; `nil` if no type is found, or if the type may have generic
    /// parameters.
    var type: RuntimeType? {
        guard isConcrete else { return nil }
        let count = UInt(isStrong ? bytes.count : bytes.count - 2)
        // SAFETY: the name is in a descriptor, where its offsets are valid; `isConcrete` excludes
        // generic parameters.
        let found = unsafe _getTypeByMangledNameInContext(
            UnsafePointer(bitPattern: address)!, count, genericContext: nil, genericArguments: nil)
        return found.map { RuntimeType($0) }
    }

    /// Whether the name has no generic parameter. The runtime ends the process at an unbound
    /// parameter.
    ///
    /// The scan skips identifiers and symbolic references, whose lengths are known
    /// (`Mangling.rst`). A name with an abbreviated identifier or a repeated type counts as
    /// generic.
    private var isConcrete: Bool {
        var rest = bytes[...]
        func digits() -> ArraySlice<UInt8> {
            let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            rest = rest.dropFirst(digits.count)
            return digits
        }
        while let byte = rest.popFirst() {
            switch byte {
            case 0x01..<0x18: rest = rest.dropFirst(4)
            case 0x18..<0x20: rest = rest.dropFirst(8)
            case UInt8(ascii: "1")...UInt8(ascii: "9"):
                let length = String(decoding: [byte] + digits(), as: UTF8.self)
                rest = rest.dropFirst(Int(length) ?? .max)
            // A type of the standard library, a substitution, or a builtin type.
            case UInt8(ascii: "S"), UInt8(ascii: "B"):
                rest = rest.dropFirst(rest.first == UInt8(ascii: "c") ? 2 : 1)
                _ = digits()
            case UInt8(ascii: "0"), UInt8(ascii: "A"), UInt8(ascii: "Q"), UInt8(ascii: "q"),
                UInt8(ascii: "x"):
                return false
            default: break
            }
        }
        return true
    }
}
