/// An element of at most one `UnorderedList`, which alone changes its place.
protocol UnorderedListElement: AnyObject {
    var place: Int { get set }
}

/// Elements in no order. Each stores its place, so that it is removed at once.
struct UnorderedList<Element: UnorderedListElement> {
    private(set) var elements: [Element] = []

    var isEmpty: Bool { elements.isEmpty }

    /// Complexity: O(1) amortised.
    mutating func append(_ element: Element) {
        element.place = elements.count
        elements.append(element)
    }

    /// Removes an element, which is in; the last one takes its place. Complexity: O(1).
    mutating func remove(_ element: Element) {
        let place = element.place
        let last = elements.removeLast()
        guard last !== element else { return }
        elements[place] = last
        last.place = place
    }
}
