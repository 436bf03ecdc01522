/// A queue of two stacks: appending, and removing the first element, are O(1) amortised.
struct FIFO<Element> {
    /// The oldest elements, the oldest last.
    private var older: ContiguousArray<Element> = []
    /// All others, the newest last.
    private var newer: ContiguousArray<Element> = []

    var count: Int { older.count + newer.count }
    var isEmpty: Bool { older.isEmpty && newer.isEmpty }

    /// The elements, oldest first.
    var elements: [Element] { older.reversed() + newer }

    mutating func append(_ element: consuming Element) { newer.append(element) }

    /// Appends an element. Returns the element that is dropped if the queue is full: the new one,
    /// or the oldest.
    @inline(__always)
    mutating func append(_ element: consuming Element, limit: Int, keepsOldest: Bool) -> Element? {
        if keepsOldest, count >= limit { return element }
        append(element)
        return count > limit ? popFirst() : nil
    }

    /// Removes and returns the oldest element.
    @inline(__always)
    mutating func popFirst() -> Element? {
        if older.isEmpty {
            swap(&older, &newer)
            // In place, because the array's own `reverse()` copies each element.
            unsafe older.withUnsafeMutableBufferPointer { unsafe $0.reverse() }
        }
        guard let element = older.popLast() else { return nil }
        // A large array releases its memory with the last element.
        if older.isEmpty, older.capacity > 1024 { older = [] }
        return element
    }

    mutating func removeAll() -> [Element] { exchange(&self, with: FIFO()).elements }
}

extension FIFO: Sendable where Element: Sendable {}
