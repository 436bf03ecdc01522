/// What is pending on one target, in order: a value whose methods say what must happen next.
///
/// It knows only whose turn it is, by ticket; the notifications wait in the observers' inboxes, so that an observer
/// that ends lets go of its own at once.
struct MailboxState {
    struct Turn {
        let ticket: UInt64
        /// `nil` once the delivery was withdrawn.
        var inbox: Inbox?
    }

    private enum Phase: Equatable { case idle, scheduled, draining }

    private var turns = ContiguousArray<Turn>()
    private var head = 0
    /// What the drain that is running has taken; it may have delivered some.
    private var inHand = ContiguousArray<Turn>()
    /// How many turns were ever added.
    private(set) var nextTicket: UInt64 = 0
    private var phase = Phase.idle
    private var drainNumber: UInt64 = 0
    /// Inboxes that move to another target when the drain that is running ends.
    private var leaving: [Inbox] = []
    /// Inboxes that have left to the poster, with something that the next drain is to deliver, if no post does before.
    private var leftovers: [Inbox] = []
    /// How many turns no drain has taken yet, and were not withdrawn.
    private(set) var count = 0

    var isDraining: Bool { phase == .draining }

    /// Adds a turn; the drain that must now be scheduled, if any, is the second result.
    mutating func append(_ inbox: Inbox) -> (ticket: UInt64, drain: UInt64?) {
        let ticket = nextTicket
        nextTicket += 1
        turns.append(Turn(ticket: ticket, inbox: inbox))
        count += 1
        return (ticket, phase == .idle ? schedule() : nil)
    }

    private mutating func schedule() -> UInt64 {
        phase = .scheduled
        drainNumber += 1
        return drainNumber
    }

    /// Withdraws a turn, if it has not come yet. Complexity: O(log turns), amortised.
    mutating func withdraw(_ ticket: UInt64) {
        var low = head
        var high = turns.count
        while low < high {
            let middle = (low + high) / 2
            if turns[middle].ticket < ticket { low = middle + 1 } else { high = middle }
        }
        guard low < turns.count, turns[low].ticket == ticket, turns[low].inbox != nil else { return }
        turns[low].inbox = nil
        count -= 1
        if turns.count - head > 2 * count + 32 { squeeze() }
    }

    private mutating func squeeze() {
        turns.removeAll { $0.inbox == nil }
        head = 0
    }

    // MARK: Draining

    /// Begins a drain; its turns, or `nil` if the drain is out of date.
    ///
    /// A turn may be withdrawn after it was taken: its inbox tells.
    mutating func beginDrain(_ number: UInt64, atMost limit: Int = .max) -> ContiguousArray<Turn>? {
        guard phase == .scheduled, number == drainNumber else { return nil }
        phase = .draining
        if head == 0, count == turns.count, count <= limit { swap(&inHand, &turns) } else { takeFirst(limit) }
        count -= inHand.count
        return inHand
    }

    private mutating func takeFirst(_ limit: Int) {
        while head < turns.count, inHand.count < limit {
            if let inbox = turns[head].inbox.take() { inHand.append(Turn(ticket: turns[head].ticket, inbox: inbox)) }
            head += 1
        }
        if head == turns.count || (head >= 32 && head * 2 >= turns.count) {
            turns.removeSubrange(..<head)
            head = 0
        }
    }

    /// Whose turns a drain has taken, of which it may be at one; empty if it is not running.
    func inboxesInHand(of number: UInt64) -> [Inbox] {
        // Not covered: the drain was cancelled by the handler that then ended its thread.
        guard phase == .draining, number == drainNumber else { return [] }
        return inHand.compactMap(\.inbox)
    }

    /// Ends a drain, whose turns the caller still holds: the drain to schedule for the rest, and the inboxes that wait to
    /// leave.
    mutating func endDrain(_ number: UInt64) -> (drain: UInt64?, leaving: [Inbox]) {
        guard number == drainNumber else { return (nil, []) }
        phase = .idle
        inHand = []
        let leaving = leaving
        self.leaving = []
        return (count > 0 || !leftovers.isEmpty ? schedule() : nil, leaving)
    }

    /// Lets an inbox leave when the drain that is running ends.
    mutating func letLeave(_ inbox: Inbox) {
        leaving.append(inbox)
    }

    /// Has the next drain deliver what an inbox has left on the poster; the drain that must now be scheduled, if any.
    mutating func deliverLater(_ inbox: Inbox) -> UInt64? {
        leftovers.append(inbox)
        return phase == .idle ? schedule() : nil
    }

    /// Takes out the inboxes of which a drain that begins is to deliver what they have left, or one that is abandoned not.
    mutating func takeLeftovers() -> [Inbox] {
        let taken = leftovers
        leftovers = []
        return taken
    }

    /// Withdraws all turns of a drain that will not run, or not go on; `nil` if the drain is out of date.
    mutating func abandon(_ number: UInt64) -> ContiguousArray<Turn>? {
        guard number == drainNumber, phase != .idle else { return nil }
        let dropped = inHand + turns[head...].filter { $0.inbox != nil }
        inHand = []
        turns = []
        head = 0
        count = 0
        // A drain that is running ends by itself, and lets leave who waits for that.
        if phase == .scheduled { phase = .idle }
        return dropped
    }
}
