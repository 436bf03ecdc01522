internal import Tether

/// The places of the strong references in a value of a type.
indirect enum TypeLayout: Sendable {
    /// A reference to an object.
    case reference
    /// A function: the address of the code, and the context.
    case function
    /// A value of any type: three words for the value, then the type.
    case existential
    /// Named values at offsets.
    case fields([(label: String, offset: Int, layout: TypeLayout)])
    /// A value whose case is read by the type's own enum functions.
    case cases(RuntimeType)
    /// Nothing to follow: numbers, pointers, weak and unowned references, and unrecognised values.
    case none

    var isNone: Bool { if case .none = self { true } else { false } }

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
            guard let flags = type.word(1) else { return .none }
            // A class existential begins with the reference. An error is one reference to a box,
            // which is not followed.
            if flags & 0x8000_0000 == 0 { return .reference }
            return (flags >> 24) & 0x3F == 0 ? .existential : .none
        case .opaque:
            return ["Builtin.BridgeObject", "Builtin.NativeObject"].contains(type.fullName)
                ? .reference : .none
        case .metatype, .existentialMetatype, nil: return .none
        }
    }

    private static func fields(_ fields: [RuntimeType.Field], haveNames: Bool = true) -> TypeLayout
    {
        let found = fields.compactMap {
            field -> (label: String, offset: Int, layout: TypeLayout)? in
            guard field.isStrong else { return nil }
            let layout = value(of: field.type)
            if layout.isNone { return nil }
            return (haveNames ? label(field.name) : "", field.offset, layout)
        }
        return found.isEmpty ? .none : .fields(found)
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
            return fields.flatMap { field in
                field.layout.references(in: bytes, at: offset + field.offset).map {
                    $0.inside(field.label)
                }
            }
        case .cases(let type):
            guard let size = type.size, offset + size <= bytes.count,
                let payload = type.payload(of: Array(bytes[offset..<offset + size]))
            else { return [] }
            return TypeLayout.value(of: payload.type).references(in: payload.bytes)
        case .none: return []
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
            let type = RuntimeType(found: metadata), let isBoxed = type.isBoxedInExistential
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
