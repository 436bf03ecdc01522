internal import Dispatch

/// The storage object of an array, a set or a dictionary, whose elements stand behind its fields.
struct Container: Sendable {
    private enum Kind { case array, set, dictionary }

    private let kind: Kind
    private let key: RuntimeType
    private let value: RuntimeType?
    /// The offsets of the fields in the storage of a set or a dictionary.
    private let fields: [String: Int]

    /// `nil` if the type is no container's storage.
    init?(storage type: RuntimeType) {
        guard let descriptor = type.descriptor, let kind = Container.descriptors[descriptor],
            let key = type.genericArgument(0)
        else { return nil }
        self.kind = kind
        self.key = key
        value = kind == .dictionary ? type.genericArgument(1) : nil
        fields =
            kind == .array
            ? [:] : Dictionary(type.fields.map { ($0.name, $0.offset) }) { first, _ in first }
    }

    /// The storage classes by descriptor, found in containers made here.
    private static let descriptors: [UInt: Kind] = {
        var found: [UInt: Kind] = [:]
        func add<Value>(_ value: Value, _ kind: Kind) {
            // SAFETY: each container is one word, the reference to its storage; on Linux the word
            // has no flags.
            let storage = unsafe unsafeBitCast(value, to: UInt.self)
            if let metadata = Memory.load(UInt.self, at: storage),
                let descriptor = RuntimeType(class: metadata)?.descriptor
            {
                found[descriptor] = kind
            }
            withExtendedLifetime(value) {}
        }
        // The containers are made at run time, because the compiler lays literals out as constants
        // of another class.
        let one = Int(bitPattern: ObjectIdentifier(Int.self)) & 1
        var array: [Int] = []
        array.append(one)
        add(array, .array)
        add(Set([one]), .set)
        add(Dictionary(uniqueKeysWithValues: [(one, one)]), .dictionary)
        return found
    }()

    /// The greatest number of elements to read; fewer, if the elements exceed one copy of memory.
    static let limit = 10_000

    /// The limits for reading one collection.
    struct Budget {
        var elements = Container.limit
        var deadline = DispatchTime.distantFuture

        /// The number of elements to read, out of `count` elements with a stride.
        fileprivate func readable(_ count: Int, _ stride: Int) -> Int {
            min(count, elements, Memory.limit / max(stride, 1))
        }
    }

    /// Adds the references of the elements within a budget, given a copy of the storage's first
    /// bytes.
    func addElements(
        in storage: HeapObject, _ start: [UInt8], within budget: Budget,
        to found: inout HeapObject.Contents
    ) {
        if kind == .array {
            addArray(storage, start, budget, &found)
        } else {
            addHashed(storage, start, budget, &found)
        }
    }

    private func addArray(
        _ storage: HeapObject, _ start: [UInt8], _ budget: Budget,
        _ found: inout HeapObject.Contents
    ) {
        let layout = TypeLayout.value(of: key)
        guard !layout.isNone, let all = start.load(Int.self, at: 16), all > 0,
            let alignment = key.alignment,
            let stride = key.stride
        else { return }
        let first = (32 + alignment - 1) & ~(alignment - 1)
        let elements = elements(
            budget.readable(all, stride), at: storage.address &+ UInt(first), layout, stride,
            until: budget.deadline)
        found.references = elements.enumerated().flatMap { index, references in
            references.map { $0.inside("[\(index)]") }
        }
        found.elements = elements.count
        found.isCut = elements.count < all
    }

    /// Keys and values are in two buffers; a bitmap behind the fields marks the places in use.
    private func addHashed(
        _ storage: HeapObject, _ start: [UInt8], _ budget: Budget,
        _ found: inout HeapObject.Contents
    ) {
        guard let scaleOffset = fields["_scale"],
            let keysOffset = fields["_rawKeys"] ?? fields["_rawElements"],
            let scale = start.load(UInt8.self, at: scaleOffset), scale < 48,
            let keys = start.load(UInt.self, at: keysOffset)
        else { return }
        let all = 1 << Int(scale)
        let end = (fields.values.max() ?? 0) + 8
        let words = (min(all, budget.elements) + 63) / 64
        guard let bitmap = Memory.bytes(at: storage.address &+ UInt(end), count: words * 8) else {
            return
        }
        var buffers = [(keys, key)]
        if let value, let values = fields["_rawValues"].flatMap({ start.load(UInt.self, at: $0) }) {
            buffers.append((values, value))
        }
        for (address, type) in buffers {
            let layout = TypeLayout.value(of: type)
            guard !layout.isNone, let stride = type.stride else { continue }
            let elements = elements(
                budget.readable(all, stride), at: address, layout, stride, until: budget.deadline
            ) { bitmap[$0 / 8] >> UInt8($0 % 8) & 1 == 1 }
            found.references += elements.flatMap { references in references.map { $0.inside("[…]") }
            }
            found.elements += elements.count
            if elements.count < all { found.isCut = true }
        }
    }

