/// The elements that were posted and not taken yet, or the iterator that waits: a value whose methods say what to do next.
struct SequenceState<Element, Consumer> {
    private let policy: BufferingPolicy
    private var elements = FIFO<Element>()
    private var consumers = FIFO<Consumer>()
    private(set) var dropped = 0
    private(set) var isFinished = false

    init(_ policy: BufferingPolicy) {
        self.policy = policy
    }

    var count: Int { elements.count }

    enum Offer {
        case kept
        case handed(to: Consumer)
        /// To be released, with no lock held.
        case dropped(Element)
    }

    /// Takes what was posted.
    mutating func offer(_ element: Element) -> Offer {
        if isFinished { return .dropped(element) }
        if let consumer = consumers.popFirst() { return .handed(to: consumer) }
        if policy.keepsOldest, elements.count == policy.limit {
            dropped += 1
            return .dropped(element)
        }
        elements.append(element)
        guard elements.count > policy.limit, let oldest = elements.popFirst() else { return .kept }
        dropped += 1
        return .dropped(oldest)
    }

    enum Take {
        case element(Element)
        case end
        case wait
    }

    /// Gives what is there to a consumer, or lets it wait.
    mutating func take(for consumer: Consumer) -> Take {
        if let element = elements.popFirst() { return .element(element) }
        if isFinished { return .end }
        consumers.append(consumer)
        return .wait
    }

    /// Takes no more: who waits gets the end, and what is returned is to be released, with no lock held.
    mutating func finish(keepingElements: Bool) -> (consumers: [Consumer], elements: [Element]) {
        isFinished = true
        return (consumers.removeAll(), keepingElements ? [] : elements.removeAll())
    }
}
