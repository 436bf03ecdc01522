import Testing

@testable import Tether

@Suite struct SlotListTests {
    /// A list whose elements' slots are followed as its users follow them.
    private struct Followed {
        var list = SlotList<Int>()
        var slots: [Int: Int] = [:]

        mutating func append(_ element: Int) { slots[element] = list.append(element) }

        mutating func remove(_ element: Int) -> Int? {
            guard let slot = slots.removeValue(forKey: element) else { return nil }
            return list.remove(at: slot) { slots[$0] = $1 }
        }
    }

    @Test func `O7 elements stay in order of insertion`() {
        var followed = Followed()
        #expect(followed.list.isEmpty && followed.list.count == 0 && followed.list.elements == [])
        for element in 0..<5 { followed.append(element) }
        #expect(followed.list.elements == [0, 1, 2, 3, 4])
        #expect(followed.remove(2) == 2)
        followed.append(5)
        #expect(followed.list.elements == [0, 1, 3, 4, 5])
        #expect(followed.list.count == 5 && !followed.list.isEmpty)
    }

    @Test func `R3 a slot that was emptied gives nothing again`() {
        var list = SlotList<Int>()
        let slot = list.append(1)
        #expect(list.remove(at: slot) { _, _ in } == 1)
        #expect(list.remove(at: slot) { _, _ in } == nil)
        #expect(list.isEmpty)
    }

    @Test func `M9 every element learns its new slot when holes are squeezed out`() {
        var followed = Followed()
        for element in 0..<1000 { followed.append(element) }
        for element in 0..<1000 where !element.isMultiple(of: 7) { #expect(followed.remove(element) == element) }
        let kept = Array(stride(from: 0, to: 1000, by: 7))
        #expect(followed.list.elements == kept)
        // Squeezed out at least once, so the slots are close together.
        #expect(followed.slots.values.max()! < 2 * kept.count)
        for element in kept.reversed() { #expect(followed.remove(element) == element) }
        #expect(followed.list.isEmpty && followed.list.elements == [])
    }

    @Test func `M9 a list that never holds much never grows`() {
        var followed = Followed()
        var highest = 0
        for element in 0..<10_000 {
            followed.append(element)
            highest = max(highest, followed.slots[element]!)
            if element >= 3 { #expect(followed.remove(element - 3) == element - 3) }
        }
        #expect(followed.list.elements == [9997, 9998, 9999])
        #expect(highest < 16)
    }
}
