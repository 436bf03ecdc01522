/// What a loop of `observe(owner:)` is doing, so that a `finish()` loses nothing (R11).
///
/// A loop over a center's sequence takes what waits there, and returns. Any other loop has no last
/// element of its own: it stops between two elements, so no handler under way is cancelled.
///
/// If the sequence itself is a center's, the loop's observation begins with the loop. Otherwise the
/// observations are known when the loop makes its iterator: operators, such as `map`, make the
/// iterators of the sequences below them on the same thread. An operator that does so later, or in a
/// task of its own, hides them.
final class LoopProgress: Sendable {
    private struct State {
        /// The registrations of the centers' sequences that the loop iterates.
        var observations: [Unowned<Registration>] = []
        /// The observation that began with the loop, until the iterator is made.
        var first: (any AnyObject & Sendable)?
        var hasIterator = false
        var isCalling = false
        var isFinishing = false
        var hasEnded = false

        /// A finishing loop over a center's sequence ends with the sequence.
        var goesOn: Bool { !hasEnded && (!isFinishing || !observations.isEmpty) }
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

    /// The loop that makes its iterator on this thread.
    static var makingIterator: LoopProgress? { ThreadRecord.current[LoopProgress.self] }

    /// Makes the loop's iterator; `nil` if the loop is to stop.
    func makeIterator<Iterator>(_ make: () -> Iterator) -> Iterator? {
        let outer = LoopProgress.makingIterator
        ThreadRecord.current[LoopProgress.self] = self
        let iterator = make()
        ThreadRecord.current[LoopProgress.self] = outer
        let goesOn = state.withLock { state in
            state.hasIterator = true
            return state.goesOn
        }
        return goesOn ? iterator : nil
    }

    /// Keeps the observation that began with the loop for the loop's iterator.
    func keepFirst(_ iteration: any AnyObject & Sendable) {
        state.withLock { $0.first = iteration }
    }

    func takeFirst() -> (any AnyObject & Sendable)? { state.withLock { $0.first.take() } }

    /// Notes an observation that the loop iterates, now or soon.
    func note(_ observation: Unowned<Registration>) {
        let isFinishing = state.withLock { state in
            state.observations.append(observation)
            return state.isFinishing
        }
        if isFinishing { observation.live?.beginFinishing() }
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

    /// Called at the end of the loop's registration: no further call begins.
    func end() { state.withLock { $0.hasEnded = true } }

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
    /// Begins the loop's observation: the first of the sequence, unless somebody else has it.
    func beginObservation(for loop: LoopProgress)
}
