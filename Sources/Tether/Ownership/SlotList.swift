/// A list in insertion order with O(1) amortised append and removal by slot.
///
/// A removal leaves a hole; the holes are squeezed out when they outnumber the elements, and `moved` then tells
/// every element its new slot.
struct SlotList<Element> {
    private var slots: ContiguousArray<Element?> = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    var elements: [Element] { slots.compactMap(\.self) }

    /// Appends an element and returns its slot.
    mutating func append(_ element: Element) -> Int {
        slots.append(element)
        count += 1
        return slots.count - 1
    }

    /// Takes the element out of a slot.
    mutating func remove(at slot: Int, moved: (Element, Int) -> Void) -> Element? {
        guard let element = slots[slot].take() else { return nil }
        count -= 1
        if slots.count >= 8, count < slots.count / 2 {
            slots.removeAll { $0 == nil }
            for (slot, element) in slots.enumerated() { moved(element!, slot) }
        }
        return element
    }
}
