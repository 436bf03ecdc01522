internal import Tether

/// The strong references in a value of a type, and the meaning of its other words.
///
/// A search from holders asks for all references of a value; a search from the held object, for the
/// meaning of one word.
indirect enum TypeLayout: Sendable {
    /// A reference to an object or a box.
    case reference
    /// A function: the address of the code, and the context.
    case function
    /// A value of any type: three words for the value, then the type.
    case existential
    /// Named values at offsets.
    case fields([Field])
    /// A value whose case is read by the type's own enum functions.
    case cases(RuntimeType)
    /// Numbers and pointers.
    case plain
    /// Weak, unowned and unmanaged references, types and text.
    case none
    /// A value of an unrecognized type.
    case unknown

    struct Field: Sendable {
        let label: String
        let offset: Int
        let size: Int
        let layout: TypeLayout
        let isFollowed: Bool
    }

    /// Whether there is no reference to follow.
    var isNone: Bool {
        switch self {
        case .plain, .none, .unknown: true
        case .fields(let fields): !fields.contains(where: \.isFollowed)
        case .reference, .function, .existential, .cases: false
        }
    }

    // MARK: Finding a layout

    /// The layout of a class's instances.
    static func instance(of type: RuntimeType) -> TypeLayout { fields(type.fields) }

    private static let values = Locked<[UInt: TypeLayout]>([:])

    /// The layout of a type's values; a reference for a class.
    static func value(of type: RuntimeType) -> TypeLayout {
        if let known = values.withLock({ $0[type.metadata] }) { return known }
        let found = find(valueOf: type)
        values.withLock { $0[type.metadata] = found }
        return found
    }

    private static func find(valueOf type: RuntimeType) -> TypeLayout {
        if type.isPlain == true { return .plain }
        switch type.kind {
        case .class:
            return .reference
        case .struct:
            if type.type == String.self { return .none }
            // The fields of library types have no names: their implementation does not concern the
            // user.
            return fields(type.fields, haveNames: !type.isStructOfLibrary)
        case .tuple: return fields(type.elements)
        case .enum, .optional: return .cases(type)
        case .function: return .function
        case .existential:
            guard let flags = type.word(1) else { return .unknown }
            let isOfClass = flags & 0x8000_0000 == 0
            let isError = (flags >> 24) & 0x3F != 0
            return isOfClass || isError ? .reference : .existential
        case .opaque:
            return ["Builtin.BridgeObject", "Builtin.NativeObject"].contains(type.fullName)
                ? .reference : .unknown
        case .metatype, .existentialMetatype: return .none
        case nil: return .unknown
        }
    }

    private static func fields(_ fields: [RuntimeType.Field], haveNames: Bool = true) -> TypeLayout
    {
        .fields(
            fields.map { field in
                let layout = field.isStrong ? value(of: field.type) : .none
                return Field(
                    label: haveNames ? label(field.name) : "", offset: field.offset,
                    size: field.type.size ?? 0, layout: layout, isFollowed: !layout.isNone)
            })
    }

    /// The name of a stored property in the source.
    static func label(_ name: String) -> String {
        let prefix = "$__lazy_storage_$_"
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    }

    // MARK: Reading a value

    /// The references in a value's bytes, including references to the boxes of values.
    func references(in bytes: [UInt8], at offset: Int = 0) -> [HeapObject.Reference] {
        switch self {
        case .reference: return reference(bytes.load(UInt.self, at: offset))
        case .function: return reference(bytes.load(UInt.self, at: offset + 8), isClosure: true)
        case .existential: return existential(bytes, at: offset)
        case .fields(let fields):
            return fields.lazy.filter(\.isFollowed).flatMap { field in
                field.layout.references(in: bytes, at: offset + field.offset).map {
                    $0.inside(field.label)
                }
            }
        case .cases(let type):
            guard let payload = TypeLayout.payload(of: type, in: bytes, at: offset) else {
                return []
            }
            return TypeLayout.value(of: payload.type).references(in: payload.bytes)
        case .plain, .none, .unknown: return []
        }
    }

    private func reference(_ word: UInt?, isClosure: Bool = false) -> [HeapObject.Reference] {
        // The highest byte and the lowest bits of a bridge object are flags.
        guard let word, word != 0, word >> 63 == 0 else { return [] }
        return [
            HeapObject.Reference(
                label: "", object: HeapObject(address: word & 0x00FF_FFFF_FFFF_FFF8),
                isClosure: isClosure)
        ]
    }

    private func existential(_ bytes: [UInt8], at offset: Int) -> [HeapObject.Reference] {
        guard let metadata = bytes.load(UInt.self, at: offset + 24), metadata != 0,
            let type = RuntimeType(boxed: metadata), let isBoxed = type.isBoxedInExistential
        else { return [] }
        let layout = TypeLayout.value(of: type)
        if layout.isNone { return [] }
        if !isBoxed { return layout.references(in: bytes, at: offset) }
        guard let box = bytes.load(UInt.self, at: offset) else { return [] }
        return [
            HeapObject.Reference(
                label: "", object: HeapObject(address: box), isClosure: false, boxed: type)
        ]
    }

    private static func payload(
        of type: RuntimeType, in bytes: [UInt8], at offset: Int
    ) -> (type: RuntimeType, bytes: [UInt8])? {
        guard let size = type.size, offset + size <= bytes.count else { return nil }
        return type.payload(of: Array(bytes[offset..<offset + size]))
    }

    // MARK: Reading a word

    /// The meaning of the word at a place in a value that begins at an offset in the bytes.
    func meaning(of place: Int, in bytes: [UInt8], at offset: Int = 0) -> WordMeaning {
        switch self {
        case .reference: return place == 0 ? WordMeaning(.strong) : WordMeaning(.none)
        case .function:
            return place == 8 ? WordMeaning(.strong, isClosure: true) : WordMeaning(.none)
        case .existential: return existentialMeaning(of: place, in: bytes, at: offset)
        case .fields(let fields):
            guard let field = fields.last(where: { $0.offset <= place }) else {
                return WordMeaning(.unknown)
            }
            // The runtime hides the types of noncopyable properties, and so their sizes.
            guard place < field.offset + field.size else {
                return WordMeaning(.unknown, label: field.label)
            }
            return field.layout.meaning(
                of: place - field.offset, in: bytes, at: offset + field.offset
            ).inside(field.label)
        case .cases(let type):
            guard let payload = TypeLayout.payload(of: type, in: bytes, at: offset) else {
                return WordMeaning(.unknown)
            }
            return TypeLayout.value(of: payload.type).meaning(of: place, in: payload.bytes)
        case .plain: return WordMeaning(.plain)
        case .none: return WordMeaning(.none)
        case .unknown: return WordMeaning(.unknown)
        }
    }

    private func existentialMeaning(
        of place: Int, in bytes: [UInt8], at offset: Int
    ) -> WordMeaning {
        guard place < 24, let metadata = bytes.load(UInt.self, at: offset + 24), metadata != 0
        else { return WordMeaning(.none) }
        guard let type = RuntimeType(boxed: metadata), let size = type.size,
            let isBoxed = type.isBoxedInExistential
        else { return WordMeaning(.unknown) }
        if isBoxed { return TypeLayout.reference.meaning(of: place, in: bytes) }
        // Behind the value, the words keep what was there before.
        if place >= size { return WordMeaning(.none) }
        return TypeLayout.value(of: type).meaning(of: place, in: bytes, at: offset)
    }
}

