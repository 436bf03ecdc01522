/// What is pending on one target, in order: a value whose methods say what must happen next.
///
/// It knows only whose turn it is, by ticket; the notifications wait in the observers' inboxes, so that an observer
/// that ends lets go of its own at once.
struct MailboxState {
    /// Turns of one inbox that follow each other.
    struct Turn {
        var tickets: Range<UInt64>
        /// `nil` once all of them were withdrawn.
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
        count += 1
        let last = turns.count - 1
        if last >= head, turns[last].inbox === inbox, turns[last].tickets.upperBound == ticket {
            turns[last].tickets = turns[last].tickets.lowerBound..<nextTicket
        } else {
            turns.append(Turn(tickets: ticket..<nextTicket, inbox: inbox))
        }
        checkInvariants()
        return (ticket, phase == .idle ? schedule() : nil)
    }

    /// Whether the turns rise, each with an inbox, and are counted, where there are few.
    private func checkInvariants() {
        #if DEBUG
        guard turns.count <= checkedSize else { return }
        var (end, waiting) = (UInt64(0), 0)
        for turn in turns[head...] {
            assert(turn.tickets.lowerBound >= end && turn.tickets.upperBound <= nextTicket)
            assert(turn.tickets.isEmpty == (turn.inbox == nil))
            (end, waiting) = (turn.tickets.upperBound, waiting + turn.tickets.count)
        }
        assert(waiting == count)
        assert(phase != .idle || inHand.isEmpty)
        #endif
    }

    private mutating func schedule() -> UInt64 {
        phase = .scheduled
        drainNumber += 1
        return drainNumber
    }

    /// Withdraws a turn, if it has not come yet. Complexity: O(log turns), amortised, if it is the oldest of its inbox.
    mutating func withdraw(_ ticket: UInt64) {
        var low = head
        var high = turns.count
        while low < high {
            let middle = (low + high) / 2
            if turns[middle].tickets.upperBound <= ticket { low = middle + 1 } else { high = middle }
        }
        guard low < turns.count, turns[low].tickets.contains(ticket) else { return }
        let tickets = turns[low].tickets
        if ticket == tickets.lowerBound {
            turns[low].tickets = ticket + 1..<tickets.upperBound
            if turns[low].tickets.isEmpty { turns[low].inbox = nil }
        } else {
            turns[low].tickets = tickets.lowerBound..<ticket
            let rest = ticket + 1..<tickets.upperBound
            if !rest.isEmpty { turns.insert(Turn(tickets: rest, inbox: turns[low].inbox), at: low + 1) }
        }
        count -= 1
        checkInvariants()
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
        if head == 0, count <= limit {
            swap(&inHand, &turns)
            count = 0
        } else {
            takeFirst(limit)
        }
        checkInvariants()
        return inHand
    }

    private mutating func takeFirst(_ limit: Int) {
        var left = UInt64(limit)
        while head < turns.count, left > 0 {
            let tickets = turns[head].tickets
            let taken = tickets.prefix(Int(min(left, UInt64(tickets.count))))
            if !taken.isEmpty {
                inHand.append(Turn(tickets: taken, inbox: turns[head].inbox))
                left -= UInt64(taken.count)
                count -= taken.count
            }
            turns[head].tickets = taken.upperBound..<tickets.upperBound
            if turns[head].tickets.isEmpty {
                turns[head].inbox = nil
                head += 1
            }
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
        // Not covered: the drain that is scheduled or running is abandoned meanwhile, on another thread.
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
