/// A type as the Swift runtime describes it: its layout, its fields, its cases.
///
/// The layouts are ABI: `Metadata.h` and `MetadataValues.h` of the Swift runtime.
struct RuntimeType {
    let type: Any.Type

    init(_ type: Any.Type) {
        self.type = type
    }

    /// The type that a metadata address stands for, which the caller knows to be one.
    init(metadata: UInt) {
        // SAFETY: a metatype is the address of its metadata.
        type = unsafe unsafeBitCast(metadata, to: Any.Type.self)
    }

    var metadata: UInt { unsafe unsafeBitCast(type, to: UInt.self) }

    var name: String { String(describing: type) }
    var fullName: String { String(reflecting: type) }

    enum Kind: UInt {
        case `class` = 0
        case `struct` = 0x200
        case `enum` = 0x201
        case optional = 0x202
        case opaque = 0x300
        case tuple = 0x301
        case function = 0x302
        case existential = 0x303
        case metatype = 0x304
        case existentialMetatype = 0x306
    }

    var kind: Kind? { word(0).flatMap(Kind.init(rawValue:)) }

    /// A word of the metadata.
    func word(_ index: Int) -> UInt? { Memory.load(UInt.self, at: metadata &+ UInt(bitPattern: index * 8)) }

    // MARK: Layout

    /// The table of the type's value witnesses stands before its metadata.
    private var witnesses: UInt? { word(-1) }

    var size: Int? { witnesses.flatMap { Memory.load(Int.self, at: $0 + 64) } }
    var stride: Int? { witnesses.flatMap { Memory.load(Int.self, at: $0 + 72) } }
    private var flags: UInt32? { witnesses.flatMap { Memory.load(UInt32.self, at: $0 + 80) } }
    var alignment: Int? { flags.map { Int($0 & 0xFF) + 1 } }
    /// Whether an existential keeps the value in a box of its own.
    var isBoxedInExistential: Bool? { flags.map { $0 & 0x2_0000 != 0 } }

    // MARK: Fields

    struct Field {
        let name: String
        let type: RuntimeType
        let offset: Int
        let isStrong: Bool
    }

    /// The stored properties of a class, those of its superclasses first, or of a struct.
    ///
    /// The runtime hides the types of those that cannot be copied, such as a `Mutex`, so what they hold is not seen.
    var fields: [Field] {
        (0..<max(0, reflectedCount(type))).map { index in
            var field = unsafe ReflectedField()
            let type = unsafe reflectedChild(type, index, &field)
            // SAFETY: the runtime hands out a C string, and says how to free it.
            let name = unsafe field.name.map { unsafe String(cString: $0) } ?? "?"
            unsafe field.free?(field.name)
            return unsafe Field(
                name: name, type: RuntimeType(type), offset: reflectedOffset(self.type, index), isStrong: field.isStrong
            )
        }
    }

    /// The elements of a tuple.
    var elements: [Field] {
        guard let count = word(1), count < 64 else { return [] }
        return (0..<Int(count)).compactMap { index in
            guard let metadata = word(3 + 2 * index), let offset = word(4 + 2 * index) else { return nil }
            // Where there is no Objective-C the offset is half a word, and what follows it is anything.
            return Field(
                name: String(index), type: RuntimeType(metadata: metadata), offset: Int(offset & 0xFFFF_FFFF),
                isStrong: true)
        }
    }

    // MARK: Nominal types

    /// The descriptor that all instances of a generic type share.
    var descriptor: UInt? {
        switch kind {
        case .class: word(5)
        case .struct, .enum, .optional: word(1)
        default: nil
        }
    }

    /// A generic argument.
    func genericArgument(_ index: Int) -> RuntimeType? {
        guard let descriptor, let first = firstGenericArgument(descriptor) else { return nil }
        return word(first + index).flatMap { $0 == 0 ? nil : RuntimeType(metadata: $0) }
    }

