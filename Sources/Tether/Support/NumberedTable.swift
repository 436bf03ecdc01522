/// Elements by numbers from 0 on. An element keeps its number as long as it is in; then another one may get it.
struct NumberedTable<Element> {
    private var elements: ContiguousArray<Element?> = []
    private var unused: ContiguousArray<UInt32> = []

    /// An element that is in. Complexity: O(1).
    subscript(number: UInt32) -> Element { elements[Int(number)]! }

    /// Complexity: O(1) amortised.
    mutating func insert(_ element: Element) -> UInt32 {
        if let number = unused.popLast() {
            elements[Int(number)] = element
            return number
        }
        elements.append(element)
        return UInt32(elements.count - 1)
    }

    /// Takes an element out, which is in. Complexity: O(1) amortised.
    mutating func remove(_ number: UInt32) {
        elements[Int(number)] = nil
        unused.append(number)
        // A table that was large gives its memory back.
        if unused.count == elements.count, elements.count > 64 { self = NumberedTable() }
    }
}
