/// The strongly connected components of a directed graph: two nodes are in the same one if each leads to the other.
///
/// Sharir's algorithm, in time and space linear in the connections, and without recursion.
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

    /// A number for each node, which is that of its component.
    func numbers() -> [Node: Int] {
        var components = [Int?](repeating: nil, count: ends.count)
        // From what was left last, against the connections, no other component is reached that has no number yet.
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

    /// The nodes in the order in which a search in depth is through with them.
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
