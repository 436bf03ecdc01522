/// The order of what is pending on one target: a value whose methods say what to do next.
///
/// An entry has an inbox and its tickets, the sequence numbers of deliveries on this target. The notifications wait in the
/// observers' inboxes, so that an observer that ends releases its own at once.
struct MailboxState {
    /// Entries of one inbox that follow each other.
    struct Entry {
        var tickets: Range<UInt64>
        /// `nil` once all of them were withdrawn.
        var inbox: Inbox?
    }

    private var entries = ContiguousArray<Entry>()
    private var head = 0
    /// The batch: what the drain that is running has taken, of which it may have delivered some.
    private var batch = ContiguousArray<Entry>()
    /// How many tickets were ever given out.
    private(set) var nextTicket: UInt64 = 0
    /// The drain that has not begun, if there is one.
    private(set) var scheduled: UInt64?
    private var running: UInt64?
    private var lastDrain: UInt64 = 0
    /// The drain that is handed over before the scheduled one begins, and is then scheduled itself.
    private var next: UInt64?
    /// The fewest tickets that are taken for a burst.
    static let burst = 4
    /// The drain at whose end the scheduled one was asked for, for what that had left.
    private var continued: UInt64?
    /// Whether a post that comes while a drain runs asks for the next one there and then, so that what is put on the queue
    /// after the post runs after it (D4). Otherwise the drain does, when it ends.
    private let isSerial: Bool
    /// Whether another drain has begun while this one runs, so that there is no order to keep.
    private var isOverlapped = false
    /// Inboxes whose observers switch to another target when the drain that is running ends.
    private var switching: [Inbox] = []
    /// Inboxes that were switched to the poster, with a remainder that the next drain is to deliver, if no post does before.
    private var remainders: [Inbox] = []
    /// How many tickets no drain has taken yet, and were not withdrawn.
    private(set) var count = 0

    var isDraining: Bool { running != nil }

    init(isSerial: Bool = false) {
        self.isSerial = isSerial
    }

    /// Adds an entry; the drain that must now be scheduled, if any, is the second result.
    mutating func append(_ inbox: Inbox) -> (ticket: UInt64, drain: UInt64?) {
        let ticket = nextTicket
        nextTicket += 1
        count += 1
        let last = entries.count - 1
        if last >= head, entries[last].inbox === inbox, entries[last].tickets.upperBound == ticket {
            entries[last].tickets = entries[last].tickets.lowerBound..<nextTicket
        } else {
            entries.append(Entry(tickets: ticket..<nextTicket, inbox: inbox))
        }
        checkInvariants()
        return (ticket, scheduled == nil && (running == nil || isSerial && !isOverlapped) ? schedule() : nil)
    }

    /// Whether the entries rise, each with an inbox, and are counted, where there are few.
    private func checkInvariants() {
        #if DEBUG
        guard entries.count <= checkedSize else { return }
        var (end, waiting) = (UInt64(0), 0)
        for entry in entries[head...] {
            assert(entry.tickets.lowerBound >= end && entry.tickets.upperBound <= nextTicket)
            assert(entry.tickets.isEmpty == (entry.inbox == nil))
            (end, waiting) = (entry.tickets.upperBound, waiting + entry.tickets.count)
        }
        assert(waiting == count)
        assert(running != nil || batch.isEmpty)
        #endif
    }

    private mutating func schedule(continuing drain: UInt64? = nil) -> UInt64 {
        continued = drain
        lastDrain += 1
        scheduled = lastDrain
        return lastDrain
    }

