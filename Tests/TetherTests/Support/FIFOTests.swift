import Testing

@testable import Tether

@Suite struct FIFOTests {
    @Test func `D4 elements come out in the order in which they went in`() {
        var fifo = FIFO<Int>()
        #expect(fifo.isEmpty)
        #expect(fifo.elements.first == nil)
        #expect(fifo.popFirst() == nil)
        for number in 1...100 { fifo.append(number) }
        #expect(fifo.count == 100)
        #expect(fifo.elements.first == 1)
        #expect(fifo.elements == Array(1...100))
        for number in 1...100 { #expect(fifo.popFirst() == number) }
        #expect(fifo.isEmpty)
        #expect(fifo.popFirst() == nil)
    }

    @Test func `D4 appending and taking by turns keeps the order at any length`() {
        var fifo = FIFO<Int>()
        var taken: [Int] = []
        for number in 0..<1000 {
            fifo.append(number)
            if number.isMultiple(of: 3) || number > 700, let next = fifo.popFirst() { taken.append(next) }
        }
        #expect(taken + fifo.elements == Array(0..<1000))
        #expect(fifo.count == 1000 - taken.count)
        #expect(fifo.elements.first == taken.count)
    }

    @Test func `D4 an element taken out of the middle leaves the order of the rest`() {
        var fifo = FIFO<Int>()
        for number in 1...5 { fifo.append(number) }
        _ = fifo.popFirst()
        #expect(fifo.remove { $0 == 1 } == nil)
        #expect(fifo.remove { $0 >= 4 } == 4)
        #expect(fifo.remove { $0 == 2 } == 2)
        #expect(fifo.elements == [3, 5])
        fifo.append(6)
        #expect(fifo.popFirst() == 3)
        #expect(fifo.elements == [5, 6])
    }

    @Test func `D6 every element can be changed in place, and all be taken at once`() {
        var fifo = FIFO<Int>()
        for number in 1...4 { fifo.append(number) }
        _ = fifo.popFirst()
        fifo.modifyEach { $0 *= 10 }
        #expect(fifo.elements == [20, 30, 40])
        #expect(fifo.removeAll() == [20, 30, 40])
        #expect(fifo.isEmpty)
        fifo.append(5)
        #expect(fifo.elements == [5])
    }

    @Test func `D7 the oldest elements can be taken out together, and what is left of them put back`() {
        var fifo = FIFO<Int>()
        var taken = ContiguousArray<Int>()
        for number in 1...3 { fifo.append(number) }
        fifo.takeOldest(&taken)
        #expect(taken == [3, 2, 1])
        #expect(fifo.isEmpty)
        #expect(taken.popLast { $0 > 1 } == nil)
        #expect(taken.popLast { $0 == 1 } == 1)
        fifo.append(4)
        fifo.putBack(&taken)
        #expect(taken.isEmpty)
        #expect(fifo.elements == [2, 3, 4])
        // Elements that were turned round already, and newer ones.
        #expect(fifo.popFirst() == 2)
        fifo.takeOldest(&taken)
        #expect(taken == [3])
        #expect(fifo.popFirst() == 4)
        for number in 5...7 { fifo.append(number) }
        #expect(fifo.popFirst() == 5)
        fifo.putBack(&taken)
        #expect(fifo.elements == [3, 6, 7])
        #expect(fifo.count == 3)
        fifo.putBack(&taken)
        #expect(fifo.elements == [3, 6, 7])
    }

    @Test func `D8 the newest elements can be taken out, also of those that were turned round`() {
        var fifo = FIFO<Int>()
        for number in 1...4 { fifo.append(number) }
        _ = fifo.popFirst()
        for number in 5...6 { fifo.append(number) }
        #expect(fifo.removeNewest(0) == [])
        #expect(fifo.removeNewest(1) == [6])
        #expect(fifo.removeNewest(2) == [4, 5])
        #expect(fifo.elements == [2, 3])
        fifo.append(7)
        #expect(fifo.removeNewest(3) == [2, 3, 7] && fifo.isEmpty)
    }

    @Test func `R8 an element is let go when it is taken`() {
        let log = Log<Int>()
        var fifo = FIFO<Ending>()
        for number in 1...3 { fifo.append(Ending { log.add(number) }) }
        _ = fifo.popFirst()
        #expect(log.entries == [1])
        _ = fifo.removeAll()
        #expect(log.entries == [1, 2, 3])
    }
}
