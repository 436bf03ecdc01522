internal import Dispatch

// Questions: deliveries of which only the main queue can tell whether they are for the observer at all.
//
// They wait among all others, so that each keeps its turn (D4), and muting sees them when they are posted (D9). Nothing
// gives way to one that turns out to be for nobody (T2), so until the main queue is asked they count neither against a
// backlog nor as the newest that is kept.

extension Inbox {
    /// Keeps a question while muted. Where more than one is kept, the main queue is asked soon, not only at the end of the
    /// muting, so that they do not pile up.
    func holdQuestion(_ question: Delivery, in state: inout State) -> Reception {
        state.keptQuestions.append(question)
        state.hasQuestions = true
        guard !state.isAskScheduled, state.flow.kept != nil || state.keptQuestions.count > 1 else {
            return Reception()
        }
        state.isAskScheduled = true
        return Reception(step: .ask)
    }

    func askAboutKept() {
        DispatchQueue.main.async { [self] in
            withState { $0.isAskScheduled = false }
            ask()
        }
    }

    /// How many of the oldest deliveries, or of the newest, are more than may wait, whatever the answers to the questions among
    /// them.
    func excessBeforeQuestions(_ state: State) -> Int {
        var left = state.flow.backlog.limit
        func isExcess(_ delivery: Delivery) -> Bool {
            if left == 0 { return true }
            if delivery.question == 0 { left -= 1 }
            return false
        }
        let elements = state.pending.elements
        if state.flow.backlog.keepsOldest {
            return elements.firstIndex(where: isExcess).map { elements.count - $0 } ?? 0
        }
        return elements.lastIndex(where: isExcess).map { $0 + 1 } ?? 0
    }

    /// Asks about all questions that there are now; on the main queue, with no lock held.
    func ask() {
        let questions = withState { state -> [Delivery] in
            let questions = (state.pending.elements + state.keptQuestions).filter { $0.question != 0 }
            if questions.isEmpty { state.hasQuestions = false }
            return questions
        }
        guard let registration = questions.first?.registration else { return }
        var answers: [UInt64: Delivery?] = [:]
        for question in questions {
            var answer: Delivery?
            if let notification = registration.prepare(question.notification) {
                answer = question
                answer?.notification = notification
                answer?.question = 0
            }
            answers.updateValue(answer, forKey: question.question)
        }
        let released = withState { [answers] in settle(answers, for: registration, in: &$0) }
        withExtendedLifetime(released) {}
        endIfDone(registration)
    }

    /// Goes by the answers; the caller releases what this returns.
    private func settle(
        _ answers: [UInt64: Delivery?], for registration: Registration, in state: inout State
    ) -> [Delivery] {
        // Not covered: the return, where another thread ended the observer while its questions were asked.
        guard !state.hasEnded else { return [] }
        let pending = state.pending.removeAll()
        var left = settled(pending, answers, in: &state)
        // R7: only now is a once observer used up. What is no question has claimed it.
        if registration.isOnce, left.first?.question == 0, pending.allSatisfy({ $0.question != 0 }) {
            // Not covered: none, where another thread ended the observer just now.
            left = registration.claim() ? [left[0]] : []
        }
        for delivery in left { state.pending.append(delivery) }
        let tickets = Set(left.map(\.ticket))
        state.route.mailbox?.withdraw(pending.map(\.ticket).filter { !tickets.contains($0) })

        let kept = state.takeKept()
        for delivery in settled(kept, answers, in: &state) {
            // Not covered: a question that another thread kept while the others were asked.
            if delivery.question == 0 { _ = state.flow.keep(delivery) } else { state.keptQuestions.append(delivery) }
        }
        state.hasQuestions = !state.keptQuestions.isEmpty || left.contains { $0.question != 0 }
        return pending + kept + trim(&state)
    }

    /// What is left of deliveries when those that are for nobody are gone, and those to which a newer one of their muting
    /// is preferred, which are counted.
    private func settled(
        _ deliveries: [Delivery], _ answers: [UInt64: Delivery?], in state: inout State
    ) -> [Delivery] {
        var newest: Set<UInt64> = []
        var left: [Delivery] = []
        for var delivery in deliveries.reversed() {
            if let answer = answers[delivery.question] {
                guard let answer else { continue }
                delivery.notification = answer.notification
                delivery.question = 0
            }
            if delivery.question == 0, delivery.muting != 0, !newest.insert(delivery.muting).inserted {
                state.dropped += 1
            } else {
                left.append(delivery)
            }
        }
        return left.reversed()
    }
}