    private func firstGenericArgument(_ descriptor: UInt) -> Int? {
        guard kind == .class else { return 2 }
        // A class's own members, its generic arguments first, are the last words of its metadata.
        guard let words = Memory.load(UInt32.self, at: descriptor + 28),
            let members = Memory.load(UInt32.self, at: descriptor + 32), members <= words
        else { return nil }
        return Int(words - members)
    }

    // MARK: Enums

    /// The payload of an enum's value: its type, and its bytes, in which the case is told by bits that are cleared.
    ///
    /// `bytes` begin with the value.
    func payload(of bytes: [UInt8]) -> (type: RuntimeType, bytes: [UInt8], isIndirect: Bool)? {
        guard let flags, flags & 0x20_0000 != 0, let witnesses,
            let getTag = Memory.load(UInt.self, at: witnesses + 88),
            let project = Memory.load(UInt.self, at: witnesses + 96),
            let tag = callGetTag(getTag, bytes)
        else { return nil }
        if kind == .optional {
            // The payload's case comes first.
            guard tag == 0, let wrapped = genericArgument(0) else { return nil }
            return (wrapped, projected(project, bytes), false)
        }
        guard let descriptor, let payloads = Memory.load(UInt32.self, at: descriptor + 20), tag < payloads & 0xFF_FFFF,
            let fields = Memory.relative(at: descriptor + 16)
        else { return nil }
        let record = fields + 16 + 12 * UInt(tag)
        guard let flags = Memory.load(UInt32.self, at: record),
            let name = MangledName(at: Memory.relative(at: record + 4))
        else { return nil }
        if flags & 1 != 0 { return (RuntimeType(AnyObject.self), projected(project, bytes), true) }
        guard let arguments = firstGenericArgument(descriptor),
            let type = name.type(context: descriptor, arguments: metadata + 8 * UInt(arguments))
        else { return nil }
        return (type, projected(project, bytes), false)
    }

    private func callGetTag(_ function: UInt, _ bytes: [UInt8]) -> UInt32? {
        guard let size, bytes.count >= size else { return nil }
        typealias GetTag = @convention(c) (UnsafeRawPointer, UInt) -> UInt32
        // SAFETY: a value witness, which only looks at the bits of the copy.
        let getTag = unsafe unsafeBitCast(function, to: GetTag.self)
        return unsafe aligned(bytes) { unsafe getTag($0, metadata) }
    }

    private func projected(_ function: UInt, _ bytes: [UInt8]) -> [UInt8] {
        typealias Project = @convention(c) (UnsafeMutableRawPointer, UInt) -> Void
        // SAFETY: a value witness, which only changes bits of the copy.
        let project = unsafe unsafeBitCast(function, to: Project.self)
        return unsafe aligned(bytes) { copy in
            unsafe project(copy, metadata)
            return unsafe [UInt8](UnsafeRawBufferPointer(start: copy, count: bytes.count))
        }
    }

    private func aligned<Result>(_ bytes: [UInt8], _ body: (UnsafeMutableRawPointer) -> Result) -> Result {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 16), alignment: 16)
        defer { unsafe copy.deallocate() }
        unsafe copy.copyMemory(from: bytes, byteCount: bytes.count)
        return unsafe body(copy)
    }
}

// MARK: The runtime's own reflection, which the standard library's `Mirror` uses

@unsafe private struct ReflectedField {
    var name: UnsafePointer<CChar>?
    var free: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
    var isStrong = false
    var isVar = false
}

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func reflectedCount(_ type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func reflectedChild(
    _ type: Any.Type, _ index: Int, _ field: UnsafeMutablePointer<ReflectedField>
) -> Any.Type

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func reflectedOffset(_ type: Any.Type, _ index: Int) -> Int

@_silgen_name("swift_retainCount")
private func retainCount(_ object: UInt) -> Int

/// The number of strong references to an object that the caller holds, the caller's included.
func strongReferences(to object: AnyObject) -> Int {
    // SAFETY: only counts; the caller holds the object for the call.
    unsafe retainCount(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
}
