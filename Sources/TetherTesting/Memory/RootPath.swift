internal import Foundation
internal import Tether

/// The way from a root of the process to an object, in words and as a picture.
///
/// A reader knows some holders by name: a task, a queue, a timer, an observer. The last of them
/// begins the sentence and the picture, and what leads to it is named behind.
struct RootPath {
    typealias Kind = MemoryPlaces.Kind
    typealias Root = MemoryPlaces.Root
    typealias Edge = MemoryPlaces.Edge

    var root: Root
    /// The references. The first one is in the root, unless the first holder is the root; each
    /// other one is in a holder.
    let edges: [Edge]
    /// The holders between the root and the object.
    let holders: [(object: HiddenAddress, kind: Kind)]
    let cost: Int

    /// Whether no root was found.
    var isRootless: Bool {
        switch root {
        case .nothing, .unsearched: true
        default: false
        }
    }

    // MARK: The place where the words begin

    /// The last holder that is known by name.
    private var landmark: Int? { holders.lastIndex { $0.kind.isLandmark } }

    /// The number of holders that are known by name.
    var landmarkCount: Int { holders.count { $0.kind.isLandmark } }

    /// The number of edges before the first holder's.
    private var edgesOfRoot: Int { edges.count - holders.count }

    /// Whether each step behind the beginning is proved by a type, or by a known structure.
    var isProved: Bool {
        let first = landmark ?? 0
        if isOfTask, !isProvedByTask(first) { return false }
        for number in holders.indices.dropFirst(first) where !isStepProved(number) {
            return false
        }
        if case .stack = root, isOfTask { return false }
        return landmark != nil || root.isSure
    }

    /// Whether a holder holds the next object. The words of a task are asked apart.
    private func isStepProved(_ number: Int) -> Bool {
        switch holders[number].kind {
        case .memory: return false
        case .task, .taskMemory: return true
        default:
            let edge = edges[number + edgesOfRoot]
            return edge.isProved || edge.isKnown
        }
    }

    /// Whether a task that waits holds the next object by its closure. The words of its functions may
    /// be left over, and so may all words of a task that has returned.
    private func isProvedByTask(_ task: Int) -> Bool {
        let edge = edges.dropFirst(task + edgesOfRoot).first
        guard edge?.isProved == true else { return false }
        return !SwiftTasks.calls(of: holders[task].object).functions.isEmpty
    }

    /// The subject of the sentence, and how it leads to the next object.
    private struct Beginning {
        var subject: String
        var root: ReferencePath.Root
        var remedy = ""
        /// The number of the first edge behind the subject.
        var firstEdge = 0
    }

    private var beginning: Beginning {
        if let landmark { return beginning(at: landmark) }
        switch root {
        case .global(let symbol): return RootPath.beginning(symbol)
        case .threadData(let thread) where holders.contains { $0.kind.isBlock }:
            return Beginning(
                subject: "a block that runs on \(thread)", root: .closure,
                remedy: "Let the block return.")
        case .threadData(let thread):
            return Beginning(
                subject: "the thread-specific data of \(thread)", root: .memory,
                remedy: "Remove the object there.")
        case .stack(let function):
            return Beginning(
                subject: "a local variable of \(function)", root: .memory,
                remedy: "Let that function return first.")
        case .cycle:
            return Beginning(
                subject: "it retains itself:", root: .itself, remedy: "Make one of these weak.")
        case .loop:
            return Beginning(
                subject: "\(firstName) in a retain cycle", root: .object,
                remedy: "Make a reference of the cycle weak.")
        case .unsearched: return Beginning(subject: firstName, root: .object)
        case .living, .nothing:
            return Beginning(
                subject: firstName, root: .object,
                remedy: "Look for \(Diagnosis.unbalanced), of the holder.")
        }
    }

    /// The first holder in words.
    private var firstName: String {
        let first = holders.first.flatMap { self.name($0.object, $0.kind) }
        if first?.isCollection == true { return "a collection" }
        return FoundationObjects.withArticle(first?.name ?? "memory")
    }

    private static func beginning(_ symbol: Symbol) -> Beginning {
        if symbol.mangled == "_dispatch_main_q" {
            return Beginning(
                subject: "a block that waits on the main queue", root: .closure,
                remedy: "Let the main queue run the block.")
        }
        guard let variable = symbol.variable else {
            let name = symbol.mangled.isEmpty ? "data" : "`\(symbol.mangled)`"
            return Beginning(subject: "\(name) of \(symbol.module)", root: .memory)
        }
        let isOfType = variable.contains(".") && !variable.contains("`")
        let subject = isOfType ? "`\(variable)`" : "the global `\(variable)` of \(symbol.module)"
        let name = variable.split(separator: "`").first.map(String.init) ?? variable
        return Beginning(
            subject: subject, root: .variable(name),
            remedy: "Remove the object there, or make the reference weak.")
    }

