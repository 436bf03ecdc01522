internal import Foundation
internal import Tether

/// How one object holds another, directly or through others.
struct ReferencePath {
    /// A reference on the path.
    struct Step {
        /// The place of the reference, as in `HeapObject.Reference`.
        let label: String
        let isClosure: Bool
        /// The referenced object; `nil` for a closure's context and a box.
        let object: Object?
        /// Where the closure is in the source, such as "in `load()` at Loader.swift:12".
        var code: String?
    }

    /// An object on the path, in words.
    struct Object {
        let name: String
        /// Whether the object is the storage of an array, a set or a dictionary.
        var isCollection = false
        /// Whether a user can capture the object weakly, and not an object inside of a library's.
        var isOfUser = true

        init(_ type: RuntimeType) {
            let outer = type.outerOfPrivate
            name = outer ?? type.name
            isCollection = type.isOfCollection
            isOfUser = outer == nil
        }

        init(name: String) {
            self.name = name
        }
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
        let middle = Step(label: "(\(left) more)", isClosure: last.isClosure, object: last.object)
        steps = all.prefix(20) + [middle] + all.suffix(20)
    }

    /// Whether closures alone lead to the object, which is captured as long as the closures are
    /// alive. A property on the path could be set. A step with an object is one even as the
    /// only capture of a closure.
    var isCapture: Bool { steps.dropLast().allSatisfy { $0.isClosure && $0.object == nil } }

    // MARK: Roots

    /// The references of a value; for a handler, the reference to its context.
    static func roots(_ value: ValueBytes) -> [HeapObject.Reference] {
        TypeLayout.value(of: RuntimeType(value.type)).references(in: value.bytes)
    }

    // MARK: Legs

    enum Root {
        /// "captures …", after a closure.
        case closure
        /// "its … refers to it", of the object in question.
        case itself
        /// "whose … refers to it", after an object.
        case object
        /// "… refers to it", after a variable: its name.
        case variable(String)
        /// "holds …", after memory without properties, such as a task's.
        case memory

        var isClosure: Bool { if case .closure = self { true } else { false } }
        var isItself: Bool { if case .itself = self { true } else { false } }
    }

    /// A part of the path, from the root or an object to the next object.
    struct Leg {
        /// The property; empty in a closure.
        var property = ""
        /// Whether a closure, in that property or as the root, captures the next object.
        var isCaptured = false
        /// Where the closure is in the source.
        var code: String?
        /// The next object; `nil` for the object in question.
        var object: Object?

        /// The leg in a picture.
        var label: String {
            guard isCaptured else { return property }
            return property.isEmpty ? "captures" : "\(property), a closure, captures"
        }
    }

    /// The legs of the path, the last one to the object in question.
    func legs(from root: Root) -> [Leg] {
        var legs: [Leg] = []
        var leg = Leg(isCaptured: root.isClosure)
        for (index, step) in steps.enumerated() {
            let isLast = index == steps.count - 1
            if !leg.isCaptured {
                leg.property = PropertyPath.join(leg.property, step.label)
                leg.isCaptured = step.isClosure || step.object == nil && !isLast
            }
            if leg.isCaptured, leg.code == nil { leg.code = step.code }
            guard isLast || step.object != nil else { continue }
            leg.object = isLast ? nil : step.object
            legs.append(leg)
            leg = Leg()
        }
        return legs
    }

    // MARK: In words

    /// The path in words, with `it` as the name of the object in question.
    func sentence(from root: Root, calling it: String = "it") -> String {
        var words: [String] = []
        var property = ""
        switch root {
        case .closure: words = ["captures"]
        case .itself: words = ["its"]
        case .object: words = ["whose"]
        case .variable(let name): property = name
        case .memory: words = ["holds"]
        }
        for (index, leg) in legs(from: root).enumerated() {
            property = PropertyPath.join(property, leg.property)
            let holder = leg.object.map { $0.isCollection ? "a collection" : $0.name }
            let end = holder.map { "\($0), whose" } ?? it
            let isOfRoot = index == 0 && root.isClosure
            // The storage of a holder whose properties have no names.
            let isStorage = leg.object?.isCollection == true && !leg.isCaptured
            if isStorage, property.isEmpty, index > 0 { continue }
            if property.isEmpty, index > 0, let last = words.popLast() {
                // A holder whose properties have no names.
                words.append(last.replacingOccurrences(of: ", whose", with: ", which holds"))
            }
            if leg.isCaptured, !isOfRoot {
                let place = leg.code.map { " \($0)" } ?? ""
                let name = property.isEmpty ? "" : "`\(property)` is "
                if name.isEmpty, words == ["its"] { words = [] }
                words.append("\(name)a closure\(place) that captures \(end)")
                property = ""
            } else if leg.isCaptured || property.isEmpty {
                words.append(end)
            } else if leg.object == nil {
                words.append("`\(property)` refers to \(it)")
            }
        }
        return words.joined(separator: " ")
    }

    // MARK: In boxes

    /// The objects on the path, with the label of the way to each. The storage of a collection is a
    /// part of its holder.
    func boxes(from root: Root) -> [(label: String, object: Object?)] {
        var boxes: [(label: String, object: Object?)] = []
        var label = ""
        for leg in legs(from: root) {
            label = PropertyPath.join(label, leg.label)
            if leg.object?.isCollection == true { continue }
            boxes.append((label, leg.object))
            label = ""
        }
        return boxes
    }

    /// The first object on the path before the object in question, to be captured weakly; `nil` if
    /// that one is inside of a library.
    var firstHolder: String? {
        guard let first = steps.dropLast().lazy.compactMap(\.object).first, first.isOfUser else {
            return nil
        }
        return first.isCollection ? "the collection's elements" : first.name
    }
}

/// Properties of properties, such as `model.views[2]`.
enum PropertyPath {
    private static let longest = 200

    /// The middle of a long path is left out.
    static func join(_ outer: String, _ label: String) -> String {
        if outer.count > longest {
            return join("\(outer.prefix(longest / 3))…\(outer.suffix(longest / 3))", label)
        }
        if label.isEmpty || label.hasPrefix("[") { return outer + label }
        return outer.isEmpty ? label : "\(outer).\(label)"
    }
}

extension RuntimeType {
    /// Whether the type is the storage of an array, a set or a dictionary.
    var isOfCollection: Bool { fullName.hasPrefix("Swift._") }

    /// The type that has a private class of the standard library inside: `AsyncStream` for
    /// `Swift.AsyncStream<Swift.Int>._Context`.
    fileprivate var outerOfPrivate: String? {
        guard name.hasPrefix("_"), fullName.hasPrefix("Swift."), !isOfCollection else { return nil }
        let outer = fullName.dropFirst("Swift.".count).prefix { $0 != "." && $0 != "<" }
        return String(outer)
    }

    /// Whether the type is a class of Tether.
    var isOfTether: Bool {
        let name = fullName
        return name.hasPrefix("Tether.") || name.hasPrefix("(extension in Tether)")
    }
}
