/// The strongly connected components of a directed graph: two nodes share a component if each leads to the other.
///
/// Implements Sharir's algorithm without recursion, in time and space linear in the connections.
struct StrongComponents<Node: Hashable> {
    private var numbersOfNodes: [Node: Int] = [:]
    private var ends: [[Int]] = []
    private var starts: [[Int]] = []

    mutating func connect(_ start: Node, to end: Node) {
        let (start, end) = (number(start), number(end))
        ends[start].append(end)
        starts[end].append(start)
    }

    private mutating func number(_ node: Node) -> Int {
        if let number = numbersOfNodes[node] { return number }
        numbersOfNodes[node] = ends.count
        ends.append([])
        starts.append([])
        return ends.count - 1
    }

    /// The number of each node's component.
    func numbers() -> [Node: Int] {
        var components = [Int?](repeating: nil, count: ends.count)
        // A search against the connections, from the node finished last, meets no unnumbered node of another component.
        for root in inOrderOfLeaving().reversed() where components[root] == nil {
            var pending = [root]
            while let next = pending.popLast() {
                guard components[next] == nil else { continue }
                components[next] = root
                pending += starts[next]
            }
        }
        return numbersOfNodes.compactMapValues { components[$0] }
    }

    /// The nodes in the order of finishing in a depth-first search.
    private func inOrderOfLeaving() -> [Int] {
        var order: [Int] = []
        var isSeen = [Bool](repeating: false, count: ends.count)
        for root in ends.indices where !isSeen[root] {
            isSeen[root] = true
            var path = [(node: root, next: 0)]
            while let (node, next) = path.last {
                guard next < ends[node].count else {
                    order.append(node)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let end = ends[node][next]
                guard !isSeen[end] else { continue }
                isSeen[end] = true
                path.append((end, 0))
            }
        }
        return order
    }
}