    private func beginning(at landmark: Int) -> Beginning {
        let (object, kind) = holders[landmark]
        let behind = holders.dropFirst(landmark + 1)
        let first = landmark + edgesOfRoot
        let isOfBlock = behind.contains { $0.kind.isBlock }
        let isOfClosure =
            isOfBlock || behind.contains { $0.kind.isClosure }
            || edges.dropFirst(first).contains(where: \.isClosure)
        var beginning = Beginning(
            subject: "memory", root: isOfBlock ? .closure : .memory, firstEdge: first)
        switch kind {
        case .task:
            beginning.root = .memory
            beginning.subject = SwiftTasks.description(of: object)
            beginning.remedy =
                "End the task, or let the task take the object for one step at a time: no "
                + "`guard let self` before its loop, and no call of a method that loops."
            if case .stack(let function) = root {
                beginning.subject = "a local variable of \(function)"
                beginning.remedy = "Let the variable go out of scope first."
            }
        case .taskResult:
            beginning.subject = "the result of a task"
            beginning.remedy = "Release the task."
        case .dispatch("source"):
            let source = DispatchObjects.source(object)
            beginning.subject = source.words
            beginning.remedy = source.remedy
        case .runLoopBlock:
            beginning.subject = "a block that waits on a run loop"
            beginning.remedy = "Let the run loop run the block."
        case .dispatch("group"):
            beginning.root = .closure
            beginning.subject = "a block that waits for a dispatch group"
            beginning.remedy = "Balance each `enter()` with a `leave()`."
        case .dispatch(let kind) where DispatchObjects.queueKinds.contains(kind):
            let queue = DispatchObjects.queue(object)
            beginning.subject = isOfBlock ? "a block that waits on \(queue)" : queue
            beginning.remedy =
                isOfBlock
                ? "Let the queue run the block, or capture the object weakly there."
                : "Remove the object there."
        case .dispatch(let kind):
            beginning.root = .memory
            beginning.subject = "a dispatch \(kind)"
        case .object(let type):
            beginning.root = isOfClosure ? .closure : .memory
            if let kind = FoundationObjects.kind(type) {
                beginning.subject = FoundationObjects.description(of: object, type, kind)
                beginning.remedy = kind.remedy(isOfClosure: isOfClosure)
                if kind == .center { describeObserver(&beginning) }
            } else if ["Registration", "Hook"].contains(where: type.name.contains) {
                beginning.subject = "an observer's handler"
                beginning.remedy = "Cancel the observer, or capture the object weakly there."
            } else {
                beginning.subject = "a center or a queue of Tether"
                beginning.remedy = "Look for a pending notification."
            }
        default: break
        }
        return beginning
    }

    /// A center has the closures of its observers in a dictionary by name.
    private func describeObserver(_ beginning: inout Beginning) {
        let behind = edges.indices.dropFirst(beginning.firstEdge)
        let key = behind.lazy.compactMap { edges[$0].label.firstMatch(of: /\["(.*?)"\]/) }.first
        let name = key.map { " for `\($0.1)`" } ?? ""
        beginning.subject = "an observer on Foundation's notification center\(name)"
        beginning.root = .closure
        beginning.firstEdge = behind.first { edges[$0].isClosure } ?? beginning.firstEdge
    }

    // MARK: The path behind the beginning

    /// An object in words; `nil` for a closure, a box, and memory that belongs to its holder.
    private func name(_ object: HiddenAddress, _ kind: Kind) -> ReferencePath.Object? {
        switch kind {
        case .object(let type), .collection(let type): ReferencePath.Object(type)
        case .memory(let size): ReferencePath.Object(name: "memory of \(size) bytes")
        case .dispatch(let kind) where kind != "continuation":
            ReferencePath.Object(name: "a dispatch \(kind)")
        case .task: ReferencePath.Object(name: "a task")
        default: nil
        }
    }

    /// The steps behind the beginning. Boxes are parts of their holders, and the names of a
    /// library's properties are left out.
    private func steps(from first: Int) -> [ReferencePath.Step] {
        var steps: [ReferencePath.Step] = []
        // The closure that a task runs is a part of the task.
        let isOfTask = self.isOfTask
        var label = ""
        var isClosure = false
        for (number, edge) in edges.enumerated().dropFirst(first) {
            let holder = number - edgesOfRoot
            if holder < 0 || !isOfLibrary(holders[holder].kind) {
                label = PropertyPath.join(label, edge.label)
            }
            if edge.isClosure { isClosure = true }
            let next = holder + 1
            guard next < holders.count else {
                if isOfTask, steps.isEmpty { isClosure = false }
                let code = edge.isClosure ? self.code(of: edge) : nil
                steps.append(
                    ReferencePath.Step(
                        label: label, isClosure: isClosure, object: nil,
                        code: code.map(RootPath.place)))
                break
            }
            let (object, kind) = holders[next]
            var code: String?
            switch kind {
            case .box, .taskMemory, .dispatch("continuation"), .dispatch("value"): continue
            case .closure where isOfTask && steps.isEmpty:
                isClosure = false
                label = ""
                continue
            case .closure:
                code = self.code(of: edge)
                // The box of a case or a value has a context's form.
                if code == nil, !edge.isClosure { continue }
            case .block: code = DispatchObjects.code(of: object)
            default: break
            }
            if kind.isClosure || kind.isBlock { isClosure = true }
            steps.append(
                ReferencePath.Step(
                    label: label, isClosure: isClosure, object: name(object, kind),
                    code: code.map(RootPath.place)))
            label = ""
            isClosure = false
        }
        return steps
    }

