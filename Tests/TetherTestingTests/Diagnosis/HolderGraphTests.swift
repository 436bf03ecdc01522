import Dispatch
import Foundation
import Synchronization
import Testing
import Tether

@testable import TetherTesting

/// Random graphs of objects whose holders the test knows. Each path of the search is checked, edge
/// by edge, while other threads allocate, free and change other objects.
///
/// `TETHER_GRAPHS` is the number of graphs. A failure prints the seed of its graph.
@Suite(.enabled(if: isMemorySearched)) struct HolderGraphTests {
    /// An object of the graph, with a property of each form.
    @safe final class Node: @unchecked Sendable {
        enum Choice {
            case none
            case node(Node)
            case pair(Node, Int)
            indirect case deeper(Node)
        }
        struct Row {
            var words = (1, 2, 3)
            var node: Node?
        }
        struct Failure: Error { let node: Node }
        struct Weak { weak var node: Node? }
        struct Unowned { unowned let node: Node }

        var field: Node?
        var array: [Node] = []
        var rows: [Row] = []
        var byName: [String: Node] = [:]
        var tuple: (Int, Node?) = (0, nil)
        var any: Any = 0
        var boxed: Any = 0
        var choice = Choice.none
        var indirect = Choice.none
        var error: (any Error)?
        var object: AnyObject?
        var closure: (() -> Node)?
        var slice: ArraySlice<Node> = []
        let mutex = Mutex<[Node]>([])

        // References that hold nothing.
        weak var weakField: Node?
        var weaks: [Weak] = []
        var unowneds: [Unowned] = []
        var unmanaged: Unmanaged<Node>?
        var address: UInt = 0
        var addresses: [UInt] = []
        var weakClosure: (() -> Node?)?
        var emptied: [Node] = []

        func empty() {
            field = nil
            array = []
            rows = []
            byName = [:]
            tuple = (0, nil)
            any = 0
            boxed = 0
            choice = .none
            indirect = .none
            error = nil
            object = nil
            closure = nil
            slice = []
            mutex.withLock { $0 = [] }
        }
    }

    // SAFETY: the one test of this suite uses the variables.
    enum Roots {
        @safe nonisolated(unsafe) static var node: Node?
        @safe nonisolated(unsafe) static var nodes: [Node] = []
    }

    private static let strong: [@Sendable (Node, Node) -> Void] = [
        { $0.field = $1 },
        { $0.array.append($1) },
        { $0.rows.append(Node.Row(node: $1)) },
        { $0.byName["\(ObjectIdentifier($1).hashValue)"] = $1 },
        { $0.tuple.1 = $1 },
        { $0.any = $1 },
        { $0.boxed = Node.Row(node: $1) },
        { $0.choice = .node($1) },
        { $0.choice = .pair($1, 1) },
        { $0.indirect = .deeper($1) },
        { $0.error = Node.Failure(node: $1) },
        { $0.object = $1 },
        { holder, held in holder.closure = { [row = Node.Row(node: held)] in row.node! } },
        { $0.slice = [$1, $1][1...] },
        { holder, held in holder.mutex.withLock { $0.append(held) } },
    ]

    private static let none: [@Sendable (Node, Node) -> Void] = [
        { $0.weakField = $1 },
        { $0.weaks.append(Node.Weak(node: $1)) },
        { $0.unowneds.append(Node.Unowned(node: $1)) },
        { unsafe $0.unmanaged = unsafe Unmanaged.passUnretained($1) },
        { $0.address = HeapObject($1).address },
        { $0.addresses.append(HeapObject($1).address) },
        { holder, held in holder.weakClosure = { [weak held] in held } },
        { holder, held in
            holder.emptied.append(held)
            holder.emptied.removeAll(keepingCapacity: true)
        },
    ]

    /// The objects of a graph by address. The test holds none of them by a strong reference but by
    /// counts.
    private struct Graph {
        var addresses: [HiddenAddress] = []
        var numbers: [HiddenAddress: Int] = [:]
        /// The strong references: pairs of a holder and the object that it holds.
        var edges: Set<[Int]> = []
        var roots: Set<Int> = []

        // SAFETY: each object has a reference that the graph releases last.
        func node(_ number: Int) -> Node {
            let pointer = unsafe UnsafeRawPointer(bitPattern: addresses[number].address)!
            return unsafe Unmanaged<Node>.fromOpaque(pointer).takeUnretainedValue()
        }

        mutating func add() {
            let address = unsafe HiddenAddress(
                UInt(bitPattern: Unmanaged.passRetained(Node()).toOpaque()))
            numbers[address] = addresses.count
            addresses.append(address)
        }

        func isReachable(_ target: Int) -> Bool {
            var seen = roots
            var rest = Array(roots)
            while let next = rest.popLast() {
                if next == target { return true }
                for edge in edges where edge[0] == next && seen.insert(edge[1]).inserted {
                    rest.append(edge[1])
                }
            }
            return false
        }

        func end() {
            for number in addresses.indices { node(number).empty() }
            Roots.node = nil
            Roots.nodes = []
            for number in addresses.indices {
                let pointer = unsafe UnsafeRawPointer(bitPattern: addresses[number].address)!
                unsafe Unmanaged<Node>.fromOpaque(pointer).release()
            }
        }
    }

    @inline(never)
    private static func makeGraph(_ random: inout some RandomNumberGenerator) -> Graph {
        var graph = Graph()
        let count = Int.random(in: 5...40, using: &random)
        for _ in 0..<count { graph.add() }
        func any() -> Int { Int.random(in: 0..<count, using: &random) }
        // A property that holds one object forgets the one before: each is used once.
        var used: Set<[Int]> = []
        for _ in 0..<count * 2 {
            let (holder, held) = (any(), any())
            let form = Int.random(in: 0..<strong.count, using: &random)
            // Two forms use one property.
            guard used.insert([holder, form == 8 ? 7 : form]).inserted, holder != held else {
                continue
            }
            strong[form](graph.node(holder), graph.node(held))
            graph.edges.insert([holder, held])
        }
        for _ in 0..<count * 2 {
            none.randomElement(using: &random)!(graph.node(any()), graph.node(any()))
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let root = any()
            Roots.nodes.append(graph.node(root))
            graph.roots.insert(root)
        }
        // A freed holder.
        let freed = Node()
        for form in strong { form(freed, graph.node(any())) }
        return graph
    }

    /// Other threads that allocate, free and change objects of their own.
    private final class Noise: Sendable {
        private let isOver = Atomic<Bool>(false)
        private let threads = DispatchGroup()

        init(_ count: Int) {
            for _ in 0..<count {
                threads.enter()
                Thread.detachNewThread {
                    var nodes: [Node] = []
                    while !self.isOver.load(ordering: .relaxed) {
                        let node = Node()
                        node.field = nodes.randomElement()
                        node.array = nodes.suffix(3)
                        nodes.append(node)
                        if nodes.count > 200 {
                            for node in nodes { node.empty() }
                            nodes = []
                        }
                    }
                    for node in nodes { node.empty() }
                    self.threads.leave()
                }
            }
        }

        func end() {
            isOver.store(true, ordering: .relaxed)
            threads.wait()
        }
    }

    /// The objects of the graph on a path, root first. Chunks between them belong to their holders.
    private func nodes(_ path: RootPath, _ graph: Graph) -> [Int] {
        path.holders.compactMap { graph.numbers[$0.object] }
    }

    // In a process of its own, because each word of another test's objects is one of the process.
    @Test func `L3 a path that is printed is one of strong references, in random graphs`() async {
        await #expect(processExitsWith: .success) { HolderGraphTests().searchGraphs() }
    }

    private func searchGraphs() {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["TETHER_GRAPHS"].flatMap(Int.init) ?? 12
        var seeds = SystemRandomNumberGenerator()
        for number in 0..<count {
            let seed = seeds.next()
            var random = SeededNumbers(seed)
            let graph = Self.makeGraph(&random)
            let noise = Noise(number % 2 == 0 ? 0 : 2)
            guard let search = HolderSearch(limit: .seconds(300)) else {
                Issue.record("no index, seed \(seed)")
                return
            }
            for target in graph.addresses.indices.prefix(10) {
                check(target, graph, search, seed, isQuiet: number % 2 == 0)
            }
            noise.end()
            graph.end()
        }
    }

    private func check(
        _ target: Int, _ graph: Graph, _ search: HolderSearch, _ seed: UInt64, isQuiet: Bool
    ) {
        let references = graph.edges.count { $0[1] == target }
        let result = search.holders(of: graph.addresses[target], count: 1 + references)
        let proved = result.paths.filter(\.isProved)
        var isFound = false
        for path in proved {
            var chain = nodes(path, graph)
            switch path.root {
            case .global(let symbol):
                #expect(
                    symbol.variable?.hasSuffix("Roots.nodes") == true,
                    "seed \(seed) \(path.sentence)")
                #expect(graph.roots.contains(chain.first ?? target), "seed \(seed)")
                isFound = true
            case .cycle: chain.insert(target, at: 0)
            case .loop: #expect(Set(chain).count < chain.count, "seed \(seed)")
            default: Issue.record("another root, seed \(seed): \(path.sentence)")
            }
            chain.append(target)
            for edge in zip(chain, chain.dropFirst()) {
                #expect(graph.edges.contains([edge.0, edge.1]), "seed \(seed): \(path.sentence)")
            }
        }
        for path in result.rootless {
            let chain = nodes(path, graph) + [target]
            #expect(chain.count > 1, "seed \(seed): \(path.sentence)")
            for edge in zip(chain, chain.dropFirst()) {
                #expect(graph.edges.contains([edge.0, edge.1]), "seed \(seed): \(path.sentence)")
            }
        }
        #expect(isFound == graph.isReachable(target) || !isQuiet, "seed \(seed): \(target)")
        #expect(!isFound || graph.isReachable(target), "seed \(seed): \(target)")
    }
}

/// Numbers that a seed repeats.
private struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