    // MARK: One word

    /// The meaning of a word in the storage, given a copy of the storage's first bytes.
    func meaning(of offset: Int, in storage: HiddenAddress, _ start: [UInt8]) -> WordMeaning {
        let found =
            kind == .array
            ? elementMeaning(of: offset, in: storage, start)
            : hashedMeaning(of: offset, in: storage, start)
        return found ?? WordMeaning(.none)
    }

    private func elementMeaning(
        of offset: Int, in storage: HiddenAddress, _ start: [UInt8]
    ) -> WordMeaning? {
        guard let count = start.load(Int.self, at: 16), let alignment = key.alignment else {
            return nil
        }
        let first = (32 + alignment - 1) & ~(alignment - 1)
        return Container.meaning(of: key, at: offset - first, in: storage + first) { number in
            number < count ? "[\(number)]" : nil
        }
    }

    private func hashedMeaning(
        of offset: Int, in storage: HiddenAddress, _ start: [UInt8]
    ) -> WordMeaning? {
        guard let scaleOffset = fields["_scale"],
            let keysOffset = fields["_rawKeys"] ?? fields["_rawElements"],
            let scale = start.load(UInt8.self, at: scaleOffset), scale < 48,
            let keysAddress = start.load(UInt.self, at: keysOffset)
        else { return nil }
        let bitmap = storage + ((fields.values.max() ?? 0) + 8)
        func isUsed(_ number: Int) -> Bool {
            guard number < 1 << Int(scale),
                let byte = Memory.load(UInt8.self, at: (bitmap + number / 8).address)
            else { return false }
            return byte >> UInt8(number % 8) & 1 == 1
        }
        let keys = HiddenAddress(keysAddress)
        if let value, let address = fields["_rawValues"].flatMap({ start.load(UInt.self, at: $0) }),
            case let first = HiddenAddress(address) - storage, offset >= first
        {
            return Container.meaning(of: value, at: offset - first, in: storage + first) { number in
                isUsed(number) ? "[\(text(ofKey: number, in: keys))]" : nil
            }
        }
        return Container.meaning(of: key, at: offset - (keys - storage), in: keys) { number in
            isUsed(number) ? "[…]" : nil
        }
    }

    /// The meaning of a word in a buffer of values; `nil` if the word is in no used value.
    private static func meaning(
        of type: RuntimeType, at offset: Int, in buffer: HiddenAddress,
        labelOf label: (Int) -> String?
    ) -> WordMeaning? {
        guard offset >= 0, let stride = type.stride, stride > 0, let size = type.size else {
            return nil
        }
        let number = offset / stride
        guard offset % stride < size, let label = label(number),
            let value = Memory.bytes(at: (buffer + number * stride).address, count: size)
        else { return nil }
        return TypeLayout.value(of: type).meaning(of: offset % stride, in: value).inside(label)
    }

    /// A key in the words of the source, if it is a string or a number.
    private func text(ofKey number: Int, in keys: HiddenAddress) -> String {
        let place = keys + number * (key.stride ?? 1)
        let address = place.address
        let text: String? =
            switch key.type {
            case is Int.Type: Memory.load(Int.self, at: address).map(String.init)
            case is Int32.Type: Memory.load(Int32.self, at: address).map(String.init)
            case is Int64.Type: Memory.load(Int64.self, at: address).map(String.init)
            case is UInt.Type: Memory.load(UInt.self, at: address).map(String.init)
            case is UInt32.Type: Memory.load(UInt32.self, at: address).map(String.init)
            case is UInt64.Type: Memory.load(UInt64.self, at: address).map(String.init)
            case is String.Type, is String?.Type: MemoryText.string(at: place).map { "\"\($0)\"" }
            default: nil
            }
        return text ?? "…"
    }

    // MARK: All elements

    /// The references of each element in a buffer, none for an unused place, as far as read before
    /// a deadline.
    private func elements(
        _ count: Int, at address: UInt, _ layout: TypeLayout, _ stride: Int,
        until deadline: DispatchTime,
        where isThere: (Int) -> Bool = { _ in true }
    ) -> [[HeapObject.Reference]] {
        guard let bytes = Memory.bytes(at: address, count: count * stride) else { return [] }
        var found: [[HeapObject.Reference]] = []
        // The deadline is checked before each element: an existential takes some system calls, the
        // clock takes none.
        while found.count < count, DispatchTime.now() < deadline {
            let index = found.count
            found.append(isThere(index) ? layout.references(in: bytes, at: index * stride) : [])
        }
        return found
    }
}
