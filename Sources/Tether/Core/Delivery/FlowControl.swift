/// The muting and the backlog of an observer: a value that is driven under its inbox's lock, and by tests without one.
///
/// An observer is muted by its token, and by what it shares mutings with: its owner, or its property. Those apply theirs
/// with no lock in common, so that one's end may come before its beginning: the count is below zero meanwhile.
struct FlowControl<Element> {
    var backlog = BufferingPolicy.unbounded
    private var own = 0
    private var shared = 0
    /// Whether a muting since the observer was last unmuted asked for the newest to be kept.
    private(set) var keepsNewest = false
    /// The newest of what was posted while muted; one at most.
    private var keptOnes: [Element] = []

    var isMuted: Bool { own > 0 || shared > 0 }

    var hasSharedMutings: Bool { shared > 0 }

    /// How many mutings are in force.
    var mutings: Int { own + max(0, shared) }

    var kept: Element? { keptOnes.first }

    mutating func mute(keepingNewest: Bool) {
        own += 1
        if keepingNewest { keepsNewest = true }
    }

    /// Ends one muting by the token; false if there is none.
    mutating func unmute() -> Bool {
        guard own > 0 else { return false }
        own -= 1
        if !isMuted { keepsNewest = false }
        return true
    }

    /// Takes over mutings that are shared with others, or ends some.
    mutating func shareMutings(_ count: Int, keepingNewest: Bool) {
        shared += count
        if keepingNewest { keepsNewest = true }
        if !isMuted { keepsNewest = false }
    }

    /// Keeps the newest element; returns the one that it displaces.
    mutating func keep(_ element: Element) -> Element? {
        let displaced = keptOnes.popLast()
        keptOnes.append(element)
        return displaced
    }

    /// Takes out what was kept.
    mutating func takeKept() -> Element? { keptOnes.popLast() }
}

extension FlowControl: Sendable where Element: Sendable {}
