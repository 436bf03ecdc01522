import Dispatch
import Foundation
import Synchronization
import Testing
import Tether
import TetherTesting

/// A diagnosis walks a model while other threads change the model, under a lock unknown to the
/// diagnosis.
///
/// `TETHER_DIAGNOSIS` is the duration in seconds.
@Suite struct ChangingModelTests {
    /// The parts of the model: every form of a value that holds objects.
    final class Node: @unchecked Sendable {
        enum Choice {
            case none
            case number(Int)
            case node(Node)
            case pair(Node, any AnyObject & Sendable)
            indirect case deeper(Choice)
        }
        struct Large { var words = (1, 2, 3, 4), node: Node? }

        var next: Node?
        var nodes: [Node] = []
        var byName: [String: Node] = [:]
        var numbers: Set<Int> = []
        var choice = Choice.none
        var choices: [Choice] = []
        var any: Any = 0
        var object: (any AnyObject & Sendable)?
        var error: (any Error)?
        var action: (@Sendable () -> Int)?
        var text = ""
        var data = Data()
    }

    /// A model and its lock.
    final class Model: @unchecked Sendable {
        private let lock = NSLock()
        private let roots = (0..<20).map { _ in Node() }
        // The content of freed memory: numbers that the runtime uses for kinds of metadata, and
        // addresses.
        private let words = Words(kinds + kinds)
        /// Memory that is reused at once for words that resemble objects with forged metadata.
        private var litter: [Words?] = Array(repeating: nil, count: 256)
        private let forged: [Words] = {
            let descriptor = Words([UInt](repeating: 16, count: 16))
            // A class, a closure's context, a box.
            return [descriptor]
                + [0, 0x400, 0x500].map {
                    Words([0, 0, 0, $0, 16, descriptor.address, 64, 0, descriptor.address])
                }
        }()
        private static let kinds: [UInt] = [
            0, 8, 16, 0x200, 0x201, 0x202, 0x301, 0x303, 0x400, 0x500,
        ]

        /// Makes a change.
        func change(_ random: inout SystemRandomNumberGenerator) {
            let (new, other) = (Node(), Node())
            let place = Int.random(in: 0..<roots.count, using: &random)
            let form = Int.random(in: 0..<18, using: &random)
            let words = (0..<Int.random(in: 1..<16, using: &random)).map { _ in word(&random) }
            lock.withLock {
                let metadata = forged[1 + place % 3].address + 24
                litter[(place * 18 + form) % litter.count] = Words(
                    [metadata] + words + [UInt](repeating: metadata, count: form * 2))
                let node = roots[place]
                switch form {
                case 0: node.next = new
                case 1: node.nodes = (0..<words.count).map { _ in Node() }
                case 2: node.byName = Dictionary(words.map { ("\($0)", new) }) { first, _ in first }
                case 3: node.choice = .node(new)
                case 4: node.choice = .pair(new, other)
                case 5: node.choice = .deeper(.deeper(.pair(other, new)))
                case 6:
                    node.choices = words.map {
                        $0 % 2 == 0 ? .number(Int(bitPattern: $0)) : .node(new)
                    }
                case 7: node.any = new
                case 8: node.any = Node.Large(node: new)
                case 9: node.any = words
                case 10: node.any = (words[0], new, words)
                case 11: node.any = Optional(Optional(new)) as Any
                case 12: node.object = boxed(words.count, new)
                case 13: node.action = { [words] in new.nodes.count + words.count }
                case 14: node.action = closure(over: (words[0], new), words)
                case 15: node.text = String(repeating: "x", count: words.count)
                case 16: node.data = Data(words.bytes)
                default: node.numbers = Set(words.map { Int(bitPattern: $0) })
                }
                if form % 3 == 0 { roots[(place + 1) % roots.count].next = node.next }
            }
        }

        private func word(_ random: inout SystemRandomNumberGenerator) -> UInt {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: Model.kinds.randomElement(using: &random) ?? 0
            case 1: words.address + 8 * .random(in: 0..<10, using: &random)
            case 2:
                UInt(
                    bitPattern: Bool.random(using: &random)
                        ? ObjectIdentifier(Node.self) : .init([Node].self)
                )
            default: .random(in: .min ... .max, using: &random)
            }
        }
    }

    @Test func `L3 a diagnosis of memory that other threads change does not crash, and ends`()
        throws
    {
        let seconds =
            ProcessInfo.processInfo.environment["TETHER_DIAGNOSIS"].flatMap(Double.init) ?? 1
        let (center, model) = (ObserverCenter(), Model())
        let isOver = Flag()
        let changers = (0..<2).map { _ in
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                var random = SystemRandomNumberGenerator()
                while !isOver.isSet { model.change(&random) }
                ended.signal()
            }
            return ended
        }
        let end = Date(timeIntervalSinceNow: seconds)
        repeat {
            let keep = Keep()
            let findings = findLeaks(limits: .init(deliveryWait: .zero)) {
                keep.add(center.observe(.modelDidChange) { _ in withExtendedLifetime(model) {} })
            }
            try #require(findings.count == 1)
            keep.drop()
        } while Date() < end
        isOver.set()
        for ended in changers { try #require(ended.wait(timeout: .now() + 300) == .success) }
    }

    final class Flag: Sendable {
        private let value = Atomic<Bool>(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
}

private func boxed(_ number: Int, _ node: ChangingModelTests.Node) -> any AnyObject & Sendable {
    switch number % 4 {
    case 0: node
    case 1: Holder([node] as NSArray)
    case 2: Holder(NSString(string: "text \(number)"))
    default: Holder((number, node))
    }
}

@inline(never)
private func closure<First: Sendable, Second: Sendable>(
    over first: First, _ second: Second
) -> @Sendable () -> Int {
    { ([Holder(first), Holder(second)] as [AnyObject]).count + (second is Int ? 1 : 0) }
}

private final class Holder<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
