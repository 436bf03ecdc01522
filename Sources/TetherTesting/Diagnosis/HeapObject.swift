/// An object on the heap by its address, not retained: a class instance, a closure's context or a box.
///
/// Other threads may change it, or free it, while it is looked into. So it is copied, its first word decides what the
/// copy is, and what is not recognised has no references.
struct HeapObject: Hashable {
    let address: UInt

    /// A strong reference out of it, or of a value.
    struct Reference {
        /// Where it is: `model.views[2]`; empty where there is no name for it, as for a closure's captures.
        let label: String
        let object: HeapObject
        /// Whether it is a function's context: an object itself, if that is all that the closure captures.
        let isClosure: Bool
        /// The type of the value, where the object is the box in which an existential keeps one.
        var boxed: RuntimeType?
    }

    /// Its contents when it was copied.
    struct Contents {
        /// Its class; `nil` for a closure's context and a box.
        let type: RuntimeType?
        let references: [Reference]
        /// How many elements of a collection were looked into.
        var elements = 0
        /// Whether it is a collection of more than that.
        var isCut = false
        /// Whether it is the box of a variable.
        var isVariable = false
    }

    /// How much of an object is copied before it is known how large it is.
    private static let usualSize = 256

    /// A copy of it, as far as it is recognised; `nil` if it is not.
    func contents(within budget: Container.Budget = Container.Budget()) -> Contents? {
        // The copy ends with the memory that can be read.
        guard address & 7 == 0, let bytes = Memory.prefix(at: address, count: HeapObject.usualSize),
            let metadata = bytes.load(UInt.self, at: 0).flatMap(HeapMetadata.at)
        else { return nil }
        switch metadata {
        case .instance(let type, let size, let layout):
            guard !layout.isNone, let bytes = whole(bytes, size: size) else {
                return Contents(type: type, references: [])
            }
            return Contents(type: type, references: layout.references(in: bytes))
        case .container(let type, let container):
            let found = container.elements(in: self, bytes, within: budget)
            return Contents(type: type, references: found.references, elements: found.count, isCut: found.isCut)
        case .context(let context):
            // Where its size is not known, more is asked for than it may have, and what can be read has it all.
            guard let bytes = whole(bytes, size: context.size, orLess: true) else {
                return Contents(type: nil, references: [])
            }
            return Contents(
                type: nil, references: context.references(in: bytes), isVariable: context.isVariable)
        case .box(let type, let offset):
            guard let size = type.size, let bytes = whole(bytes, size: offset + size) else {
                return Contents(type: nil, references: [])
            }
            return Contents(type: nil, references: TypeLayout.value(of: type).references(in: bytes, at: offset))
        }
    }

    /// The references of a value of a type, which it is the box of.
    func references(boxed type: RuntimeType) -> [Reference] {
        guard let size = type.size, let alignment = type.alignment,
            let value = Memory.bytes(at: address &+ UInt((16 + alignment - 1) & ~(alignment - 1)), count: size)
        else { return [] }
        return TypeLayout.value(of: type).references(in: value)
    }

    /// The copy, or a larger one that is still of the same kind; also one that ends with the memory that can be read,
    /// if less will do.
    private func whole(_ bytes: [UInt8], size: Int, orLess: Bool = false) -> [UInt8]? {
        if size <= bytes.count { return bytes }
        guard let all = Memory.prefix(at: address, count: size), orLess || all.count == size,
            all.prefix(8) == bytes.prefix(8)
        else { return nil }
        return all
    }
}

extension HeapObject {
    /// An object that the caller holds.
    init(_ object: AnyObject) {
        // SAFETY: the caller holds the object; memory is read through `ProcessMemory`, which survives a wrong address.
        address = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    }
}
