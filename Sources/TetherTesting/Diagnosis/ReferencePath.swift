internal import Foundation
internal import Tether

/// How one object holds another, directly or through others.
struct ReferencePath {
    /// The references from the root on; the last one is to the object in question.
    let references: [HeapObject.Reference]

    /// How many objects a search looks into at most.
    private static let limit = 20_000

    /// The shortest path from some references to an object, breadth first; `nil` if none was found.
    ///
    /// Tether's own objects are not looked into: what they hold is asked of Tether.
    static func find(from roots: [HeapObject.Reference], to target: HeapObject) -> ReferencePath? {
        var found: [(reference: HeapObject.Reference, from: Int?)] = roots.map { ($0, nil) }
        var seen = Set(roots.map(\.object))
        var next = 0
        while next < found.count, next < limit {
            let (reference, _) = found[next]
            if reference.object == target { return path(to: next, in: found) }
            for other in reference.object.foreignReferences where seen.insert(other.object).inserted {
                found.append((other, next))
            }
            next += 1
        }
        return nil
    }

    /// The shortest path from an object to itself.
    static func cycle(through object: HeapObject) -> ReferencePath? {
        find(from: object.foreignReferences, to: object)
    }

    private static func path(to end: Int, in found: [(reference: HeapObject.Reference, from: Int?)]) -> ReferencePath {
        var references: [HeapObject.Reference] = []
        var position: Int? = end
        while let current = position {
            references.append(found[current].reference)
            position = found[current].from
        }
        return ReferencePath(references: references.reversed())
    }

    // MARK: Roots

    /// The reference that a closure is to its context.
    static func roots(_ handler: WatchedRegistration.Handler) -> [HeapObject.Reference] {
        // In structs, so that the functions keep their forms.
        struct Function { let function: @Sendable (Notification) -> Void }
        struct OwnedFunction { let function: @Sendable (AnyObject, Notification) -> Void }
        return switch handler {
        case .plain(let function): roots(of: Function(function: function))
        case .owned(let function): roots(of: OwnedFunction(function: function))
        }
    }

    /// The references of a value.
    static func roots<Value>(of value: Value) -> [HeapObject.Reference] {
        // SAFETY: the bytes are copied while the value lives.
        let bytes = unsafe withUnsafeBytes(of: value) { unsafe [UInt8]($0) }
        return TypeLayout.value(of: RuntimeType(Value.self)).references(in: bytes)
    }

    // MARK: In words

    enum Root {
        /// "captures …", after a closure.
        case closure
        /// "its … is it", of the object in question.
        case itself
        /// "whose … is it", after an object.
        case object
    }

    /// The path in words, the object in question being called `it`.
    func sentence(from root: Root, calling it: String = "it") -> String {
        var text = root == .closure ? "captures" : root == .itself ? "its" : "whose"
        var isInClosure = root == .closure
        var property = ""
        for (index, reference) in references.enumerated() {
            let isLast = index == references.count - 1
            if !isInClosure { property += Self.separator(property, reference.label) + reference.label }
            let type: RuntimeType? = if case .instance(let type) = reference.object.kind { type } else { nil }
            if !isInClosure, reference.isClosure || type == nil {
                text += " `\(property)` is a closure that captures"
                property = ""
                isInClosure = true
            }
            guard let type else { continue }
            if isInClosure {
                text += isLast ? " \(it)" : " \(type.name), whose"
                isInClosure = false
            } else if isLast {
                text += " `\(property)` is \(it)"
            }
        }
        return text
    }

    /// The type of the first object on the way that is not the one in question.
    var firstHolder: String? {
        for reference in references.dropLast() {
            if case .instance(let type) = reference.object.kind { return type.name }
        }
        return nil
    }

    private static func separator(_ property: String, _ label: String) -> String {
        property.isEmpty || label.isEmpty || label.hasPrefix("[") ? "" : "."
    }
}

extension HeapObject {
    /// An object that the caller holds.
    init(_ object: AnyObject) {
        address = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    }

    /// Its references, unless it is one of Tether's own objects.
    fileprivate var foreignReferences: [Reference] {
        if case .instance(let type) = kind, type.isTethers { return [] }
        return references
    }
}

extension RuntimeType {
    private static let known = Guarded<[UInt: Bool]>([:])

    /// Whether it is a class of Tether's.
    fileprivate var isTethers: Bool {
        if let known = RuntimeType.known.withLock({ $0[metadata] }) { return known }
        let name = fullName
        let isTethers = name.hasPrefix("Tether.") || name.hasPrefix("(extension in Tether)")
        RuntimeType.known.withLock { $0[metadata] = isTethers }
        return isTethers
    }
}
