/// A queue with O(1) amortised append and removal of the first element.
struct FIFO<Element> {
    private var storage: ContiguousArray<Element?> = []
    private var head = 0

    var count: Int { storage.count - head }
    var isEmpty: Bool { count == 0 }

    var first: Element? { storage[head...].first.flatMap(\.self) }

    /// The elements, oldest first.
    var elements: [Element] { storage[head...].compactMap(\.self) }

    mutating func append(_ element: Element) { storage.append(element) }

    mutating func popFirst() -> Element? { popFirst { _ in true } }

    /// Takes the first element, if it satisfies a condition.
    @inline(__always)
    mutating func popFirst(if condition: (Element) -> Bool) -> Element? {
        guard !isEmpty, let element = storage[head].take() else { return nil }
        guard condition(element) else {
            storage[head] = element
            return nil
        }
        head += 1
        if head == storage.count {
            storage.removeAll(keepingCapacity: storage.capacity <= 1024)
            head = 0
        } else if head >= 32, head * 2 >= storage.count {
            storage.removeSubrange(..<head)
            head = 0
        }
        return element
    }

    /// Takes out the oldest element that satisfies a condition. Complexity: O(n).
    mutating func remove(where condition: (Element) -> Bool) -> Element? {
        guard let index = storage.indices.dropFirst(head).first(where: { storage[$0].map(condition) == true }) else {
            return nil
        }
        return storage.remove(at: index)
    }

    /// Takes everything out.
    mutating func removeAll() -> [Element] {
        let taken = elements
        storage = []
        head = 0
        return taken
    }

    /// Changes every element in place, oldest first.
    mutating func modifyEach(_ body: (inout Element) -> Void) {
        for index in storage.indices.dropFirst(head) {
            if var element = storage[index].take() {
                body(&element)
                storage[index] = element
            }
        }
    }
}

extension FIFO: Sendable where Element: Sendable {}
