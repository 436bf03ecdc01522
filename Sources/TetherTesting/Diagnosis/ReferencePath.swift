internal import Foundation
internal import Tether

/// How one object holds another, directly or through others.
struct ReferencePath {
    /// A reference on the path.
    struct Step {
        /// The place of the reference, as in `HeapObject.Reference`.
        let label: String
        let isClosure: Bool
        /// The class of the referenced object; `nil` for a closure's context and a box.
        let type: RuntimeType?
    }

    /// The references from the root to the object in question. One step stands for the middle of a
    /// long path.
    let steps: [Step]

    /// Shows at most 20 steps at each end of a long path.
    init(_ all: [Step]) {
        let left = all.count - 40
        guard left > 1 else {
            steps = all
            return
        }
        let last = all[all.count - 21]
        let middle = Step(label: "(\(left) more)", isClosure: last.isClosure, type: last.type)
        steps = all.prefix(20) + [middle] + all.suffix(20)
    }

    /// Whether closures alone lead to the object, which is captured as long as the closures are
    /// alive. A property on the path could be set. A step with a type is an object, even as the
    /// only capture of a closure.
    var isCapture: Bool { steps.dropLast().allSatisfy { $0.isClosure && $0.type == nil } }

    // MARK: Roots

    /// The references of a value; for a handler, the reference to its context.
    static func roots(_ value: ValueBytes) -> [HeapObject.Reference] {
        TypeLayout.value(of: RuntimeType(value.type)).references(in: value.bytes)
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

    /// The path in words, with `it` as the name of the object in question.
    func sentence(from root: Root, calling it: String = "it") -> String {
        var text =
            switch root {
            case .closure: "captures"
            case .itself: "its"
            case .object: "whose"
            }
        var isInClosure = root == .closure
        var property = ""
        for (index, step) in steps.enumerated() {
            let isLast = index == steps.count - 1
            if !isInClosure { property += Self.separator(property, step.label) + step.label }
            if !isInClosure, step.isClosure || step.type == nil {
                text += " `\(property)` is a closure that captures"
                property = ""
                isInClosure = true
            }
            guard let type = step.type else { continue }
            if isInClosure {
                text +=
                    isLast
                    ? " \(it)" : " \(type.isOfCollection ? "a collection" : type.name), whose"
                isInClosure = false
            } else if isLast {
                text += " `\(property)` is \(it)"
            }
        }
        return text
    }

    // MARK: In boxes

    /// The objects on the path after the root, with the label of each reference. The object in
    /// question has no type.
    ///
    /// The storage of a standard container counts as part of the storage's holder.
    func legs(from root: Root) -> [(label: String, type: RuntimeType?)] {
        var legs: [(label: String, type: RuntimeType?)] = []
        var label = ""
        var isInClosure = root == .closure
        for (index, step) in steps.enumerated() {
            let isLast = index == steps.count - 1
            if !isInClosure {
                label += Self.separator(label, step.label) + step.label
                if step.isClosure || step.type == nil && !isLast {
                    label += label.isEmpty ? "" : ", a closure, "
                    isInClosure = true
                }
            }
            guard step.type != nil || isLast else { continue }
            if isInClosure { label += "captures" }
            isInClosure = false
            if !isLast, step.type?.isOfCollection == true { continue }
            legs.append((label, isLast ? nil : step.type))
            label = ""
        }
        return legs
    }

    /// The first object on the path before the object in question, to be captured weakly.
    var firstHolder: String? {
        steps.dropLast().lazy.compactMap(\.type).first.map {
            $0.isOfCollection ? "the collection's elements" : $0.name
        }
    }

    private static func separator(_ property: String, _ label: String) -> String {
        property.isEmpty || label.isEmpty || label.hasPrefix("[") ? "" : "."
    }
}

extension RuntimeType {
    /// Whether the type is the storage of an array, a set or a dictionary.
    var isOfCollection: Bool { fullName.hasPrefix("Swift._") }

    /// Whether the type is a class of Tether.
    var isOfTether: Bool {
        let name = fullName
        return name.hasPrefix("Tether.") || name.hasPrefix("(extension in Tether)")
    }
}
