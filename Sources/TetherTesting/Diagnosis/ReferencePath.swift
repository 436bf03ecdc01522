internal import Foundation
internal import Tether

/// How one object holds another, directly or through others.
struct ReferencePath {
    /// A reference on the way.
    struct Step {
        /// Where it is, as in `HeapObject.Reference`.
        let label: String
        let isClosure: Bool
        /// The class of what it refers to; `nil` for a closure's context and a box.
        let type: RuntimeType?
    }

    /// The references from the root on; the last one is to the object in question. Of a long path the middle is one step.
    let steps: [Step]

    /// How many steps are told at each end of a long path.
    private static let told = 20

    init(steps: [Step]) { self.steps = steps }

    /// Makes a path of so many steps, of which it asks for those that are told.
    init(of count: Int, step: (Int) -> Step) {
        let left = count - 2 * ReferencePath.told
        guard left > 1 else {
            steps = (0..<count).map(step)
            return
        }
        let last = step(count - ReferencePath.told - 1)
        steps =
            (0..<ReferencePath.told).map(step)
            + [Step(label: "(\(left) more)", isClosure: last.isClosure, type: last.type)]
            + (count - ReferencePath.told..<count).map(step)
    }

    /// Whether closures alone lead to the object, which capture it for as long as they live: a property on the way could be
    /// set. What has a type is an object, and not a context, though it is all that a closure captures.
    var isCapture: Bool { steps.dropLast().allSatisfy { $0.isClosure && $0.type == nil } }

    // MARK: Roots

    /// The references of a value; of a handler, the one that it is to its context.
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

    /// The path in words, the object in question being called `it`.
    func sentence(from root: Root, calling it: String = "it") -> String {
        var text = root == .closure ? "captures" : root == .itself ? "its" : "whose"
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
                text += isLast ? " \(it)" : " \(type.isOfCollection ? "a collection" : type.name), whose"
                isInClosure = false
            } else if isLast {
                text += " `\(property)` is \(it)"
            }
        }
        return text
    }

    // MARK: In boxes

    /// The objects on the way after the root, each with the reference to it; without a type is the one in question.
    ///
    /// The storage of the standard library's containers is part of what refers to it.
    func legs(from root: Root) -> [(label: String, type: RuntimeType?)] {
        var legs: [(label: String, type: RuntimeType?)] = []
        var (label, isInClosure) = ("", root == .closure)
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

    /// The first object on the way that is not the one in question, as what is to be captured weakly.
    var firstHolder: String? {
        steps.dropLast().lazy.compactMap(\.type).first.map { $0.isOfCollection ? "the collection's elements" : $0.name }
    }

    private static func separator(_ property: String, _ label: String) -> String {
        property.isEmpty || label.isEmpty || label.hasPrefix("[") ? "" : "."
    }
}

extension RuntimeType {
    /// Whether it is the storage of an array, a set or a dictionary.
    var isOfCollection: Bool { fullName.hasPrefix("Swift._") }

    /// Whether it is a class of Tether's.
    var isTethers: Bool {
        let name = fullName
        return name.hasPrefix("Tether.") || name.hasPrefix("(extension in Tether)")
    }
}
