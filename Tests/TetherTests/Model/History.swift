/// The events in order. Releases that follow each other are sorted, because they may come in any
/// order.
struct History: Equatable {
    enum Event: Hashable {
        /// A handler was called, with the post's number and sender. `hasOwner` if the handler got
        /// its own live owner.
        case called(observer: Int, number: Int?, sender: PostedSender, hasOwner: Bool)
        /// A task took an element of a sequence, or with `nil` the end.
        case taken(sequence: Int, number: Int?, sender: PostedSender?)
        /// A handler with actions returned.
        case returned(observer: Int)
        /// An operation in a handler or a `deinit` has ended.
        case done
        /// An object's `deinit` began in the operation that released the object.
        case deinitBegan(object: Int)
        /// A handler's capture was released.
        case released(observer: Int)
        /// A post's payload was released.
        case payloadReleased(number: Int)
        /// An object's `deinit` ran at another release.
        case ended(object: Int)

        /// The place among releases that follow each other. `nil` for an event with a place of its
        /// own.
        fileprivate var rank: Int? {
            switch self {
            case .released(let id): id * 3
            case .payloadReleased(let number): number * 3 + 1
            case .ended(let id): id * 3 + 2
            default: nil
            }
        }
    }

    /// A post's sender in the handler.
    enum PostedSender: Hashable {
        case nobody
        case object(Int)
        case value(Int)
        case unknown
    }

    private(set) var events: [Event] = []
    private var releasesBegin = 0

    mutating func add(_ event: Event) {
        events.append(event)
        guard let rank = event.rank else {
            releasesBegin = events.count
            return
        }
        var index = events.count - 1
        while index > releasesBegin, let before = events[index - 1].rank, before > rank {
            events.swapAt(index, index - 1)
            index -= 1
        }
    }

    mutating func clear() {
        events.removeAll(keepingCapacity: true)
        releasesBegin = 0
    }
}

extension History {
    /// The first difference from another history, with the events shortly before.
    func difference(from other: History) -> [String] {
        var index = 0
        while index < min(events.count, other.events.count), events[index] == other.events[index] {
            index += 1
        }
        let before = events[max(0, index - 3)..<index].map { "event \($0)" }
        func next(_ events: [Event]) -> String {
            index < events.count ? "\(events[index])" : "nothing"
        }
        return before + ["expected \(next(events))", "happened \(next(other.events))"]
    }
}
