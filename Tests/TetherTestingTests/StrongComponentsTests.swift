import Testing

@testable import TetherTesting

@Suite struct StrongComponentsTests {
    /// Which nodes lead to which, by looking at each pair.
    private func reaches(_ connections: [(Int, Int)], _ start: Int) -> Set<Int> {
        var (pending, seen) = ([start], Set<Int>())
        while let next = pending.popLast() {
            for (from, to) in connections where from == next && seen.insert(to).inserted { pending.append(to) }
        }
        return seen
    }

    @Test(arguments: 0..<200)
    func `two nodes have the same number if each leads to the other`(number: Int) {
        let count = number % 8 + 1
        let connections = (0..<Int.random(in: 0...2 * count)).map { _ in
            (Int.random(in: 0..<count), Int.random(in: 0..<count))
        }
        var components = StrongComponents<Int>()
        for (start, end) in connections { components.connect(start, to: end) }
        let numbers = components.numbers()
        #expect(Set(numbers.keys) == Set(connections.flatMap { [$0, $1] }))
        for (one, other) in numbers.keys.flatMap({ one in numbers.keys.map { (one, $0) } }) where one != other {
            let isMutual = reaches(connections, one).contains(other) && reaches(connections, other).contains(one)
            #expect((numbers[one] == numbers[other]) == isMutual, "\(connections)")
        }
    }

    @Test func `a ring of any length is one`() {
        var components = StrongComponents<Int>()
        for node in 0..<100_000 { components.connect(node, to: (node + 1) % 100_000) }
        #expect(Set(components.numbers().values).count == 1)
    }
}
