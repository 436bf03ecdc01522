import Testing

@testable import Tether

/// The numbers that stand for buckets in registrations.
@Suite struct NumberedTableTests {
    @Test func `M9 an element keeps its number, and those of elements that were taken out are given again`() {
        var (table, dice, live) = (NumberedTable<Int>(), SplitMix64(seed: 11), [UInt32: Int]())
        for element in 0..<5_000 {
            if let (number, _) = live.randomElement(using: &dice), Bool.random(using: &dice) {
                table.remove(number)
                live[number] = nil
            } else {
                let number = table.insert(element)
                #expect(live[number] == nil)
                live[number] = element
            }
            #expect(live.allSatisfy { table[$0.key] == $0.value })
        }
        let largest = live.keys.max() ?? 0
        #expect(largest < 400)
    }

    @Test func `M9 a table that was large begins again with the first number when it is empty`() {
        var table = NumberedTable<Int>()
        let numbers = (0..<1000).map { table.insert($0) }
        for number in numbers { table.remove(number) }
        #expect(numbers == Array(0..<1000) && table.insert(7) == 0 && table[0] == 7)
    }
}
