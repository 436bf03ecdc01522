/// How a mailbox gets its drains run.
protocol DrainScheduler: Sendable {
    func schedule(_ drain: Drain)

    /// Whether the caller is already where the drains run, so that a delivery may be made inline (D3).
    var isCurrent: Bool { get }

    /// Whether that can be at all.
    var mayBeCurrent: Bool { get }

    /// Whether `schedule` is code of the user's that may wait for other threads, as a scheduler's may, and an executor's not.
    var mayWait: Bool { get }

    /// Whether drains run one after the other, in order with what else the program puts there (D4).
    var isSerial: Bool { get }

    /// Whether the drains that it has can be cancelled, all that there are at one moment (D2).
    var canCancel: Bool { get }

    /// Whether a drain keeps its mailbox, so that one which waits long serves whoever comes meanwhile, too.
    var keepsMailbox: Bool { get }

    /// The actor that drains run on, held for one of them.
    var heldActor: (any Actor)? { get }

    /// Whether drains of another one, which is not this, run in the same place and are cancelled with these.
    func sharesQueue(with other: any DrainScheduler) -> Bool
}

extension DrainScheduler {
    var isCurrent: Bool { false }
    var mayBeCurrent: Bool { false }
    var mayWait: Bool { false }
    var isSerial: Bool { false }
    var canCancel: Bool { false }
    var keepsMailbox: Bool { false }
    var heldActor: (any Actor)? { nil }
    func sharesQueue(with other: any DrainScheduler) -> Bool { false }
}
