/// An object on the heap by its address, not retained: a class instance, a closure's context or a
/// box.
///
/// Other threads may change or free the object during a search. So the search reads a copy. The
/// copy's first word decides the kind of object, and an unrecognised copy has no references.
struct HeapObject: Hashable {
    let address: UInt

    /// A strong reference out of an object or a value.
    struct Reference {
        /// The place of the reference, such as `model.views[2]`; empty without a name, as for a
        /// closure's capture.
        let label: String
        let object: HeapObject
        /// Whether the reference is a function's context: an object itself, if the closure captures
        /// nothing else.
        let isClosure: Bool
        /// The type of the value, if the object is the box of a value in an existential.
        var boxed: RuntimeType?
    }

    /// The contents of an object at the time of the copy.
    struct Contents {
        /// The class; `nil` for a closure's context and a box.
        let type: RuntimeType?
        var references: [Reference] = []
        /// The number of elements read from a collection.
        var elements = 0
        /// Whether the collection has more elements.
        var isCut = false
        /// Whether the object is the box of a variable.
        var isVariable = false
    }

    /// The number of bytes copied while the size of the object is unknown.
    private static let usualSize = 256

    /// The contents of a copy; `nil` if the copy is not recognised.
    func contents(within budget: Container.Budget = Container.Budget()) -> Contents? {
        // The copy ends with the readable memory.
        guard address & 7 == 0, let bytes = Memory.prefix(at: address, count: HeapObject.usualSize),
            let metadata = bytes.load(UInt.self, at: 0).flatMap(HeapMetadata.at)
        else { return nil }
        switch metadata {
        case .instance(let type, let size, let layout, let isFollowed):
            guard isFollowed, let bytes = whole(bytes, size: size) else {
                return Contents(type: type)
            }
            return Contents(type: type, references: layout.references(in: bytes))
        case .container(let type, let container):
            var contents = Contents(type: type)
            container.addElements(in: self, bytes, within: budget, to: &contents)
            return contents
        case .context(let context):
            guard let bytes = whole(bytes, size: context.size) else { return Contents(type: nil) }
            return Contents(
                type: nil, references: context.references(in: bytes), isVariable: context.isVariable
            )
        }
    }

    /// The references of a value of a type, if the object is the box of the value.
    func references(boxed type: RuntimeType) -> [Reference] {
        guard let size = type.size, let alignment = type.alignment,
            let value = Memory.bytes(
                at: address &+ UInt((16 + alignment - 1) & ~(alignment - 1)), count: size)
        else { return [] }
        return TypeLayout.value(of: type).references(in: value)
    }

    /// The copy, or a larger copy with the same first word.
    private func whole(_ bytes: [UInt8], size: Int) -> [UInt8]? {
        if size <= bytes.count { return bytes }
        return Memory.bytes(at: address, count: size).flatMap {
            $0.prefix(8) == bytes.prefix(8) ? $0 : nil
        }
    }
}

extension HeapObject {
    /// An object that the caller holds.
    init(_ object: AnyObject) {
        // SAFETY: the caller holds the object; `Memory` alone reads at the address, and survives a
        // wrong address.
        address = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    }
}
