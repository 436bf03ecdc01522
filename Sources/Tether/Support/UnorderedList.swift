/// Elements in no order, each of which knows its place, so that it is taken out at once.
struct UnorderedList<Element: UnorderedListElement> {
    private(set) var elements: [Element] = []

    var isEmpty: Bool { elements.isEmpty }

    /// Complexity: O(1) amortised.
    mutating func append(_ element: Element) {
        element.place = elements.count
        elements.append(element)
    }

    /// Takes an element out, which is in; the last one takes its place. Complexity: O(1).
    mutating func remove(_ element: Element) {
        let place = element.place
        let last = elements.removeLast()
        guard last !== element else { return }
        elements[place] = last
        last.place = place
    }
}
