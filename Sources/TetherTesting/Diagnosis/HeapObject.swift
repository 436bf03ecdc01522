/// An object on the heap by its address, not retained: a class instance, a closure's context or a box.
///
/// Everything about it is read, and recognised before it is followed; what is not recognised has no references.
struct HeapObject: Hashable {
    let address: UInt

    /// A strong reference out of it, or of a value.
    struct Reference {
        /// Where it is: `model.views[2]`; empty where there is no name for it, as for a closure's captures.
        let label: String
        let object: HeapObject
        /// Whether it is a function's context: an object itself, if that is all that the closure captures.
        let isClosure: Bool
    }

    enum Kind {
        case instance(RuntimeType)
        /// A closure's context, or a variable on the heap, with the address of its metadata.
        case context(metadata: UInt)
        case box(metadata: UInt)
    }

    /// What it is; `nil` if nothing that is recognised.
    var kind: Kind? {
        guard address & 7 == 0, let metadata = Memory.load(UInt.self, at: address), metadata & 7 == 0,
            let kind = Memory.load(UInt.self, at: metadata)
        else { return nil }
        switch kind {
        case 0: return HeapObject.isClass(metadata) ? .instance(RuntimeType(metadata: metadata)) : nil
        case 0x400: return .context(metadata: metadata)
        case 0x500: return .box(metadata: metadata)
        default: return nil
        }
    }

    /// Whether what says so really is a class's metadata: it leads to a class's descriptor.
    private static func isClass(_ metadata: UInt) -> Bool {
        guard let size = Memory.load(UInt32.self, at: metadata + 24), size >= 16,
            let descriptor = Memory.load(UInt.self, at: metadata + 40),
            let flags = Memory.load(UInt32.self, at: descriptor)
        else { return false }
        return flags & 0x1F == 16
    }

    /// Its strong references to other objects.
    var references: [Reference] {
        switch kind {
        case .instance(let type): instanceReferences(type)
        case .context(let metadata): ClosureContext(metadata: metadata)?.references(in: self) ?? []
        case .box(let metadata): boxReferences(metadata)
        case nil: []
        }
    }

    private func instanceReferences(_ type: RuntimeType) -> [Reference] {
        if let container = Container(storage: type) { return container.references(in: self) }
        guard let size = type.word(3), let bytes = Memory.bytes(at: address, count: Int(size & 0xFFFF_FFFF)) else {
            return []
        }
        return TypeLayout.instance(of: type).references(in: bytes)
    }

    /// A box whose type is only known where it runs: its metadata names the type and the offset of the value.
    private func boxReferences(_ metadata: UInt) -> [Reference] {
        guard let offset = Memory.load(UInt32.self, at: metadata + 8),
            let boxed = Memory.load(UInt.self, at: metadata + 16), boxed & 7 == 0
        else { return [] }
        return references(of: RuntimeType(metadata: boxed), at: Int(offset))
    }

    /// The references of a value that is stored in it.
    func references(of type: RuntimeType, at offset: Int) -> [Reference] {
        guard let size = type.size, let bytes = Memory.bytes(at: address &+ UInt(bitPattern: offset), count: size)
        else {
            return []
        }
        return TypeLayout.value(of: type).references(in: bytes)
    }
}
