import Testing

@testable import Tether

/// The hash table that grows and shrinks by one chain at a time.
@Suite struct HashChainsTests {
    private final class Element: Chained {
        let number: UInt
        var next: Element?

        init(_ number: UInt) { self.number = number }

        var hash: UInt { number &* 0x9E37_79B9_7F4A_7C15 >> 20 }
    }

    private func find(_ number: UInt, in table: HashChains<Element>) -> Element? {
        unsafe table.find(number &* 0x9E37_79B9_7F4A_7C15 >> 20) { $0.number == number }?.takeUnretainedValue()
    }

    @Test func `M9 elements are found, and removed in any order`() {
        var (table, dice, live) = (HashChains<Element>(), SplitMix64(seed: 5), [Element]())
        for number in 0..<4000 {
            // Grows for a while, and then shrinks.
            if !live.isEmpty, Int.random(in: 0..<3, using: &dice) < (number < 2000 ? 1 : 2) {
                let element = live.remove(at: Int.random(in: 0..<live.count, using: &dice))
                #expect(table.remove(element) === element)
                #expect(find(element.number, in: table) == nil)
                #expect(table.remove(element) == nil)
            } else {
                live.append(Element(UInt(number)))
                _ = unsafe table.insert(live[live.count - 1])
            }
            #expect(table.count == live.count)
        }
        for element in live { #expect(find(element.number, in: table) === element) }
        #expect(Set(table.elements.map(\.number)) == Set(live.map(\.number)))
    }

    @Test func `M9 the number of chains follows that of elements`() {
        var table = HashChains<Element>()
        let elements = (0..<3000).map { Element($0) }
        for (index, element) in elements.enumerated() {
            _ = unsafe table.insert(element)
            #expect(table.chainCount == max(8, index + 1))
        }
        for (index, element) in elements.enumerated() {
            _ = table.remove(element)
            let left = elements.count - index - 1
            #expect(table.chainCount >= left && table.chainCount <= max(8, 2 * left))
        }
        #expect(table.count == 0 && table.chainCount == 8)
    }

    @Test func `M9 elements with equal hashes are all found`() {
        final class Equal: Chained {
            let hash: UInt = 42
            var next: Equal?
        }
        var table = HashChains<Equal>()
        let elements = (0..<50).map { _ in Equal() }
        for element in elements { _ = unsafe table.insert(element) }
        for element in elements {
            #expect(unsafe table.find(42) { $0 === element } != nil)
            #expect(table.remove(element) === element)
        }
        #expect(table.count == 0)
    }
}
