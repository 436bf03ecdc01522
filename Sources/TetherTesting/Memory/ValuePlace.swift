internal import Tether

/// The meaning of a word in an object or a value, by the type.
///
/// `TypeLayout` answers the opposite question, for a search from holders: which references a value
/// has. A search from the held object must also know which words are none.
enum ValuePlace {
    /// A strong reference.
    case strong(label: String, isClosure: Bool)
    /// A weak, an unowned or an unmanaged reference, or no part of the value.
    case notHolding
    /// A number or a pointer, which may lead to memory other than an object of Swift.
    case plain(label: String)
    /// A part of the value whose layout is not known.
    case unknown(label: String)

    /// The same place, labelled from the enclosing value on.
    func inside(_ outer: String) -> ValuePlace {
        func joined(_ label: String) -> String { PropertyPath.join(outer, label) }
        return switch self {
        case .strong(let label, let isClosure):
            .strong(label: joined(label), isClosure: isClosure)
        case .notHolding: .notHolding
        case .plain(let label): .plain(label: joined(label))
        case .unknown(let label): .unknown(label: joined(label))
        }
    }

    private static let reference = ValuePlace.strong(label: "", isClosure: false)

    /// The greatest number of values inside each other.
    private static let depthLimit = 20

    /// The place at an offset in a value, given the value's bytes.
    init(at offset: Int, in bytes: [UInt8], of type: RuntimeType, depth: Int = 0) {
        guard depth < ValuePlace.depthLimit else {
            self = .unknown(label: "")
            return
        }
        // Behind the value, the words of an existential keep what was there before.
        if let size = type.size, offset >= size {
            self = .notHolding
            return
        }
        switch type.kind {
        case .class:
            self = ValuePlace.reference
        case .struct where type.type == String.self:
            self = offset == 8 ? ValuePlace.reference : .notHolding
        case .struct:
            self = ValuePlace(
                at: offset, in: bytes, fields: type.knownFields, isPlain: type.isPlain == true,
                haveNames: !type.isStructOfLibrary, depth: depth)
        case .tuple:
            self = ValuePlace(
                at: offset, in: bytes, fields: type.elements, isPlain: type.isPlain == true,
                depth: depth)
        case .enum, .optional:
            self = ValuePlace(at: offset, in: bytes, ofCaseOf: type, depth: depth)
        case .function:
            self = offset == 8 ? .strong(label: "", isClosure: true) : .notHolding
        case .existential:
            self = ValuePlace(at: offset, in: bytes, ofExistential: type, depth: depth)
        case .opaque:
            let references = ["Builtin.BridgeObject", "Builtin.NativeObject"]
            if references.contains(type.fullName) {
                self = ValuePlace.reference
            } else {
                self = type.isPlain == true ? .plain(label: "") : .unknown(label: "")
            }
        case .metatype, .existentialMetatype: self = .notHolding
        case nil: self = .unknown(label: "")
        }
    }

    /// The place at an offset in the properties of an object or a value.
    init(
        at offset: Int, in bytes: [UInt8], fields: [RuntimeType.Field], isPlain: Bool,
        haveNames: Bool = true, depth: Int = 0
    ) {
        if isPlain {
            self = .plain(label: "")
            return
        }
        func label(_ field: RuntimeType.Field) -> String {
            haveNames ? TypeLayout.label(field.name) : ""
        }
        var before: RuntimeType.Field?
        for field in fields where field.offset <= offset {
            before = field
            guard let size = field.type.size, offset < field.offset + size else { continue }
            guard field.isStrong else {
                self = .notHolding
                return
            }
            let end = min(field.offset + size, bytes.count)
            let value = field.offset < end ? Array(bytes[field.offset..<end]) : []
            self = ValuePlace(
                at: offset - field.offset, in: value, of: field.type, depth: depth + 1
            ).inside(label(field))
            return
        }
        // The runtime hides the types of noncopyable properties.
        self = .unknown(label: before.map(label) ?? "")
    }

    private init(at offset: Int, in bytes: [UInt8], ofCaseOf type: RuntimeType, depth: Int) {
        if type.isPlain == true {
            self = .plain(label: "")
            return
        }
        guard let size = type.size, bytes.count >= size,
            let payload = type.payload(of: Array(bytes[..<size]))
        else {
            self = .unknown(label: "")
            return
        }
        self = ValuePlace(at: offset, in: payload.bytes, of: payload.type, depth: depth + 1)
    }

    private init(at offset: Int, in bytes: [UInt8], ofExistential type: RuntimeType, depth: Int) {
        guard let flags = type.word(1) else {
            self = .unknown(label: "")
            return
        }
        let isOfClass = flags & 0x8000_0000 == 0
        let isError = (flags >> 24) & 0x3F != 0
        if isOfClass || isError {
            self = offset == 0 ? ValuePlace.reference : .notHolding
            return
        }
        // Three words for the value, then the type.
        guard offset < 24, let metadata = bytes.load(UInt.self, at: 24), metadata != 0 else {
            self = .notHolding
            return
        }
        guard let inner = RuntimeType(boxed: metadata), let isBoxed = inner.isBoxedInExistential
        else {
            self = .unknown(label: "")
            return
        }
        if isBoxed {
            self = offset == 0 ? ValuePlace.reference : .notHolding
        } else {
            self = ValuePlace(at: offset, in: bytes, of: inner, depth: depth + 1)
        }
    }
}

extension RuntimeType {
    /// Whether values are copied as bytes, without counting references.
    var isPlain: Bool? { flags.map { $0 & 0x1_0000 == 0 } }

    private static let fieldsOfTypes = Locked<[UInt: [Field]]>([:])

    /// The fields, read once.
    var knownFields: [Field] {
        let metadata = metadata
        if let known = RuntimeType.fieldsOfTypes.withLock({ $0[metadata] }) { return known }
        let found = fields
        RuntimeType.fieldsOfTypes.withLock { $0[metadata] = found }
        return found
    }

    /// The type of a box's or an existential's value, found in memory: also a tuple, a function or
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
        if kind == .tuple {
            let known = elements.allSatisfy { element in
                RuntimeType(boxed: element.type.metadata, depth: depth + 1) != nil
            }
            if !known { return nil }
        }
    }
}