/// The meaning of a word in an object or a value.
struct WordMeaning {
    enum Kind {
        /// A strong reference.
        case strong
        /// A weak, an unowned or an unmanaged reference, or no part of the value.
        case none
        /// A number or a pointer, which may lead to memory other than an object of Swift.
        case plain
        /// A part of the value whose layout is not known.
        case unknown
    }

    let kind: Kind
    /// The property, as in `HeapObject.Reference`.
    var label = ""
    var isClosure = false

    init(_ kind: Kind, label: String = "", isClosure: Bool = false) {
        self.kind = kind
        self.label = label
        self.isClosure = isClosure
    }

    /// The same word, labelled from the enclosing value on.
    func inside(_ outer: String) -> WordMeaning {
        WordMeaning(kind, label: PropertyPath.join(outer, label), isClosure: isClosure)
    }
}

extension RuntimeType {
    /// Whether a struct belongs to a library, so that the names of its fields say nothing to a
    /// user.
    var isStructOfLibrary: Bool {
        ["Swift.", "Synchronization.", "Tether."].contains { fullName.hasPrefix($0) }
    }
}

extension HeapObject.Reference {
    /// The same reference, labelled from the enclosing value on.
    func inside(_ outer: String) -> HeapObject.Reference {
        return HeapObject.Reference(
            label: PropertyPath.join(outer, label), object: object, isClosure: isClosure,
            boxed: boxed)
    }
}
