import Testing

@testable import Tether

/// The drain that is reserved for what comes behind a burst.
extension MailboxStateTests {
    /// A state with a burst, its drain, and the next one, which is to be handed over before that begins.
    private func burst() throws -> (state: MailboxState, drain: UInt64, next: UInt64) {
        var state = MailboxState(isSerial: true)
        let drain = try appendFirst(inboxes[0], to: &state)
        #expect(state.reserveNext(after: drain) == nil)
        for _ in 1..<MailboxState.burst { #expect(state.append(inboxes[0]).drain == nil) }
        let next = state.reserveNext(after: drain)
        return (state, drain, try #require(next))
    }

    @Test func `D4 D7 the drain of a burst has the next one ready, for which no post then asks`() throws {
        var (state, drain, next) = try burst()
        // Posted before it begins.
        #expect(state.append(inboxes[1]).drain == nil)
        #expect(try begin(drain, of: &state).count == MailboxState.burst + 1)
        let late = state.append(inboxes[2])
        #expect(late.drain == nil)
        #expect(state.endDrain(drain).drain == nil)
        #expect(state.reserveNext(after: next) == nil)
        #expect(try begin(next, of: &state) == [late.ticket])
        #expect(state.endDrain(next).drain == nil)
        #expect(!state.isDraining && state.scheduled == nil)
    }

    @Test func `D4 D7 a drain that comes out of turn is not waited for`() throws {
        var (state, drain, next) = try burst()
        #expect(state.beginDrain(next) == nil)
        #expect(try begin(drain, of: &state).count == MailboxState.burst)
        _ = try appendFirst(inboxes[1], to: &state)
    }

    @Test func `D2 D4 nor is one that was cancelled before it was scheduled`() throws {
        var (state, drain, next) = try burst()
        #expect(state.cancel(next) == nil)
        #expect(try begin(drain, of: &state).count == MailboxState.burst)
        _ = try appendFirst(inboxes[1], to: &state)

        var (other, first, second) = try burst()
        #expect(other.cancel(first).map(tickets)?.count == MailboxState.burst)
        let third = try appendFirst(inboxes[1], to: &other)
        #expect(other.cancel(second) == nil && other.beginDrain(first) == nil)
        #expect(try begin(third, of: &other).count == 1)
        _ = try appendFirst(inboxes[1], to: &other)
    }

    @Test func `D2 who cancels a drain that has ended does not mean the next one of its continuation`() throws {
        var state = MailboxState(isSerial: true)
        let drain = try appendFirst(inboxes[0], to: &state)
        for _ in 0..<MailboxState.burst { _ = state.append(inboxes[0]) }
        _ = try begin(drain, of: &state, atMost: 1)
        let rest = try end(drain, of: &state)
        let next = state.reserveNext(after: rest)
        _ = try begin(rest, of: &state)
        let late = state.append(inboxes[1])
        #expect(state.cancel(drain) == nil)
        #expect(state.endDrain(rest).drain == nil)
        #expect(try begin(#require(next), of: &state) == [late.ticket])
    }

    @Test func `D2 D4 nor is one that a cancelled drain had reserved, and that a later one came before`() throws {
        var (state, drain, next) = try burst()
        #expect(state.cancel(drain).map(tickets)?.count == MailboxState.burst)
        // Handed over by its post before `next` is, which is then discarded.
        let later = try appendFirst(inboxes[1], to: &state)
        #expect(try begin(later, of: &state).count == 1)
        #expect(state.scheduled == nil)
        _ = try appendFirst(inboxes[2], to: &state)
        #expect(state.beginDrain(next) == nil)
    }
}
