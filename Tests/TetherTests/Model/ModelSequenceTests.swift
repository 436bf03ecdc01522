import Testing

@testable import Tether

/// Sequences in which the library and the model of it once differed, as short as they could be made.
@Suite struct ModelSequenceTests {
    private func expectAgreement(
        _ operations: [ModelOperation], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let divergence = Comparison.divergence(in: operations)
        #expect(divergence == nil, "\(divergence?.description ?? "")", sourceLocation: sourceLocation)
    }

    @Test func `Q2 R10 a posting queue may go while what was enqueued last was taken out again`() {
        expectAgreement([
            .enqueue(center: 0, name: 0, sender: .nobody, style: .asap, mask: .none),
            .enqueue(center: 0, name: 1, sender: .nobody, style: .asap, mask: .none),
            .dequeue(center: 0, name: 1, sender: .nobody, mask: .name),
            .renewQueue(0),
        ])
    }

    @Test func `Q3 what a notification posted now coalesces with is let go of before its handlers run`() {
        expectAgreement([
            .make(object: 0, atEnd: []),
            .enqueue(center: 0, name: 0, sender: .object(0), style: .asap, mask: .none),
            .observe(Observation(token: 0, name: 0, actions: [.end(0)])),
            .enqueue(center: 0, name: 0, sender: .nobody, style: .now, mask: .name),
        ])
    }

    @Test func `D2 D9 a job that unmuting an owner asked for may be dropped in a handler that it runs`() {
        expectAgreement([
            .make(object: 0, atEnd: []),
            .observe(Observation(token: 0, name: 1, owner: 0, scheduler: 0)),
            .observe(
                Observation(
                    token: 1, name: 0, owner: 0,
                    actions: [.dropJobs(0), .post(center: 0, name: 1, sender: .nobody, form: .call)])),
            .muteAll(object: 0, keepingNewest: true),
            .post(center: 0, name: 1, sender: .nobody, form: .call),
            .post(center: 0, name: 0, sender: .nobody, form: .call),
            .unmuteAll(0),
            .run(0),
        ])
    }

    @Test func `R8 D9 what a once observer captured goes before the next one of its owner is called`() {
        expectAgreement([
            .make(object: 0, atEnd: []),
            .observe(Observation(token: 0, center: 1, name: 0, owner: 0)),
            .muteAll(object: 0, keepingNewest: true),
            .observe(Observation(token: 1, name: 0, owner: 0, once: true)),
            .post(center: 0, name: 0, sender: .nobody, form: .call),
            .post(center: 1, name: 0, sender: .nobody, form: .call),
            .unmuteAll(0),
        ])
    }

    @Test(arguments: [[0], [1], [1, 0]])
    func `D2 D6 what is pending where a handler ends the thread moves to another target alone`(targets: [Int]) {
        let switches = targets.map { ModelOperation.redirect(token: 0, scheduler: $0) }
        expectAgreement([
            .observe(
                Observation(
                    token: 0, name: 0, scheduler: 0,
                    actions: switches + [.post(center: 0, name: 0, sender: .nobody, form: .call), .exit])),
            .post(center: 0, name: 0, sender: .nobody, form: .call),
            .onThread([.run(0)]),
            .run(0),
            .run(1),
        ])
    }

    @Test(arguments: [nil, 0, 1])
    func `D2 D6 what was spared for a queue is delivered wherever the target is switched after that`(last: Int?) {
        expectAgreement([
            .observe(Observation(token: 0, name: 0, scheduler: 0)),
            .observe(
                Observation(
                    token: 1, name: 1, scheduler: 0,
                    actions: [
                        .redirect(token: 0, scheduler: 1),
                        .post(center: 0, name: 0, sender: .nobody, form: .call),
                        .dropJobs(0),
                        .redirect(token: 0, scheduler: last),
                        .post(center: 0, name: 0, sender: .nobody, form: .call),
                    ])),
            .post(center: 0, name: 1, sender: .nobody, form: .call),
            .post(center: 0, name: 0, sender: .nobody, form: .call),
            .run(0),
            .run(0),
            .run(1),
        ])
    }

    @Test func `S2 R9 what a sequence has goes with a removal that its sender makes in its deinit`() {
        expectAgreement([
            .make(
                object: 0,
                atEnd: [
                    .post(center: 0, name: 0, sender: .object(ModelOperation.dying), form: .call),
                    .remove(center: 0, name: nil, sender: nil, owner: nil),
                ]),
            .sequence(SequenceObservation(sender: 0)),
            .end(0),
            .take(0),
        ])
    }

    @Test func `S1 S2 each task that iterates a sequence observes for itself`() {
        expectAgreement([
            .make(object: 0, atEnd: []),
            .sequence(SequenceObservation(name: 0, owner: 0)),
            .take(0),
            .take(0),
            .post(center: 0, name: 0, sender: .nobody, form: .call),
            .runTasks(0),
            .take(0),
            .end(0),
            .take(0),
        ])
    }
}
