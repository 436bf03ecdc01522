/// How a mailbox gets its drains run.
protocol DrainScheduler: Sendable {
    func schedule(_ drain: Drain)

    /// Whether the caller is already where the drains run, so that a delivery may be made inline (D3).
    var isCurrent: Bool { get }

    /// Whether that can be at all.
    var mayBeCurrent: Bool { get }

    /// The actor that drains run on, held for one of them.
    var heldActor: (any Actor)? { get }
}

extension DrainScheduler {
    var isCurrent: Bool { false }
    var mayBeCurrent: Bool { false }
    var heldActor: (any Actor)? { nil }
}
