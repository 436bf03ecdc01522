/// The storage object of an array, a set or a dictionary, whose elements stand behind its fields.
struct Container {
    private enum Kind { case array, set, dictionary }

    private let kind: Kind
    private let key: RuntimeType
    private let value: RuntimeType?

    /// `nil` if the type is not that of a container's storage.
    init?(storage type: RuntimeType) {
        guard let descriptor = type.descriptor, let kind = Container.descriptors[descriptor],
            let key = type.genericArgument(0)
        else { return nil }
        self.kind = kind
        self.key = key
        value = kind == .dictionary ? type.genericArgument(1) : nil
    }

    /// The storage classes by their descriptors, found in containers of our own.
    private static let descriptors: [UInt: Kind] = {
        var found: [UInt: Kind] = [:]
        func add<Value>(_ value: Value, _ kind: Kind) {
            // SAFETY: these containers are one word, a reference to their storage, with flags nowhere on Linux.
            let storage = unsafe unsafeBitCast(value, to: UInt.self)
            if case .instance(let type) = HeapObject(address: storage).kind, let descriptor = type.descriptor {
                found[descriptor] = kind
            }
            withExtendedLifetime(value) {}
        }
        // Made at run time, because the compiler lays literals out as constants of another class.
        let one = Int(bitPattern: ObjectIdentifier(Int.self)) & 1
        var array: [Int] = []
        array.append(one)
        add(array, .array)
        add(Set([one]), .set)
        add(Dictionary(uniqueKeysWithValues: [(one, one)]), .dictionary)
        return found
    }()

    func references(in storage: HeapObject) -> [HeapObject.Reference] {
        switch kind {
        case .array: array(storage)
        case .set, .dictionary: hashed(storage)
        }
    }

    private static let limit = 10_000

    private func array(_ storage: HeapObject) -> [HeapObject.Reference] {
        guard let count = Memory.load(Int.self, at: storage.address + 16), let alignment = key.alignment,
            let stride = key.stride
        else { return [] }
        let first = (32 + alignment - 1) & ~(alignment - 1)
        return (0..<max(0, min(count, Container.limit))).flatMap { index in
            storage.references(of: key, at: first + index * stride).map { $0.inside("[\(index)]") }
        }
    }

    /// Keys and values stand in two buffers; a bitmap behind the fields tells which places are taken.
    private func hashed(_ storage: HeapObject) -> [HeapObject.Reference] {
        guard case .instance(let type) = storage.kind else { return [] }
        let fields = Dictionary(type.fields.map { ($0.name, $0.offset) }) { first, _ in first }
        guard let scaleOffset = fields["_scale"], let keysOffset = fields["_rawKeys"],
            let scale = Memory.load(UInt8.self, at: storage.address + UInt(scaleOffset)), scale < 24,
            let keys = Memory.load(UInt.self, at: storage.address + UInt(keysOffset)), let stride = key.stride
        else { return [] }
        let values = fields["_rawValues"].flatMap { Memory.load(UInt.self, at: storage.address + UInt($0)) }
        let end = (fields.values.max() ?? 0) + 8
        var references: [HeapObject.Reference] = []
        for place in 0..<min(1 << Int(scale), Container.limit) {
            let word = Memory.load(UInt.self, at: storage.address + UInt(end + place / 64 * 8))
            guard let word, word >> UInt(place % 64) & 1 == 1 else { continue }
            references += HeapObject(address: keys).references(of: key, at: place * stride)
            if let value, let values, let stride = value.stride {
                references += HeapObject(address: values).references(of: value, at: place * stride)
            }
        }
        return references.map { $0.inside("[…]") }
    }
}
