/// A queue with O(1) amortised append and removal of the first element.
///
/// Two stacks, so that taking an element moves that one and nothing else.
struct FIFO<Element> {
    /// The oldest elements, the oldest last.
    private var older: ContiguousArray<Element> = []
    /// All others, the newest last.
    private var newer: ContiguousArray<Element> = []

    var count: Int { older.count + newer.count }
    var isEmpty: Bool { older.isEmpty && newer.isEmpty }

    var first: Element? { older.last ?? newer.first }

    /// The elements, oldest first.
    var elements: [Element] { older.reversed() + newer }

    mutating func append(_ element: consuming Element) { newer.append(element) }

    mutating func popFirst() -> Element? { popFirst { _ in true } }

    /// Takes the first element, if it satisfies a condition.
    @inline(__always)
    mutating func popFirst(if condition: (Element) -> Bool) -> Element? {
        if older.isEmpty { turn() }
        return older.popLast(where: condition)
    }

    /// Takes out some or all of the oldest elements, the oldest last, into what is empty.
    mutating func takeOldest(_ taken: inout ContiguousArray<Element>) {
        if older.isEmpty { turn() }
        swap(&older, &taken)
    }

    /// Puts back what is left of what was taken.
    mutating func putBack(_ taken: inout ContiguousArray<Element>) {
        if taken.isEmpty { return }
        swap(&older, &taken)
        if taken.isEmpty { return }
        older.insert(contentsOf: taken, at: 0)
        taken = []
    }

    private mutating func turn() {
        swap(&older, &newer)
        // In place, because an array's own way copies each element.
        unsafe older.withUnsafeMutableBufferPointer { unsafe $0.reverse() }
    }

    /// Takes out the oldest element that satisfies a condition. Complexity: O(n).
    mutating func remove(where condition: (Element) -> Bool) -> Element? {
        if let index = older.lastIndex(where: condition) { return older.remove(at: index) }
        return newer.firstIndex(where: condition).map { newer.remove(at: $0) }
    }

    /// Takes out the newest `count`, oldest first.
    mutating func removeNewest(_ count: Int) -> [Element] {
        let (ofOlder, ofNewer) = (Swift.max(0, count - newer.count), Swift.min(count, newer.count))
        let taken = Array(older.prefix(ofOlder).reversed()) + newer.suffix(ofNewer)
        older.removeFirst(ofOlder)
        newer.removeLast(ofNewer)
        return taken
    }

    /// Takes everything out.
    mutating func removeAll() -> [Element] {
        let taken = elements
        self = FIFO()
        return taken
    }

    /// Changes every element in place, oldest first.
    mutating func modifyEach(_ body: (inout Element) -> Void) {
        for index in older.indices.reversed() { body(&older[index]) }
        for index in newer.indices { body(&newer[index]) }
    }
}

extension ContiguousArray {
    /// Takes the last element, if it satisfies a condition; the memory of many is released with the last of them.
    @inline(__always)
    mutating func popLast(where condition: (Element) -> Bool) -> Element? {
        // Taken out to be looked at, because an element that is looked at in its place is copied.
        guard let element = popLast() else { return nil }
        if !condition(element) {
            append(element)
            return nil
        }
        if isEmpty, capacity > 1024 { self = [] }
        return element
    }
}

extension FIFO: Sendable where Element: Sendable {}
