internal import Tether

/// The metadata in the first word of an object: the description of a class, of a closure's context, or of a box.
///
/// Other threads may change or free any object during a read, so the first word can be anything. An address counts as
/// metadata only if the memory around the address has values that the compiler and the runtime write nowhere else. Only
/// then is the runtime asked about the address.
enum HeapMetadata: Sendable {
    case instance(RuntimeType, size: Int, layout: TypeLayout)
    /// The storage of an array, a set or a dictionary.
    case container(RuntimeType, Container)
    case context(ClosureContext)
    /// A variable or a boxed value with a type known only at run time.
    case box(RuntimeType, offset: Int)

    private static let known = Locked<[UInt: HeapMetadata]>([:])

    /// `nil` if the address is no object's metadata.
    static func at(_ address: UInt) -> HeapMetadata? {
        if let known = known.withLock({ $0[address] }) { return known }
        guard address & 7 == 0, let header = Memory.bytes(at: address &- 16, count: 40),
            let destroy = header.load(UInt.self, at: 0), let witnesses = header.load(UInt.self, at: 8),
            let kind = header.load(UInt.self, at: 16), let offset = header.load(UInt32.self, at: 24),
            let description = header.load(UInt.self, at: 32)
        else { return nil }
        let found: HeapMetadata? =
            switch kind {
            case 0: RuntimeType(class: address).flatMap(instance)
            case 0x400 where witnesses == 0:
                ClosureContext(offset: Int(offset), descriptor: description).map { .context($0) }
            case 0x500 where witnesses == 0 && destroy != 0 && destroy == destroyBox && offset < 1 << 16:
                .box(RuntimeType(metadata: description), offset: Int(offset))
            default: nil
            }
        if let found { known.withLock { $0[address] = found } }
        return found
    }

    private static func instance(_ type: RuntimeType) -> HeapMetadata? {
        if let container = Container(storage: type) { return .container(type, container) }
        guard let size = type.word(3).map({ Int($0 & 0xFFFF_FFFF) }), size >= 16, size <= Memory.limit else {
            return nil
        }
        // Tether itself reports the contents of its own objects.
        return .instance(type, size: size, layout: type.isTethers ? .none : TypeLayout.instance(of: type))
    }

    /// The function that destroys boxes, which the metadata of every box contains, read from a box made here.
    private static let destroyBox: UInt = {
        struct Large { let words = (1, 2, 3, 4) }
        let value = boxed(Large())
        // SAFETY: the bytes are copied while the value lives.
        let box = unsafe withUnsafeBytes(of: value) { unsafe $0.loadUnaligned(as: UInt.self) }
        guard let metadata = Memory.load(UInt.self, at: box), Memory.load(UInt.self, at: metadata) == 0x500 else {
            return 0
        }
        return Memory.load(UInt.self, at: metadata &- 16) ?? 0
    }()
}

/// A value in an existential, boxed by code that does not know its type.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
private func boxed<Value>(_ value: Value) -> Any { value }
