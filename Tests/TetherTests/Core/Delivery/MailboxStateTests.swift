import Testing

@testable import Tether

@Suite struct MailboxStateTests {
    let inboxes = (0..<3).map { _ in Inbox(route: .poster) }

    /// Adds a turn that asks for a drain.
    func appendFirst(_ inbox: Inbox, to state: inout MailboxState) throws -> UInt64 {
        let drain = state.append(inbox).drain
        return try #require(drain)
    }

    /// The tickets of the entries that a drain takes.
    func begin(_ drain: UInt64, of state: inout MailboxState, atMost limit: Int = .max) throws -> [UInt64] {
        let entries = state.beginDrain(drain, atMost: limit)
        return tickets(try #require(entries))
    }

    func tickets(_ entries: ContiguousArray<MailboxState.Entry>) -> [UInt64] {
        entries.flatMap { $0.inbox == nil ? [] : Array($0.tickets) }
    }

    func end(_ drain: UInt64, of state: inout MailboxState) throws -> UInt64 {
        let rest = state.endDrain(drain).drain
        return try #require(rest)
    }

    @Test func `D7 the first turn asks for a drain, further ones do not`() throws {
        var state = MailboxState()
        let first = state.append(inboxes[0])
        let second = state.append(inboxes[1])
        #expect(second.drain == nil && state.count == 2)
        let drain = try #require(first.drain)
        let turns = try begin(drain, of: &state)
        #expect(state.append(inboxes[2]).drain == nil)
        #expect(turns == [first.ticket, second.ticket])
        #expect(state.count == 1)
    }

    @Test func `D7 a drain that ends asks for another one only if something is left`() throws {
        var state = MailboxState()
        let drain = try appendFirst(inboxes[0], to: &state)
        _ = try begin(drain, of: &state)
        let late = state.append(inboxes[1])
        let rest = try end(drain, of: &state)
        #expect(try begin(rest, of: &state) == [late.ticket])
        #expect(state.endDrain(rest).drain == nil)
        #expect(!state.isDraining)
        #expect(state.append(inboxes[0]).drain != nil)
    }

    @Test func `D4 D7 on a serial queue the first turn while a drain runs asks for the next one`() throws {
        var state = MailboxState(isSerial: true)
        let drain = try appendFirst(inboxes[0], to: &state)
        _ = try begin(drain, of: &state)
        let next = try appendFirst(inboxes[1], to: &state)
        let last = state.append(inboxes[2])
        #expect(last.drain == nil)
        #expect(state.endDrain(drain).drain == nil)
        #expect(try begin(next, of: &state) == [last.ticket - 1, last.ticket])
        #expect(state.endDrain(next).drain == nil)
        #expect(!state.isDraining && state.scheduled == nil)
    }

    @Test func `D4 D7 a drain that begins while another one runs leaves its turns to the end of that`() throws {
        var state = MailboxState(isSerial: true)
        let drain = try appendFirst(inboxes[0], to: &state)
        _ = try begin(drain, of: &state)
        let next = try appendFirst(inboxes[1], to: &state)
        #expect(state.beginDrain(next) == nil)
        let late = state.append(inboxes[2])
        #expect(late.drain == nil)
        let rest = try end(drain, of: &state)
        #expect(try begin(rest, of: &state) == [late.ticket - 1, late.ticket])
        // There is an order again.
        _ = try appendFirst(inboxes[0], to: &state)
    }

    @Test func `D7 a drain begins once, and one that is out of date not at all`() throws {
        var state = MailboxState()
        let drain = try appendFirst(inboxes[0], to: &state)
        #expect(state.beginDrain(drain) != nil)
        #expect(state.beginDrain(drain) == nil)
        #expect(state.isDraining)
        #expect(state.endDrain(drain + 1).drain == nil)
        #expect(state.isDraining)
        _ = state.append(inboxes[1])
        _ = state.endDrain(drain)
        #expect(state.beginDrain(drain + 1) != nil)
        #expect(state.beginDrain(drain) == nil)
    }

    @Test func `R1 a withdrawn turn does not come, and withdrawing it again does nothing`() throws {
        var state = MailboxState()
        let first = state.append(inboxes[0])
        let others = (0..<100).map { _ in state.append(inboxes[1]).ticket }
        state.withdraw(first.ticket)
        state.withdraw(first.ticket)
        #expect(state.count == 100)
        for ticket in others.dropLast() { state.withdraw(ticket) }
        #expect(state.count == 1)
        let drain = try #require(first.drain)
        #expect(try begin(drain, of: &state) == [others[99]])
        state.withdraw(first.ticket)
        state.withdraw(others[99])
        #expect(state.count == 0)
        #expect(state.endDrain(drain).drain == nil)
    }

    @Test func `D4 turns of one inbox that follow each other are one, until others come between them`() throws {
        var state = MailboxState()
        let drain = try appendFirst(inboxes[0], to: &state)
        for inbox in [0, 0, 1, 1, 0] { _ = state.append(inboxes[inbox]) }
        let turns = state.beginDrain(drain)
        #expect(turns?.map(\.tickets) == [0..<3, 3..<5, 5..<6])
        #expect(turns?.map { $0.inbox === inboxes[0] } == [true, false, true])
        #expect(state.append(inboxes[0]).drain == nil)
        let rest = try end(drain, of: &state)
        #expect(state.beginDrain(rest)?.map(\.tickets) == [6..<7])
    }

    @Test func `R1 turns can be withdrawn from anywhere among those of one inbox, and are taken in parts`() throws {
        var state = MailboxState()
        let drain = try appendFirst(inboxes[0], to: &state)
        for _ in 1..<10 { _ = state.append(inboxes[0]) }
        for ticket in [4, 4, 0, 9, 5] as [UInt64] { state.withdraw(ticket) }
        #expect(state.count == 6)
        #expect(try begin(drain, of: &state, atMost: 4) == [1, 2, 3, 6])
        #expect(state.count == 2)
        state.withdraw(7)
        let rest = try end(drain, of: &state)
        #expect(try begin(rest, of: &state) == [8])
        #expect(state.count == 0)
    }

    @Test func `D7 drains that take one turn each take all that were not withdrawn, in order`() throws {
        var state = MailboxState()
        let appended = (0..<200).map { _ in state.append(inboxes[0]) }
        for turn in appended where !turn.ticket.isMultiple(of: 2) { state.withdraw(turn.ticket) }
        var drain = appended[0].drain
        var taken: [UInt64] = []
        while let next = drain {
            taken += try begin(next, of: &state, atMost: 1)
            drain = state.endDrain(next).drain
        }
        #expect(taken == appended.map(\.ticket).filter { $0.isMultiple(of: 2) })
        #expect(state.count == 0)
        #expect(state.append(inboxes[0]).drain != nil)
    }

    @Test func `D2 a cancelled drain gives back its turns, in order, and the next turn asks for a drain`() throws {
        var state = MailboxState()
        let appended = inboxes.map { state.append($0) }
        let drain = try #require(appended[0].drain)
        state.withdraw(appended[1].ticket)
        let cancelled = state.cancel(drain)
        let dropped = try #require(cancelled)
        #expect(tickets(dropped) == [appended[0].ticket, appended[2].ticket])
        #expect(dropped.map { $0.inbox === inboxes[0] } == [true, false])
        #expect(dropped.last?.inbox === inboxes[2])
        #expect(state.count == 0)
        #expect(state.cancel(drain) == nil)
        #expect(state.beginDrain(drain) == nil)
        #expect(state.append(inboxes[0]).drain != nil)
    }

    @Test func `D2 a running drain that is cancelled gives back its turns, and later ones wait`() throws {
        var state = MailboxState()
        let drain = try appendFirst(inboxes[0], to: &state)
        let second = state.append(inboxes[1]).ticket
        let taken = try begin(drain, of: &state, atMost: 1)
        let cancelled = state.cancel(drain)
        #expect(cancelled.map(tickets) == taken + [second])
        // Nothing is left of it, and who switches now keeps all that is not cancelled.
        #expect(state.switchAfterDrain(inboxes[0]) == 0)
        let late = state.append(inboxes[2])
        #expect(late.drain == nil)
        let rest = try end(drain, of: &state)
        #expect(try begin(rest, of: &state) == [late.ticket])
    }

    @Test(arguments: [false, true])
    func `D2 who cancels a running drain, or the one behind it, drops the turns of both`(isNext: Bool) throws {
        var state = MailboxState(isSerial: true)
        let drain = try appendFirst(inboxes[0], to: &state)
        let taken = try begin(drain, of: &state)
        let next = try appendFirst(inboxes[1], to: &state)
        let cancelled = state.cancel(isNext ? next : drain)
        #expect(cancelled.map(tickets) == taken + [taken[0] + 1])
        let again = state.cancel(isNext ? drain : next)
        #expect(again.map(tickets) == (isNext ? [] : nil))
        let later = try appendFirst(inboxes[2], to: &state)
        #expect(state.endDrain(drain).drain == nil)
        #expect(state.beginDrain(next) == nil)
        #expect(try begin(later, of: &state) == [taken[0] + 2])
    }

    @Test func `D2 who cancels a drain that has ended means its continuation, and no drain after that`() throws {
        var state = MailboxState()
        let first = try appendFirst(inboxes[0], to: &state)
        _ = try begin(first, of: &state)
        let second = state.append(inboxes[1]).ticket
        let rest = try end(first, of: &state)
        let cancelled = state.cancel(first)
        #expect(cancelled.map(tickets) == [second])
        #expect(state.beginDrain(rest) == nil)
        // Not a continuation, but asked for by a post.
        let next = try appendFirst(inboxes[2], to: &state)
        #expect(state.cancel(rest) == nil && state.cancel(first) == nil)
        _ = try begin(next, of: &state)
        _ = state.append(inboxes[0])
        _ = try end(next, of: &state)
        #expect(state.cancel(rest) == nil)
    }

    @Test func `D6 who leaves is told at the end of the drain, once`() throws {
        var state = MailboxState()
        let drain = try appendFirst(inboxes[0], to: &state)
        _ = state.beginDrain(drain)
        #expect(state.switchAfterDrain(inboxes[0]) == 1)
        let end = state.endDrain(drain)
        #expect(end.switching.map(ObjectIdentifier.init) == [ObjectIdentifier(inboxes[0])])
        let next = try appendFirst(inboxes[1], to: &state)
        _ = state.beginDrain(next)
        #expect(state.endDrain(next).switching.isEmpty)
    }

    @Test func `D7 withdrawn turns between others take no place for long`() throws {
        var state = MailboxState()
        let drain = try appendFirst(inboxes[0], to: &state)
        var left: [UInt64] = [0]
        for number in 1..<200 {
            let ticket = state.append(inboxes[number % 2]).ticket
            if number % 50 == 0 { left.append(ticket) }
        }
        for ticket in UInt64(0)..<200 where !left.contains(ticket) { state.withdraw(ticket) }
        #expect(state.count == left.count)
        #expect(try begin(drain, of: &state) == left)
    }
}
