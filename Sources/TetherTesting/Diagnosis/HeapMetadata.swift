internal import Tether

/// The metadata in the first word of an object: the description of a class or of a closure's
/// context.
///
/// Other threads may change or free any object during a read, so the first word can be anything. An
/// address counts as metadata only if the memory around the address has values that the compiler
/// and the runtime write nowhere else. Only then is the runtime asked about the address.
enum HeapMetadata: Sendable {
    /// An object. The search from holders does not follow the references of Tether's own objects,
    /// whose contents Tether itself reports.
    case instance(RuntimeType, size: Int, layout: TypeLayout, isFollowed: Bool)
    /// The storage of an array, a set or a dictionary.
    case container(RuntimeType, Container)
    case context(ClosureContext)

    private static let known = Locked<[UInt: HeapMetadata]>([:])

    /// `nil` if the address is no object's metadata.
    static func at(_ address: UInt) -> HeapMetadata? {
        if let known = known.withLock({ $0[address] }) { return known }
        guard address & 7 == 0, let header = Memory.bytes(at: address &- 8, count: 32),
            let witnesses = header.load(UInt.self, at: 0), let kind = header.load(UInt.self, at: 8),
            let offset = header.load(UInt32.self, at: 16),
            let description = header.load(UInt.self, at: 24)
        else { return nil }
        let found: HeapMetadata? =
            switch kind {
            case 0: RuntimeType(class: address).flatMap(instance)
            case 0x400 where witnesses == 0:
                ClosureContext(offset: Int(offset), descriptor: description).map { .context($0) }
            default: nil
            }
        if let found { known.withLock { $0[address] = found } }
        return found
    }

    private static func instance(_ type: RuntimeType) -> HeapMetadata? {
        if let container = Container(storage: type) { return .container(type, container) }
        guard let size = type.word(3).map({ Int($0 & 0xFFFF_FFFF) }), size >= 16,
            size <= Memory.limit
        else {
            return nil
        }
        let layout = TypeLayout.instance(of: type)
        return .instance(
            type, size: size, layout: layout, isFollowed: !type.isOfTether && !layout.isNone)
    }
}
