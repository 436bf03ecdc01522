/// The storage object of an array, a set or a dictionary, whose elements stand behind its fields.
struct Container: Sendable {
    private enum Kind { case array, set, dictionary }

    private let kind: Kind
    private let key: RuntimeType
    private let value: RuntimeType?
    /// Where the fields of a set's or a dictionary's storage are.
    private let fields: [String: Int]

    /// `nil` if the type is not that of a container's storage.
    init?(storage type: RuntimeType) {
        guard let descriptor = type.descriptor, let kind = Container.descriptors[descriptor],
            let key = type.genericArgument(0)
        else { return nil }
        self.kind = kind
        self.key = key
        value = kind == .dictionary ? type.genericArgument(1) : nil
        fields = kind == .array ? [:] : Dictionary(type.fields.map { ($0.name, $0.offset) }) { first, _ in first }
    }

    /// The storage classes by their descriptors, found in containers of our own.
    private static let descriptors: [UInt: Kind] = {
        var found: [UInt: Kind] = [:]
        func add<Value>(_ value: Value, _ kind: Kind) {
            // SAFETY: these containers are one word, a reference to their storage, with flags nowhere on Linux.
            let storage = unsafe unsafeBitCast(value, to: UInt.self)
            if let metadata = Memory.load(UInt.self, at: storage),
                let descriptor = RuntimeType(class: metadata)?.descriptor
            {
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

    /// How many elements are looked into at most; fewer, if these are more than is copied at once.
    static let limit = 10_000

    /// How many elements of a size are looked into, of as many.
    private static func readable(_ count: Int, _ stride: Int) -> Int {
        min(count, limit, Memory.limit / max(stride, 1))
    }

    /// The references of the elements that are looked into, and whether those are not all, given a copy of the storage's
    /// first bytes.
    func references(in storage: HeapObject, _ start: [UInt8]) -> (references: [HeapObject.Reference], isCut: Bool) {
        switch kind {
        case .array: array(storage, start)
        case .set, .dictionary: hashed(storage, start)
        }
    }

    private func array(_ storage: HeapObject, _ start: [UInt8]) -> (references: [HeapObject.Reference], isCut: Bool) {
        let layout = TypeLayout.value(of: key)
        guard !layout.isNone, let all = start.load(Int.self, at: 16), all > 0, let alignment = key.alignment,
            let stride = key.stride
        else { return ([], false) }
        let first = (32 + alignment - 1) & ~(alignment - 1)
        let count = Container.readable(all, stride)
        let elements = elements(count, at: storage.address &+ UInt(first), layout, stride)
            .enumerated().flatMap { index, references in references.map { $0.inside("[\(index)]") } }
        return (elements, count < all)
    }

    /// Keys and values stand in two buffers; a bitmap behind the fields tells which places are taken.
    private func hashed(_ storage: HeapObject, _ start: [UInt8]) -> (references: [HeapObject.Reference], isCut: Bool) {
        guard let scaleOffset = fields["_scale"], let keysOffset = fields["_rawKeys"],
            let scale = start.load(UInt8.self, at: scaleOffset), scale < 48,
            let keys = start.load(UInt.self, at: keysOffset)
        else { return ([], false) }
        let all = 1 << Int(scale)
        let end = (fields.values.max() ?? 0) + 8
        let words = (min(all, Container.limit) + 63) / 64
        guard let bitmap = Memory.bytes(at: storage.address &+ UInt(end), count: words * 8) else { return ([], false) }
        var buffers = [(keys, key)]
        if let value, let values = fields["_rawValues"].flatMap({ start.load(UInt.self, at: $0) }) {
            buffers.append((values, value))
        }
        var (found, isCut) = ([HeapObject.Reference](), false)
        for (address, type) in buffers {
            let layout = TypeLayout.value(of: type)
            guard !layout.isNone, let stride = type.stride else { continue }
            let count = Container.readable(all, stride)
            if count < all { isCut = true }
            found += elements(count, at: address, layout, stride) { bitmap[$0 / 8] >> UInt8($0 % 8) & 1 == 1 }
                .flatMap { references in references.map { $0.inside("[…]") } }
        }
        return (found, isCut)
    }

    /// The references of each of the elements of a buffer that are there.
    private func elements(
        _ count: Int, at address: UInt, _ layout: TypeLayout, _ stride: Int,
        where isThere: (Int) -> Bool = { _ in true }
    ) -> [[HeapObject.Reference]] {
        guard let bytes = Memory.bytes(at: address, count: count * stride) else { return [] }
        return (0..<count).map { isThere($0) ? layout.references(in: bytes, at: $0 * stride) : [] }
    }
}
