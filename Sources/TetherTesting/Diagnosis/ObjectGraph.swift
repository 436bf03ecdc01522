internal import Dispatch
internal import Tether

/// Objects and what they refer to, each copied once, when a search comes to it first.
///
/// Boxes, in which existentials keep large values, are such objects too, however many share one; in a path they are part
/// of what refers to them.
///
/// The searches of one diagnosis share it: the model behind thirty handlers is read once. They have a budget of time
/// together, and one of objects; behind the end of it nothing more is read, and `isExhausted` says so.
final class ObjectGraph {
    private struct Node {
        let object: HeapObject
        /// The type of the value, if it is a box.
        let boxed: RuntimeType?
        /// Its contents when it was copied.
        var type: RuntimeType?
        var isVariable = false
        /// `nil` until it is copied.
        var edges: [Edge]?
    }

    private struct Edge {
        let node: Int
        let reference: HeapObject.Reference
    }

    private var nodes: [Node] = []
    private var numbers: [UInt: Int] = [:]
    /// The search that has seen each node last, so that one which ends soon costs no look at all of them.
    private var searches: [Int] = []
    private var lastSearch = 0
    private let deadline: DispatchTime
    private let limit: Int
    /// How many elements of collections may be looked into yet.
    private var elements: Int
    /// How many objects were copied.
    private(set) var count = 0
    /// Whether something was left out because the budget was spent.
    private(set) var isExhausted = false
    /// Whether something was left out because a collection has more than is looked into.
    private(set) var isCut = false

    /// Makes a graph of at most `limit` objects, and of as many elements of collections, which are read before a deadline.
    init(until deadline: DispatchTime = .distantFuture, limit: Int = 200_000, elements: Int = .max) {
        self.deadline = deadline
        self.limit = limit
        self.elements = elements
    }

    /// Whether the deadline has come, so that something is left out.
    func isOver() -> Bool {
        let isOver = DispatchTime.now() >= deadline
        if isOver { isExhausted = true }
        return isOver
    }

    private func node(_ object: HeapObject) -> Int { node(object, boxed: nil) }

    private func node(_ object: HeapObject, boxed: RuntimeType?) -> Int {
        if let number = numbers[object.address] { return number }
        numbers[object.address] = nodes.count
        nodes.append(Node(object: object, boxed: boxed))
        return nodes.count - 1
    }

    /// The references out of an object.
    private func edges(of number: Int) -> [Edge] {
        if let edges = nodes[number].edges { return edges }
        guard count < limit, DispatchTime.now() < deadline else {
            isExhausted = true
            return []
        }
        count += 1
        let (object, boxed) = (nodes[number].object, nodes[number].boxed)
        var budget = Container.Budget(deadline: deadline)
        budget.elements = min(budget.elements, elements)
        let contents =
            boxed.map { .init(type: nil, references: object.references(boxed: $0)) } ?? object.contents(within: budget)
        elements = max(0, elements - (contents?.elements ?? 0))
        let edges = (contents?.references ?? []).map(edge)
        if contents?.isCut == true {
            if DispatchTime.now() < deadline { isCut = true } else { isExhausted = true }
        }
        nodes[number].type = contents?.type
        nodes[number].isVariable = contents?.isVariable == true
        nodes[number].edges = edges
        return edges
    }

    private func edge(_ reference: HeapObject.Reference) -> Edge {
        Edge(node: node(reference.object, boxed: reference.boxed), reference: reference)
    }

    // MARK: Searching

    /// Objects that are searched for, in any number of searches.
    struct Targets {
        fileprivate let nodes: Set<Int>
    }

    func targets(_ objects: some Sequence<HeapObject>) -> Targets { Targets(nodes: Set(objects.map(node))) }

    /// The shortest paths from some references to each of the targets that they lead to and that are wanted, breadth first.
    func paths(
        from roots: [HeapObject.Reference], to targets: Targets, where isWanted: (HeapObject) -> Bool = { _ in true }
    ) -> [HeapObject: ReferencePath] {
        search(roots.map(edge), for: targets.nodes, where: isWanted)
    }

    /// The shortest paths from an object to each of the targets that are wanted, of which it may be one itself.
    func paths(
        from object: HeapObject, to targets: Targets, where isWanted: (HeapObject) -> Bool = { _ in true }
    ) -> [HeapObject: ReferencePath] {
        search(edges(of: node(object)), for: targets.nodes, where: isWanted)
    }

    /// The shortest path from a handler to an object; `nil` if there is none, or none among the nearest `count` objects.
    func path(from handler: ValueBytes, to object: HeapObject, lookingInto count: Int = .max) -> ReferencePath? {
        search(ReferencePath.roots(handler).map(edge), for: [node(object)], lookingInto: count).values.first
    }

    private func search(
        _ roots: [Edge], for targets: Set<Int>, lookingInto count: Int = .max,
        where isWanted: (HeapObject) -> Bool = { _ in true }
    ) -> [HeapObject: ReferencePath] {
        var steps: [(edge: Edge, from: Int?)] = []
        var found: [HeapObject: ReferencePath] = [:]
        var left = targets.count
        lastSearch += 1
        func visit(_ edges: [Edge], from: Int?) {
            if searches.count < nodes.count { searches += [Int](repeating: 0, count: nodes.count - searches.count) }
            for edge in edges where searches[edge.node] < lastSearch {
                searches[edge.node] = lastSearch
                steps.append((edge, from))
            }
        }
        visit(roots, from: nil)
        var next = 0
        while next < min(steps.count, count), left > 0 {
            // Objects that were copied for an earlier search are walked again in this one.
            if next % 1024 == 0, isOver() { break }
            let node = steps[next].edge.node
            if targets.contains(node) {
                left -= 1
                let object = nodes[node].object
                if isWanted(object) { found[object] = path(to: next, in: steps) }
            }
            visit(edges(of: node), from: next)
            next += 1
        }
        return found
    }

    private func path(to end: Int, in steps: [(edge: Edge, from: Int?)]) -> ReferencePath {
        func outer(_ place: Int, behind visitBox: (Int) -> Void = { _ in }) -> Int? {
            var position = steps[place].from
            while let box = position, nodes[steps[box].edge.node].boxed != nil {
                visitBox(box)
                position = steps[box].from
            }
            return position
        }
        // Without the boxes, from the end.
        var places = [end]
        while let place = outer(places[places.count - 1]) { places.append(place) }

        func step(_ place: Int) -> ReferencePath.Step {
            var reference = steps[place].edge.reference
            _ = outer(place) { reference = reference.inside(steps[$0].edge.reference.label) }
            let node = nodes[steps[place].edge.node]
            // The last one may not have been copied yet.
            let type =
                node.type ?? (place == end ? node.object.contents(within: Container.Budget(elements: 0))?.type : nil)
            // A closure that captures a variable alone has its box for a context.
            let isClosure = reference.isClosure && !node.isVariable
            return ReferencePath.Step(label: reference.label, isClosure: isClosure, type: type)
        }
        places.reverse()
        return ReferencePath(of: places.count) { step(places[$0]) }
    }
}