    /// Withdraws a ticket whose turn has not come. Complexity: O(log entries), amortised, if it is its inbox's oldest.
    mutating func withdraw(_ ticket: UInt64) {
        var low = head
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].tickets.upperBound <= ticket { low = middle + 1 } else { high = middle }
        }
        guard low < entries.count, entries[low].tickets.contains(ticket) else { return }
        let tickets = entries[low].tickets
        if ticket == tickets.lowerBound {
            entries[low].tickets = ticket + 1..<tickets.upperBound
            if entries[low].tickets.isEmpty { entries[low].inbox = nil }
        } else {
            entries[low].tickets = tickets.lowerBound..<ticket
            let rest = ticket + 1..<tickets.upperBound
            if !rest.isEmpty { entries.insert(Entry(tickets: rest, inbox: entries[low].inbox), at: low + 1) }
        }
        count -= 1
        checkInvariants()
        if entries.count - head > 2 * count + 32 { squeeze() }
    }

    private mutating func squeeze() {
        entries.removeAll { $0.inbox == nil }
        head = 0
    }

    // MARK: Draining

    /// The drain to hand over before this one begins, where there is a burst, whose further posts then need not ask for it:
    /// each of them that does pays for a call of the queue's.
    mutating func reserveNext(after number: UInt64) -> UInt64? {
        guard isSerial, number == scheduled, running == nil, count >= MailboxState.burst else { return nil }
        lastDrain += 1
        next = lastDrain
        return next
    }

    /// Forgets that a drain is to come, if it comes out of turn, because the queue is not serial after all, or not at all.
    private mutating func forget(_ number: UInt64) {
        if number == next { next = nil }
    }

    /// Begins a drain; its entries, or `nil` if the drain is out of date, or if another one is running, which then asks for
    /// one more: the queue is not serial, or a handler runs it.
    ///
    /// An entry may be withdrawn after it was taken: its inbox tells.
    mutating func beginDrain(_ number: UInt64, atMost limit: Int = .max) -> ContiguousArray<Entry>? {
        forget(number)
        guard number == scheduled else { return nil }
        (scheduled, next, continued) = (next, nil, nil)
        isOverlapped = running != nil
        if isOverlapped { return nil }
        running = number
        if head == 0, count <= limit {
            swap(&batch, &entries)
            count = 0
        } else {
            takeFirst(limit)
        }
        checkInvariants()
        return batch
    }

    private mutating func takeFirst(_ limit: Int) {
        var left = UInt64(limit)
        while head < entries.count, left > 0 {
            let tickets = entries[head].tickets
            let taken = tickets.prefix(Int(min(left, UInt64(tickets.count))))
            if !taken.isEmpty {
                batch.append(Entry(tickets: taken, inbox: entries[head].inbox))
                left -= UInt64(taken.count)
                count -= taken.count
            }
            entries[head].tickets = taken.upperBound..<tickets.upperBound
            if entries[head].tickets.isEmpty {
                entries[head].inbox = nil
                head += 1
            }
        }
        if head == entries.count || (head >= 32 && head * 2 >= entries.count) {
            entries.removeSubrange(..<head)
            head = 0
        }
    }

    /// The inboxes of the batch of a drain, which may be delivering one of them; empty if it is not running.
    func inboxes(ofBatch number: UInt64) -> [Inbox] {
        // Not covered: the drain was cancelled by the handler that then ended its thread.
        guard number == running else { return [] }
        return batch.compactMap(\.inbox)
    }

    /// Ends a drain, whose entries the caller still holds: the drain to schedule for the rest, and the inboxes that
    /// wait for it to switch.
    mutating func endDrain(_ number: UInt64) -> (drain: UInt64?, switching: [Inbox]) {
        guard number == running else { return (nil, []) }
        (running, isOverlapped) = (nil, false)
        batch = []
        let switching = switching
        self.switching = []
        let isLeft = count > 0 || !remainders.isEmpty
        return (scheduled == nil && isLeft ? schedule(continuing: number) : nil, switching)
    }

    /// Has an inbox perform its switch when the drain that is running ends; returns the end of that one's tickets.
    mutating func switchAfterDrain(_ inbox: Inbox) -> UInt64 {
        switching.append(inbox)
        return batch.last?.tickets.upperBound ?? 0
    }

    /// Has the next drain deliver what an inbox has left on the poster; the drain that must now be scheduled, if any.
    mutating func deliverLater(_ inbox: Inbox) -> UInt64? {
        remainders.append(inbox)
        // Not covered: the drain that is scheduled or running is cancelled meanwhile, on another thread.
        return scheduled == nil && running == nil ? schedule() : nil
    }

    /// Takes out the inboxes with a remainder: a drain that begins delivers it, a cancelled one leaves it to posts.
    mutating func takeRemainders() -> [Inbox] {
        let taken = remainders
        remainders = []
        return taken
    }

    /// Withdraws all entries of a drain that will not run, or not go on; `nil` if the drain is out of date.
    ///
    /// Its continuation is meant, too: who cancels all that a queue has may have looked before that was there. And so is all
    /// that waits for a drain which is scheduled behind it.
    mutating func cancel(_ number: UInt64) -> ContiguousArray<Entry>? {
        forget(number)
        guard number == running || scheduled != nil && (number == scheduled || number == continued) else { return nil }
        let dropped = batch + entries[head...].filter { $0.inbox != nil }
        batch = []
        entries = []
        head = 0
        count = 0
        // A running drain finishes by itself and then performs the waiting target switches. One that was reserved may never
        // be handed over, where a later one has been.
        (scheduled, next) = (nil, nil)
        return dropped
    }
}
