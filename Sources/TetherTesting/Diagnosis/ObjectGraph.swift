internal import Dispatch
internal import Tether

/// Objects and their references. The first search that reaches an object copies the object.
///
/// The boxes of large values in existentials are objects of the graph, too. A path shows a box as a
/// part of its holder.
///
/// The searches of one diagnosis share the graph, so the model behind thirty handlers is read once.
/// All searches share one budget of time and one budget of objects. After the budget nothing more
/// is read, and `isExhausted` is true.
final class ObjectGraph {
    private struct Node {
        let object: HeapObject
        /// The type of the value, if the object is a box.
        let boxed: RuntimeType?
        /// The class of the object, if any, at the time of the copy.
        var type: RuntimeType?
        var isVariable = false
        /// `nil` before the copy.
        var edges: [Edge]?
    }

    private struct Edge {
        let node: Int
        let reference: HeapObject.Reference
    }

    private var nodes: [Node] = []
    private var numbers: [UInt: Int] = [:]
    /// The last search that visited each node, so that a short search need not reset all nodes.
    private var searches: [Int] = []
    private var lastSearch = 0
    private let deadline: DispatchTime
    private let limit: Int
    /// The number of elements of collections that may still be read.
    private var elements: Int
    /// The number of copied objects.
    private(set) var count = 0
    /// Whether something was left out after the end of the budget.
    private(set) var isExhausted = false
    /// Whether something was left out because a collection exceeds the limit of elements.
    private(set) var isCut = false

    /// Makes a graph of at most `limit` objects and `elements` elements of collections, read before
    /// a deadline.
    init(until deadline: DispatchTime = .distantFuture, limit: Int = 200_000, elements: Int = .max)
    {
        self.deadline = deadline
        self.limit = limit
        self.elements = elements
    }

    /// Whether the deadline has come. The rest of the search is then left out.
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
        let object = nodes[number].object
        let boxed = nodes[number].boxed
        var budget = Container.Budget(deadline: deadline)
        budget.elements = min(budget.elements, elements)
        let contents =
            boxed.map { .init(type: nil, references: object.references(boxed: $0)) }
            ?? object.contents(within: budget)
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

    /// The objects to search for, in any number of searches.
    struct Targets {
        fileprivate let nodes: Set<Int>
    }

    func targets(_ objects: some Sequence<HeapObject>) -> Targets {
        Targets(nodes: Set(objects.map(node)))
    }

    /// The shortest paths from some references to each wanted target among the nearest `count`
    /// objects, breadth first.
    func paths(
        from roots: [HeapObject.Reference], to targets: Targets, lookingInto count: Int = .max,
        where isWanted: (HeapObject) -> Bool = { _ in true }
    ) -> [HeapObject: ReferencePath] {
        search(roots.map(edge), for: targets.nodes, lookingInto: count, where: isWanted)
    }

    /// The shortest paths from an object to each wanted target, which may be the object itself.
    func paths(
        from object: HeapObject, to targets: Targets,
        where isWanted: (HeapObject) -> Bool = { _ in true }
    ) -> [HeapObject: ReferencePath] {
        search(edges(of: node(object)), for: targets.nodes, where: isWanted)
    }

    /// The shortest path from a handler to an object.
    func path(from handler: ValueBytes, to object: HeapObject) -> ReferencePath? {
        search(ReferencePath.roots(handler).map(edge), for: [node(object)]).values.first
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
            if searches.count < nodes.count {
                searches += [Int](repeating: 0, count: nodes.count - searches.count)
            }
            for edge in edges where searches[edge.node] < lastSearch {
                searches[edge.node] = lastSearch
                steps.append((edge, from))
            }
        }
        visit(roots, from: nil)
        var next = 0
        while next < min(steps.count, count), left > 0 {
            // Objects copied for an earlier search are walked without a check of the deadline in
            // `edges(of:)`.
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
        /// The step before a step, without the boxes in between, which are visited.
        func previousStep(of place: Int, skipping visitBox: (Int) -> Void = { _ in }) -> Int? {
            var position = steps[place].from
            while let box = position, nodes[steps[box].edge.node].boxed != nil {
                visitBox(box)
                position = steps[box].from
            }
            return position
        }
        // The steps without the boxes, from the end.
        var places = [end]
        while let place = previousStep(of: places[places.count - 1]) { places.append(place) }

        func step(_ place: Int) -> ReferencePath.Step {
            var reference = steps[place].edge.reference
            _ = previousStep(of: place) {
                reference = reference.inside(steps[$0].edge.reference.label)
            }
            let node = nodes[steps[place].edge.node]
            // The last object may not have been copied yet.
            let type =
                node.type
                ?? (place == end
                    ? node.object.contents(within: Container.Budget(elements: 0))?.type : nil)
            // A closure that captures only a variable has the variable's box as its context.
            let isClosure = reference.isClosure && !node.isVariable
            return ReferencePath.Step(
                label: reference.label, isClosure: isClosure,
                object: type.map(ReferencePath.Object.init))
        }
        return ReferencePath(places.reversed().map(step))
    }
}
