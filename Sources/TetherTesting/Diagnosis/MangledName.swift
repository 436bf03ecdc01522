/// A type's name in a descriptor of the compiler: text, with embedded addresses of descriptors.
struct MangledName: Hashable, Sendable {
    let address: UInt
    let bytes: [UInt8]

    /// Reads a name; `nil` without a name or without an end of the name.
    init?(at address: UInt?) {
        guard let address else { return nil }
        self.address = address
        guard let memory = Memory.prefix(at: address, count: 4096) else { return nil }
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

    /// Whether the name ends with a text.
    func hasSuffix(_ suffix: String) -> Bool { bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) }

    /// The whole name, if the name is text.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the name is of an existential, optional or not. A reference to an existential may be several words.
    var isExistential: Bool {
        let name = bytes.prefix(strippedCount)
        let wrapped = name.suffix(2).elementsEqual("Sg".utf8) ? name.dropLast(2) : name
        return wrapped.last == UInt8(ascii: "p")
            || ["Xl", "Xc", "XP"].contains { wrapped.suffix(2).elementsEqual($0.utf8) }
    }

    /// The way a value of the type refers to an object.
    enum Ownership { case strong, weak, unowned, unmanaged }

    var ownership: Ownership {
        if hasSuffix("Xw") {
            .weak
        } else if hasSuffix("Xo") {
            .unowned
        } else if hasSuffix("Xu") {
            .unmanaged
        } else {
            .strong
        }
    }

    /// Whether the name is of a captured function: `I`, the conventions, `_`, and `Sg` for each optional. An optional
    /// function has the same size. A thin function has no context.
    var isFunction: (Bool, isThin: Bool) {
        var name = bytes[...]
        while name.suffix(2).elementsEqual("Sg".utf8) { name = name.dropLast(2) }
        guard name.last == UInt8(ascii: "_") else { return (false, false) }
        let conventions = name.dropLast().reversed().prefix { $0 != UInt8(ascii: "I") }
        guard conventions.count < name.count - 1, !conventions.isEmpty,
            conventions.allSatisfy({ UInt8(ascii: "A")...UInt8(ascii: "z") ~= $0 })
        else { return (false, false) }
        return (true, conventions.suffix(2).contains(UInt8(ascii: "t")))
    }

    /// Whether the name is of a box: a variable on the heap.
    var isBox: Bool { hasSuffix("Xx") || hasSuffix("XX") || hasSuffix("Xb") }

    // MARK: The type

    /// The type that the runtime finds with the arguments of a generic type; `nil` if no type is found.
    func type(context: UInt, arguments: UInt) -> RuntimeType? {
        guard parameters != nil else { return nil }
        // SAFETY: the name is in a descriptor, where its offsets are valid; the caller passes the context and arguments
        // of the described type, which bind all parameters.
        let found = unsafe _getTypeByMangledNameInContext(
            UnsafePointer(bitPattern: address)!, UInt(strippedCount),
            genericContext: UnsafeRawPointer(bitPattern: context),
            genericArguments: UnsafeRawPointer(bitPattern: arguments))
        return found.map { RuntimeType($0) }
    }

    /// The type without its ownership, with a closure's generic parameters; `nil` if a parameter is unknown.
    func type(in environment: GenericEnvironment) -> RuntimeType? {
        guard let parameters, parameters.allSatisfy(environment.binds) else { return nil }
        let name = address
        let count = UInt(strippedCount)
        return unsafe environment.withPointers { environment, arguments in
            // SAFETY: the name is in a descriptor; the guard checks that the environment binds its parameters.
            unsafe _getTypeByMangledNameInEnvironment(
                UnsafePointer(bitPattern: name)!, count, genericEnvironment: environment, genericArguments: arguments)
        }.map { RuntimeType($0) }
    }

    private var strippedCount: Int { ownership == .strong ? bytes.count : bytes.count - 2 }
}

/// The generic parameters and arguments of one closure context, in the form that the runtime reads.
struct GenericEnvironment {
    /// The arguments by depth and index; `nil` for an unknown argument.
    private var levels: [[UInt?]] = []

    /// Adds a parameter by its mangled name: `x`, `q_`, `q0_`, … at depth 0; `qd__`, `qd_0_`, … at depth 1.
    mutating func add(_ name: String, metadata: UInt) {
        guard let (depth, index) = GenericEnvironment.place(of: name), index < 16 else { return }
        while levels.count <= depth { levels.append([]) }
        while levels[depth].count <= index { levels[depth].append(nil) }
        levels[depth][index] = metadata
    }

    /// Whether the argument of a parameter is known.
    func binds(_ name: String) -> Bool {
        guard let (depth, index) = GenericEnvironment.place(of: name), depth < levels.count else { return false }
        return index < levels[depth].count && levels[depth][index] != nil
    }

    private static func place(of name: String) -> (depth: Int, index: Int)? {
        if name == "x" { return (0, 0) }
        guard name.hasPrefix("q"), name.hasSuffix("_") else { return nil }
        if name.hasPrefix("qd_") {
            let index = name.dropFirst(3).dropLast()
            return index.isEmpty ? (1, 0) : Int(index).map { (1, $0 + 1) }
        }
        let index = name.dropFirst().dropLast()
        return index.isEmpty ? (0, 1) : Int(index).map { (0, $0 + 2) }
    }

    /// Calls `body` with a generic environment descriptor and the generic arguments.
    func withPointers<Result>(_ body: (UnsafeRawPointer, UnsafeRawPointer) -> Result) -> Result {
        var descriptor: [UInt8] = []
        func append(_ number: some FixedWidthInteger) {
            for byte in 0..<number.bitWidth / 8 { descriptor.append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
        }
        append(UInt32(levels.count))
        var total: UInt16 = 0
        for level in levels {
            total += UInt16(level.count)
            append(total)
        }
        // A type parameter, with or without an argument in the list.
        for parameter in levels.joined() { descriptor.append(parameter == nil ? 0 : 0x80) }
        descriptor += [UInt8](repeating: 0, count: 8)
        let arguments = levels.joined().compactMap(\.self) + [0]
        // SAFETY: both arrays are alive during the call; the descriptor has the form of `TargetGenericEnvironment`.
        return unsafe descriptor.withUnsafeBytes { descriptor in
            unsafe arguments.withUnsafeBytes { arguments in unsafe body(descriptor.baseAddress!, arguments.baseAddress!)
            }
        }
    }
}