    private func isOfLibrary(_ kind: Kind) -> Bool {
        guard case .object(let type) = kind else { return false }
        return FoundationObjects.isOfLibrary(type) || type.isOfTether
    }

    /// The code of a closure stands before the reference to its context.
    private func code(of edge: Edge) -> String? {
        guard let symbol = Symbol.at(word: edge.place.word(-1)), !symbol.isOfLibrary else {
            return nil
        }
        return symbol.codeAndLine
    }

    /// "a closure in `f()`" as "in `f()`"; a function by its name.
    private static func place(_ code: String) -> String {
        code.hasPrefix("a closure ") ? String(code.dropFirst("a closure ".count)) : "of \(code)"
    }

    // MARK: Words

    /// The path in a sentence without its full stop.
    var sentence: String {
        let beginning = beginning
        let steps = steps(from: beginning.firstEdge)
        let perhaps = isProved || isRootless ? "" : "perhaps "
        let path = ReferencePath(steps)
        switch beginning.root {
        case .variable(let name):
            let words = path.sentence(from: beginning.root)
            let isAlone = words == "`\(name)` refers to it"
            return "\(perhaps)\(beginning.subject) holds it" + (isAlone ? "" : ": \(words)")
        case .closure:
            let code = path.legs(from: .closure).first?.code.map { ", a closure \($0)," } ?? ""
            return "\(perhaps)\(beginning.subject)\(code) \(path.sentence(from: .closure))"
                + outerWords
        case .object:
            let words = path.sentence(from: .itself)
            let place = words == "its it" ? "" : ": \(words)"
            return "\(beginning.subject) holds it\(place)\(rootlessWords)"
        case .itself, .memory:
            return "\(perhaps)\(beginning.subject) \(path.sentence(from: beginning.root))"
                + outerWords
        }
    }

    private var rootlessWords: String {
        switch root {
        case .nothing: ", and nothing in memory leads to the holder"
        case .unsearched: ", and the search ended before the holder's own holders were found"
        default: ""
        }
    }

    var remedy: String { beginning.remedy }

    /// Whether a task begins the sentence.
    var isOfTask: Bool { landmark.map { holders[$0].kind.isTask } == true }

    /// What leads to the holder that begins the sentence.
    private var outerWords: String {
        guard let landmark else { return "" }
        var names: [String] = []
        for (object, kind) in holders[..<landmark].reversed() where kind.isLandmark {
            var name: String?
            switch kind {
            case .object(let type):
                name = FoundationObjects.kind(type).map {
                    FoundationObjects.description(of: object, type, $0)
                }
            case .dispatch(let kind) where DispatchObjects.queueKinds.contains(kind):
                name = DispatchObjects.queue(object)
            case .task: name = "a task"
            default: break
            }
            if let name, !names.contains(name) { names.append(name) }
        }
        if case .global(let symbol) = root, !symbol.isOfLibrary {
            names.append(RootPath.beginning(symbol).subject)
        }
        return names.isEmpty ? "" : "; it is in " + names.prefix(3).joined(separator: ", in ")
    }

    // MARK: The picture

    /// The path as a picture that ends with the object, in these lines.
    func picture(to lines: [String]) -> Diagram {
        let beginning = beginning
        let path = ReferencePath(steps(from: beginning.firstEdge))
        var title = [
            beginning.subject.replacing("`", with: "").trimmingCharacters(in: .whitespaces)
        ]
        if case .itself = beginning.root { title = lines }
        if let code = path.legs(from: beginning.root).first?.code {
            title.append(code.replacing("`", with: ""))
        }
        var picture = LeakPicture(title, isProved ? .red : .grey)
            .following(path, from: beginning.root, to: lines).diagram
        picture.repair = beginning.remedy.isEmpty ? "" : "Fix here: \(beginning.remedy)"
        return picture
    }
}

extension MemoryPlaces.Kind {
    /// Whether a reader knows the holder by name.
    var isLandmark: Bool {
        switch self {
        case .task, .taskResult, .runLoopBlock: true
        case .dispatch(let kind): kind != "continuation" && kind != "value"
        case .object(let type): type.isOfTether || FoundationObjects.kind(type) != nil
        default: false
        }
    }

    var isTask: Bool { if case .task = self { true } else { false } }

    fileprivate var isClosure: Bool { if case .closure = self { true } else { false } }

    fileprivate var isBlock: Bool {
        switch self {
        case .block, .dispatch("continuation"): true
        default: false
        }
    }
}
