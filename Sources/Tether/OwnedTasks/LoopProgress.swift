/// What a loop of `observe(owner:)` is doing, so that a `finish()` loses nothing (R11).
///
/// A loop over a center's sequence takes what waits there, and returns. Any other loop has no last
/// element of its own: it stops between two elements, so no handler under way is cancelled.
///
/// The loop's observations are known at its creation if the sequence itself is a center's, and
/// otherwise when the loop makes its iterator. Then operators, such as `map`, make the iterators of
/// the sequences below them. An operator that does so later, in a task of its own, hides them.
final class LoopProgress: Sendable {
    private struct State {
        /// The registrations of the centers' sequences that the loop iterates.
        var observations: [Unowned<Registration>] = []
        var hasIterator = false
        var isCalling = false
        var isFinishing = false

        /// A finishing loop over a center's sequence ends with the sequence.
        var goesOn: Bool { !isFinishing || !observations.isEmpty }
    }

    /// What is left for a finishing thread to do.
    enum Finish {
        /// To finish these observations. The loop returns when it has taken the rest.
        case observations([Unowned<Registration>])
        /// To cancel the loop, which waits for an element.
        case wait
        /// Nothing: the loop stops before its next call of the handler.
        case nothing
    }

    /// The loop's own registration.
    let loop: Unowned<Registration>
    private let state = Locked(State())

    init(of loop: Registration) { self.loop = Unowned(loop) }

    /// The loop that the current task is about to iterate, while it makes its iterator.
    static var beginning: LoopProgress? {
        guard let progress = AsyncRun.current?.progress as? LoopProgress else { return nil }
        return progress.state.withLock(\.hasIterator) ? nil : progress
    }

    /// Notes an observation that the loop iterates, now or soon.
    func note(_ observation: Unowned<Registration>) {
        let isFinishing = state.withLock { state in
            state.observations.append(observation)
            return state.isFinishing
        }
        if isFinishing { observation.live?.beginFinishing() }
    }

    /// Called when the iterator is made. Returns false if the loop is to stop.
    func hasMadeIterator() -> Bool {
        state.withLock { state in
            state.hasIterator = true
            return state.goesOn
        }
    }

    /// Called before the handler. Returns false if the loop is to stop.
    func beginsCall() -> Bool {
        state.withLock { state in
            state.isCalling = state.goesOn
            return state.isCalling
        }
    }

    /// Called after the handler. Returns false if the loop is to stop.
    func endsCall() -> Bool {
        state.withLock { state in
            state.isCalling = false
            return state.goesOn
        }
    }

    func finish() -> Finish {
        state.withLock { state in
            state.isFinishing = true
            if !state.observations.isEmpty { return .observations(state.observations) }
            return state.hasIterator && !state.isCalling ? .wait : .nothing
        }
    }
}

/// A sequence that is an observation of a center.
protocol CenterSequence {
    /// Notes the first observation of the sequence, which began with the sequence.
    func noteFirstObservation(for loop: LoopProgress)
}
