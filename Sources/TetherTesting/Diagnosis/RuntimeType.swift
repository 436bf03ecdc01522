internal import Tether

/// A type in the Swift runtime's description: the layout, the fields, the cases.
///
/// The layouts are ABI: `Metadata.h` and `MetadataValues.h` of the Swift runtime.
///
/// SAFETY: types are immutable, and the runtime never frees a type.
struct RuntimeType: @unchecked Sendable {
    let type: Any.Type

    init(_ type: Any.Type) {
        self.type = type
    }

    /// The type of a metadata address, which the caller knows to be valid.
    init(metadata: UInt) {
        // SAFETY: a metatype is the address of its metadata, which the caller passes.
        type = unsafe unsafeBitCast(metadata, to: Any.Type.self)
    }

    /// The class of an object's first word; `nil` if the word is no class.
    ///
    /// Two facts prove a class: all classes of Swift share one table of value witnesses, and the
    /// descriptor is among the compiler's records.
    init?(class metadata: UInt) {
        guard metadata & 7 == 0, let words = Memory.bytes(at: metadata &- 8, count: 56),
            words.load(UInt.self, at: 0) == RuntimeType.classWitnesses,
            words.load(UInt.self, at: 8) == 0,
            let descriptor = words.load(UInt.self, at: 48),
            RuntimeType.isDescriptor(descriptor, of: .class)
        else { return nil }
        self.init(metadata: metadata)
    }

    /// The type of a word found in memory that may change; `nil` if the word is not proved to be a
    /// class, a struct or an enum.
    init?(found metadata: UInt) {
        guard metadata & 7 == 0, let header = Memory.bytes(at: metadata, count: 16),
            let kind = header.load(UInt.self, at: 0).flatMap(Kind.init(rawValue:)),
            let descriptor = header.load(UInt.self, at: 8)
        else { return nil }
        let isType =
            switch kind {
            case .class: RuntimeType(class: metadata) != nil
            case .struct: RuntimeType.isDescriptor(descriptor, of: .struct)
            case .enum, .optional: RuntimeType.isDescriptor(descriptor, of: .enum)
            default: false
            }
        guard isType else { return nil }
        self.init(metadata: metadata)
    }

    /// The type of a value in a box or an existential, found in memory: also a tuple, a function or
    /// an existential, of which only the memory of the metadata is read.
    init?(boxed metadata: UInt, depth: Int = 0) {
        if let type = RuntimeType(found: metadata) {
            self = type
            return
        }
        guard metadata & 7 == 0, depth < 8,
            let kind = Memory.load(UInt.self, at: metadata).flatMap(Kind.init(rawValue:)),
            [Kind.tuple, .function, .existential].contains(kind)
        else { return nil }
        self.init(metadata: metadata)
        guard kind == .tuple else { return }
        for element in elements
        where RuntimeType(boxed: element.type.metadata, depth: depth + 1) == nil {
            return nil
        }
    }

    /// The kinds of descriptors of types, as the compiler writes them.
    enum DescriptorKind: UInt32 {
        case `class` = 16
        case `struct` = 17
        case `enum` = 18
    }

    static func isDescriptor(_ address: UInt, of kind: DescriptorKind) -> Bool {
        CompiledRecords.isTypeDescriptor(address)
            && Memory.load(UInt32.self, at: address).map { $0 & 0x1F == kind.rawValue } == true
    }

    private final class AnyClass {}

    private static let classWitnesses = RuntimeType(AnyClass.self).word(-1)

    // SAFETY: a metatype is the address of its metadata, which the runtime never frees.
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
    func word(_ index: Int) -> UInt? {
        Memory.load(UInt.self, at: metadata &+ UInt(bitPattern: index * 8))
    }

    // MARK: Layout

    /// The table of the type's value witnesses stands before its metadata.
    private var witnesses: UInt? { word(-1) }

    var size: Int? { length(at: 64) }
    var stride: Int? { length(at: 72) }
    var flags: UInt32? { witnesses.flatMap { Memory.load(UInt32.self, at: $0 &+ 80) } }
    var alignment: Int? { flags.map { Int($0 & 0xFF) + 1 } }

    /// Whether values are copied as bytes, without counting references.
    var isPlain: Bool? { flags.map { $0 & 0x1_0000 == 0 } }

    private func length(at offset: UInt) -> Int? {
        let length = witnesses.flatMap { Memory.load(Int.self, at: $0 &+ offset) }
        return length.flatMap { (0...Memory.limit).contains($0) ? $0 : nil }
    }

