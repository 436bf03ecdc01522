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

    // MARK: Buffers

    /// The elements of an array or a set, or the keys or the values of a dictionary.
    private struct Buffer {
        let start: HiddenAddress
        let type: RuntimeType
        let stride: Int
        /// The number of places.
        let count: Int
        /// A bit for each place of a set or a dictionary: whether the place is used.
        var bitmap: HiddenAddress?
        var isOfValues = false
    }

    /// The buffers of a storage, given a copy of the storage's first bytes.
    private func buffers(of storage: HiddenAddress, _ start: [UInt8]) -> [Buffer] {
        if kind == .array {
            guard let count = start.load(Int.self, at: 16), count > 0,
                let alignment = key.alignment, let stride = key.stride, stride > 0
            else { return [] }
            let first = (32 + alignment - 1) & ~(alignment - 1)
            return [Buffer(start: storage + first, type: key, stride: stride, count: count)]
        }
        guard let scaleOffset = fields["_scale"],
            let scale = start.load(UInt8.self, at: scaleOffset), scale < 48
        else { return [] }
        let bitmap = storage + ((fields.values.max() ?? 0) + 8)
        func buffer(_ field: String, _ type: RuntimeType?, isOfValues: Bool) -> Buffer? {
            guard let offset = fields[field], let address = start.load(UInt.self, at: offset),
                let type, let stride = type.stride, stride > 0
            else { return nil }
            return Buffer(
                start: HiddenAddress(address), type: type, stride: stride, count: 1 << Int(scale),
                bitmap: bitmap, isOfValues: isOfValues)
        }
        return [
            buffer("_rawKeys", key, isOfValues: false),
            buffer("_rawElements", key, isOfValues: false),
            buffer("_rawValues", value, isOfValues: true),
        ].compactMap(\.self)
    }

    // MARK: All elements

    /// Adds the references of the elements within a budget, given a copy of the storage's first
    /// bytes.
    func addElements(
        in storage: HeapObject, _ start: [UInt8], within budget: Budget,
        to found: inout HeapObject.Contents
    ) {
        for buffer in buffers(of: HiddenAddress(storage.address), start) {
            let layout = TypeLayout.value(of: buffer.type)
            if layout.isNone { continue }
            let elements = elements(of: buffer, layout, within: budget)
            for (number, references) in elements.enumerated() {
                let label = kind == .array ? "[\(number)]" : "[…]"
                found.references += references.map { $0.inside(label) }
            }
            found.elements += elements.count
            if elements.count < buffer.count { found.isCut = true }
        }
    }

    /// The references of each element in a buffer, none for an unused place, as far as read within
    /// a budget.
    private func elements(
        of buffer: Buffer, _ layout: TypeLayout, within budget: Budget
    ) -> [[HeapObject.Reference]] {
        let count = budget.readable(buffer.count, buffer.stride)
        guard let bytes = Memory.bytes(at: buffer.start.address, count: count * buffer.stride)
        else { return [] }
        var used: [UInt8]?
        if let bitmap = buffer.bitmap {
            used = Memory.bytes(at: bitmap.address, count: (count + 63) / 64 * 8)
            if used == nil { return [] }
        }
        var found: [[HeapObject.Reference]] = []
        // The deadline is checked before each element: an existential takes some system calls, the
        // clock takes none.
        while found.count < count, DispatchTime.now() < budget.deadline {
            let number = found.count
            let isUsed = used.map { $0[number / 8] >> UInt8(number % 8) & 1 == 1 } ?? true
            found.append(
                isUsed ? layout.references(in: bytes, at: number * buffer.stride) : [])
        }
        return found
    }

    // MARK: One word

    /// The meaning of a word in the storage, given a copy of the storage's first bytes.
    func meaning(
        of offset: Int, in storage: HiddenAddress, _ start: [UInt8]
    ) -> WordMeaning {
        let buffers = buffers(of: storage, start)
        let buffer = buffers.last { $0.start - storage <= offset }
        guard let buffer, let size = buffer.type.size else { return WordMeaning(.none) }
        let inside = offset - (buffer.start - storage)
        let number = inside / buffer.stride
        let place = inside % buffer.stride
        guard place < size, number < buffer.count, isUsed(number, in: buffer),
            let value = Memory.bytes(
                at: (buffer.start + number * buffer.stride).address, count: size)
        else { return WordMeaning(.none) }
        let label = label(of: number, in: buffer, keys: buffers[0])
        return TypeLayout.value(of: buffer.type).meaning(of: place, in: value).inside(label)
    }

    private func isUsed(_ number: Int, in buffer: Buffer) -> Bool {
        guard let bitmap = buffer.bitmap else { return true }
        let byte = Memory.load(UInt8.self, at: (bitmap + number / 8).address)
        return byte.map { $0 >> UInt8(number % 8) & 1 == 1 } == true
    }

    private func label(of number: Int, in buffer: Buffer, keys: Buffer) -> String {
        if kind == .array { return "[\(number)]" }
        return buffer.isOfValues ? "[\(text(ofKey: number, in: keys.start))]" : "[…]"
    }

    /// A key in the words of the source, if it is a string or a number.
    private func text(ofKey number: Int, in keys: HiddenAddress) -> String {
        let place = keys + number * (key.stride ?? 1)
        if key.type is String.Type || key.type is String?.Type {
            return MemoryText.string(at: place).map { "\"\($0)\"" } ?? "…"
        }
        guard let type = key.type as? any FixedWidthInteger.Type,
            let bytes = Memory.bytes(at: place.address, count: key.size ?? 0)
        else { return "…" }
        return Container.text(ofNumber: bytes, type)
    }

    private static func text<Number: FixedWidthInteger>(
        ofNumber bytes: [UInt8], _ type: Number.Type
    ) -> String {
        let number = bytes.reversed().reduce(0 as Number) { number, byte in
            number << 8 | Number(truncatingIfNeeded: byte)
        }
        return "\(number)"
    }
}
