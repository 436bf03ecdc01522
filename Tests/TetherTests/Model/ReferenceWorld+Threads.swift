/// What is under way on a thread, and what is left of it when a handler ends the thread.
struct ReferenceLevels {
    enum Level {
        case post(ReferenceCenter)
        /// A call of an observer that is used up by it, or the delivery of what waits on the poster.
        case call(ReferenceObserver)
        case delivery(ReferenceObserver)
        case drain(ReferenceScheduler)
    }

    private var levels: [Level] = []
    private var base = 0

    mutating func begin(_ level: Level) { levels.append(level) }
    mutating func end() { levels.removeLast() }
    mutating func threadBegins() { base = levels.count }

    mutating func takeAll() -> [Level] {
        let taken = Array(levels[base...])
        levels.removeLast(taken.count)
        return taken
    }
}

extension ReferenceWorld {
    func threadBegins() { levels.threadBegins() }

    /// All posts end, then what was being delivered, the innermost first; what the posts kept goes last (R8).
    func threadEnds() {
        let left = Array(levels.takeAll().reversed())
        for case .call(let observer) in left { observer.end() }
        for case .post(let center) in left { center.postEnds() }
        for level in left {
            switch level {
            case .delivery(let observer): observer.threadEnded()
            case .drain(let scheduler): scheduler.threadEnded()
            case .post, .call: break
            }
        }
        for case .post(let center) in left { center.releaseRetired() }
    }
}