    /// Whether an existential keeps a value of the type in a box.
    var isBoxedInExistential: Bool? { flags.map { $0 & 0x2_0000 != 0 } }

    // MARK: Fields

    struct Field {
        let name: String
        let type: RuntimeType
        let offset: Int
        let isStrong: Bool
    }

    /// The stored properties of a struct, or of a class, where the properties of superclasses come
    /// first.
    ///
    /// The runtime hides the types of noncopyable properties, such as a `Mutex`, so their
    /// references are not found.
    var fields: [Field] {
        (0..<max(0, reflectedCount(type))).map { index in
            var field = unsafe ReflectedField()
            let type = unsafe reflectedChild(type, index, &field)
            // SAFETY: the runtime returns a C string with the function that frees the string,
            // called below.
            let name = unsafe field.name.map { unsafe String(cString: $0) } ?? "?"
            unsafe field.free?(field.name)
            return unsafe Field(
                name: name, type: RuntimeType(type), offset: reflectedOffset(self.type, index),
                isStrong: field.isStrong
            )
        }
    }

    /// The elements of a tuple.
    var elements: [Field] {
        guard let count = word(1), count < 64 else { return [] }
        return (0..<Int(count)).compactMap { index in
            guard let metadata = word(3 + 2 * index), let offset = word(4 + 2 * index) else {
                return nil
            }
            // Without Objective-C the offset is half a word, and the other half is undefined.
            return Field(
                name: String(index), type: RuntimeType(metadata: metadata),
                offset: Int(offset & 0xFFFF_FFFF),
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

    /// A generic argument of a class, a struct or an enum.
    func genericArgument(_ index: Int) -> RuntimeType? {
        guard let descriptor else { return nil }
        var first = 2
        if kind == .class {
            // A class's own members, its generic arguments first, are the last words of its
            // metadata.
            guard let words = Memory.load(UInt32.self, at: descriptor &+ 28),
                let members = Memory.load(UInt32.self, at: descriptor &+ 32), members <= words
            else { return nil }
            first = Int(words - members)
        }
        return word(first + index).flatMap { $0 == 0 ? nil : RuntimeType(metadata: $0) }
    }

    // MARK: Enums

    /// The payload of an enum's value: the payload's type, and the bytes without the bits of the
    /// case.
    ///
    /// `bytes` begin with the value.
    func payload(of bytes: [UInt8]) -> (type: RuntimeType, bytes: [UInt8])? {
        guard let size, bytes.count >= size, let flags, flags & 0x20_0000 != 0, let witnesses,
            let getTag = Memory.load(UInt.self, at: witnesses &+ 88),
            let project = Memory.load(UInt.self, at: witnesses &+ 96)
        else { return nil }
        typealias GetTag = @convention(c) (UnsafeRawPointer, UInt) -> UInt32
        typealias Project = @convention(c) (UnsafeMutableRawPointer, UInt) -> Void
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 16), alignment: 16)
        defer { unsafe copy.deallocate() }
        unsafe copy.copyMemory(from: bytes, byteCount: bytes.count)
        // SAFETY: both functions are value witnesses of this type, which only read and change the
        // bits of the copy.
        guard
            let type = payload(
                ofCase: unsafe unsafeBitCast(getTag, to: GetTag.self)(copy, metadata))
        else {
            return nil
        }
        unsafe unsafeBitCast(project, to: Project.self)(copy, metadata)
        return unsafe (type, [UInt8](UnsafeRawBufferPointer(start: copy, count: bytes.count)))
    }

    /// The type of a case's payload; `nil` for an indirect case, and for a generic enum other than
    /// an optional.
    private func payload(ofCase tag: UInt32) -> RuntimeType? {
        // The case with the payload comes first.
        if kind == .optional { return tag == 0 ? genericArgument(0) : nil }
        guard let descriptor, let flags = Memory.load(UInt32.self, at: descriptor),
            flags & 0x80 == 0,
            let payloads = Memory.load(UInt32.self, at: descriptor &+ 20),
            tag < payloads & 0xFF_FFFF,
            let fields = Memory.relative(at: descriptor &+ 16),
            case let record = fields &+ 16 &+ 12 * UInt(tag),
            let caseFlags = Memory.load(UInt32.self, at: record), caseFlags & 1 == 0
        else { return nil }
        return MangledName(at: Memory.relative(at: record &+ 4))?.type
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
