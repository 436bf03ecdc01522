import Testing

@testable import Tether

/// The list from which an element is taken out without a look at the others.
@Suite struct UnorderedListTests {
    private final class Counter { var looks = 0 }

    /// Counts how often its place is asked for or set.
    private final class Element: UnorderedListElement {
        private let counter: Counter
        private var known = 0

        init(_ counter: Counter) { self.counter = counter }

        var place: Int {
            get {
                counter.looks += 1
                return known
            }
            set {
                counter.looks += 1
                known = newValue
            }
        }
    }

    private func identities(_ elements: some Sequence<Element>) -> Set<ObjectIdentifier> {
        Set(elements.map(ObjectIdentifier.init))
    }

    @Test func `M9 elements are taken out in any order, and the rest stays`() {
        var (list, dice, live) = (UnorderedList<Element>(), SplitMix64(seed: 7), [Element]())
        for _ in 0..<2_000 {
            if !live.isEmpty, Bool.random(using: &dice) {
                list.remove(live.remove(at: Int.random(in: 0..<live.count, using: &dice)))
            } else {
                live.append(Element(Counter()))
                list.append(live[live.count - 1])
            }
            #expect(identities(list.elements) == identities(live) && list.elements.count == live.count)
        }
    }

    @Test func `M9 taking elements out costs the same, however many there are`() {
        for size in [10, 10_000] {
            var list = UnorderedList<Element>()
            let counter = Counter()
            let counted = (0..<size).map { _ in Element(counter) }
            for element in counted { list.append(element) }
            for element in counted { list.remove(element) }
            #expect(list.isEmpty && counter.looks <= 3 * size, "\(counter.looks) looks at \(size) elements")
        }
    }
}
