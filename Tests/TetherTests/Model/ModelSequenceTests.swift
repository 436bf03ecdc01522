import Testing

@testable import Tether

/// Shrunk sequences on which the library and the model once differed.
@Suite struct ModelSequenceTests {
    private func expectAgreement(
        _ operations: [ModelOperation], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let divergence = Comparison.divergence(in: operations)
        #expect(
            divergence == nil, "\(divergence?.description ?? "")", sourceLocation: sourceLocation)
    }

    @Test func `Q2 R10 a posting queue may be released after its last notification was dequeued`() {
        expectAgreement([
            .enqueue(center: 0, name: 0, sender: .nobody, style: .asap, mask: .none),
            .enqueue(center: 0, name: 1, sender: .nobody, style: .asap, mask: .none),
            .dequeue(center: 0, name: 1, sender: .nobody, mask: .name),
            .renewQueue(0),
        ])
    }

    @Test func `Q3 X3 a queued post of an ended sender is replaced by none without a sender`() {
        expectAgreement([
            .make(
                object: 0,
                atEnd: [
                    .enqueue(center: 0, name: 0, sender: .object(-1), style: .asap, mask: .none)
                ]),
            .observe(Observation(token: 0, name: 0)),
            .end(0),
            .enqueue(center: 0, name: 0, sender: .nobody, style: .asap, mask: .both),
            .flush(0),
        ])
    }

    @Test func `Q3 a notification posted now releases its equals before its handlers run`() {
        expectAgreement([
            .make(object: 0, atEnd: []),
            .enqueue(center: 0, name: 0, sender: .object(0), style: .asap, mask: .none),
            .observe(Observation(token: 0, name: 0, actions: [.end(0)])),
            .enqueue(center: 0, name: 0, sender: .nobody, style: .now, mask: .name),
        ])
    }

    @Test func `D2 D9 a handler that an owner's unmuting calls may drop the unmuting's jobs`() {
        expectAgreement([
            .make(object: 0, atEnd: []),
            .observe(Observation(token: 0, name: 1, owner: 0, scheduler: 0)),
            .observe(
                Observation(
                    token: 1, name: 0, owner: 0,
                    actions: [.cancelJobs(0), .post(center: 0, name: 1, sender: .nobody)])),
            .muteAll(object: 0, keepingNewest: true),
            .post(center: 0, name: 1, sender: .nobody),
            .post(center: 0, name: 0, sender: .nobody),
            .unmuteAll(0),
            .run(0),
        ])
    }

    @Test func `S2 R9 a removal in its sender's deinit releases a sequence's elements`() {
        expectAgreement([
            .make(
                object: 0,
                atEnd: [
                    .post(center: 0, name: 0, sender: .object(ModelOperation.dying)),
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
            .post(center: 0, name: 0, sender: .nobody),
            .runTasks(0),
            .take(0),
            .end(0),
            .take(0),
        ])
    }

    @Test func `D4 D7 jobs that come while a batch is delivered are run after it`() {
        expectAgreement([
            .observe(
                Observation(
                    token: 0, name: 0, scheduler: Places.batching,
                    actions: [.post(center: 0, name: 0, sender: .nobody), .run(Places.batching)])),
            .post(center: 0, name: 0, sender: .nobody),
            .post(center: 0, name: 0, sender: .nobody),
            .run(Places.batching),
            .run(Places.batching),
        ])
    }

    @Test func `D4 D8 a concurrent target's job whose delivery was dropped makes an earlier one`() {
        expectAgreement([
            .observe(Observation(token: 0, name: 0, scheduler: Places.concurrent)),
            .post(center: 0, name: 0, sender: .nobody),
            .post(center: 0, name: 0, sender: .nobody),
            .bound(token: 0, to: .oldest(1)),
            .runOne(scheduler: Places.concurrent, newest: true),
        ])
    }

    @Test func `D4 all jobs that come while the handler runs are run after it`() {
        expectAgreement([
            .observe(
                Observation(
                    token: 0, name: 0, scheduler: 0,
                    actions: [
                        .post(center: 0, name: 0, sender: .nobody),
                        .post(center: 0, name: 0, sender: .nobody), .run(0),
                    ])),
            .post(center: 0, name: 0, sender: .nobody),
            .run(0),
        ])
    }

    @Test func `R8 a once muted observer that a handler of the same post ended is not called`() {
        expectAgreement([
            .observe(Observation(token: 0, name: 0, actions: [.stop(1)])),
            .observe(Observation(token: 1, name: 0)),
            .mute(token: 1, keepingNewest: false),
            .unmute(1),
            .post(center: 0, name: 0, sender: .nobody),
        ])
    }

    @Test func `D6 a post in a handler on the old target does not call it inline on the new one`() {
        expectAgreement([
            .observe(
                Observation(
                    token: 0, name: 0, scheduler: 0,
                    actions: [
                        .redirect(token: 0, scheduler: Places.loop),
                        .post(center: 0, name: 0, sender: .nobody),
                    ])),
            .post(center: 0, name: 0, sender: .nobody),
            .run(0),
            .run(Places.loop),
        ])
    }

    @Test func `D6 jobs on the new target wait there for the handler that runs on the old one`() {
        expectAgreement([
            .observe(
                Observation(
                    token: 0, name: 0, scheduler: 0,
                    actions: [
                        .redirect(token: 0, scheduler: Places.loop),
                        .post(center: 0, name: 0, sender: .nobody),
                        .run(Places.loop),
                    ])),
            .post(center: 0, name: 0, sender: .nobody),
            .run(0),
            .run(Places.loop),
            .run(Places.loop),
        ])
    }

    @Test func `D6 jobs on a target that was left and set again wait there for a running handler`()
    {
        let post = ModelOperation.post(center: 0, name: 0, sender: .nobody)
        expectAgreement([
            .observe(Observation(actions: [.run(1)])),
            .observe(
                Observation(
                    token: 1,
                    actions: [
                        .make(object: 0, atEnd: [post, post, .redirect(token: 1, scheduler: 0)]),
                        .redirect(token: 1, scheduler: 1), post,
                    ])),
            post, post,
        ])
    }

    @Test func `D4 D6 a job in front of the jobs of moved deliveries overtakes none of them`() {
        expectAgreement([
            .observe(
                Observation(
                    token: 1, name: 1, scheduler: 0,
                    actions: [.post(center: 0, name: 0, sender: .nobody), .run(0)])),
            .observe(Observation(token: 0, name: 0, scheduler: Places.batching)),
            .post(center: 0, name: 1, sender: .nobody),
            .post(center: 0, name: 0, sender: .nobody),
            .redirect(token: 0, scheduler: 0),
            .run(0),
        ])
    }

    @Test func `D2 a scheduler that runs its job at once does so in the order of the schedulers`() {
        expectAgreement([
            .observe(
                Observation(
                    scheduler: Places.immediate,
                    actions: [.runOne(scheduler: Places.batching, newest: false)])),
            .observe(Observation(token: 1, scheduler: Places.batching)),
            .post(center: 0, name: 0, sender: .nobody),
        ])
    }

    @Test func `D2 D4 a post in a handler that runs at once keeps its place on other schedulers`() {
        expectAgreement([
            .observe(
                Observation(
                    scheduler: Places.immediate,
                    actions: [.post(center: 0, name: 0, sender: .nobody)])),
            .observe(Observation(token: 1, scheduler: 0)),
            .post(center: 0, name: 0, sender: .nobody),
            .run(0),
        ])
    }

    @Test func `D7 a job counts as waiting before its post submits the job`() {
        expectAgreement([
            .observe(
                Observation(
                    scheduler: Places.immediate,
                    actions: [.post(center: 0, name: 0, sender: .nobody)])),
            .observe(Observation(token: 1, scheduler: Places.batching)),
            .post(center: 0, name: 0, sender: .nobody),
            .run(Places.batching),
        ])
    }

    @Test func `D2 D4 jobs of a concurrent target run in any order, and one of them is cancelled`()
    {
        let post = ModelOperation.post(center: 0, name: 0, sender: .nobody)
        expectAgreement([
            .observe(Observation(scheduler: Places.concurrent)),
            post, post, post, post,
            .runOne(scheduler: Places.concurrent, newest: true),
            .cancelOne(scheduler: Places.concurrent, newest: false),
            .bound(token: 0, to: .newest(1)),
            .runOne(scheduler: Places.concurrent, newest: false),
            .run(Places.concurrent),
        ])
    }

    @Test func `R8 D6 a job that a handler of the post causes releases its deliveries`() {
        expectAgreement([
            .make(object: 0, atEnd: []),
            .observe(
                Observation(
                    token: 6, owner: 0,
                    actions: [.redirect(token: 6, scheduler: Places.immediate)])),
            .observe(Observation(token: 6, once: true)),
            .observe(Observation()),
            .post(center: 0, name: 0, sender: .nobody),
        ])
    }

    @Test func `R4 D6 observers that a handler switches are called in the turn of its post`() {
        expectAgreement([
            .make(object: 1, atEnd: []),
            .observe(Observation(actions: [.redirectAll(object: 1, scheduler: Places.loop)])),
            .observe(Observation(token: 1, owner: 1)),
            .observe(Observation(token: 2, center: 1, owner: 1, scheduler: 0)),
            .post(center: 1, name: 0, sender: .nobody),
            .post(center: 0, name: 0, sender: .nobody),
        ])
    }

    @Test func `D4 D8 a job whose delivery was dropped makes an earlier waiting delivery`() {
        let post = ModelOperation.post(center: 0, name: 0, sender: .nobody)
        expectAgreement([
            .observe(
                Observation(
                    scheduler: 0,
                    actions: [
                        .bound(token: 1, to: .oldest(1)), .runOne(scheduler: 0, newest: false),
                    ])),
            .observe(Observation(token: 1, scheduler: 0)),
            post, post,
            .run(0),
        ])
    }

    @Test func `R4 D9 a post calls an observer switched and unmuted during it in its turn`() {
        let post = ModelOperation.post(center: 0, name: 0, sender: .nobody)
        expectAgreement([
            .observe(
                Observation(
                    name: 0, once: true,
                    actions: [.redirect(token: 1, scheduler: 0), post, .run(0)]
                )),
            .observe(
                Observation(
                    token: 1, name: 0, scheduler: Places.loop,
                    actions: [.post(center: 0, name: 1, sender: .nobody)])),
            .observe(
                Observation(
                    token: 2, name: 1, once: true,
                    actions: [
                        .redirect(token: 1, scheduler: Places.loop),
                        .mute(token: 1, keepingNewest: true), post, .unmute(1),
                    ])),
            post,
            .run(Places.loop),
            .run(Places.loop),
        ])
    }

    @Test func `D4 jobs that wait for a running handler make their deliveries in posting order`() {
        let post = ModelOperation.post(center: 0, name: 0, sender: .nobody)
        let runOne = ModelOperation.runOne(scheduler: 0, newest: false)
        expectAgreement([
            .observe(
                Observation(
                    scheduler: Places.immediate, actions: [.make(object: 1, atEnd: []), post])),
            .observe(Observation(token: 1, scheduler: 0, actions: [post])),
            .observe(Observation(token: 2, actions: [.make(object: 1, atEnd: [runOne])])),
            post,
            runOne,
        ])
    }

    @Test func `D2 D8 a cancelled job drops no delivery for which a bound has left a job`() {
        let post = ModelOperation.post(center: 0, name: 0, sender: .nobody)
        expectAgreement([
            .observe(Observation(token: 1, scheduler: Places.concurrent)),
            post, post, post,
            .runOne(scheduler: Places.concurrent, newest: true),
            .bound(token: 1, to: .oldest(1)),
            .cancelOne(scheduler: Places.concurrent, newest: false),
            .run(Places.concurrent),
        ])
    }

    @Test func `R7 D9 an unmuting claims once observers before the first call of a handler`() {
        let once = Observation(
            token: 1, name: 1, owner: 0, once: true,
            actions: [.post(center: 0, name: 1, sender: .nobody)])
        expectAgreement([
            .make(object: 0, atEnd: []),
            .observe(once),
            .observe(once),
            .muteAll(object: 0, keepingNewest: true),
            .post(center: 0, name: 1, sender: .nobody),
            .unmuteAll(0),
        ])
    }

    @Test(arguments: [
        ModelOperation.muteAll(object: 0, keepingNewest: true),
        .redirectAll(object: 0, scheduler: 0),
        .redirectAll(object: 0, scheduler: nil),
    ])
    func `D6 D9 a handler of an unmuting holds back nothing of the unmuting`(
        action: ModelOperation
    ) {
        expectAgreement([
            .make(object: 0, atEnd: []),
            .observe(Observation(owner: 0, actions: [action])),
            .observe(Observation(token: 1, owner: 0)),
            .muteAll(object: 0, keepingNewest: true),
            .post(center: 0, name: 0, sender: .nobody),
            .unmuteAll(0),
            .post(center: 0, name: 0, sender: .nobody),
            .run(0),
        ])
    }

    @Test func `D6 D9 a kept notification does not hold up a switch to the posting thread`() {
        expectAgreement([
            .observe(Observation(scheduler: 0)),
            .mute(token: 0, keepingNewest: true),
            .post(center: 0, name: 0, sender: .nobody),
            .redirect(token: 0, scheduler: nil),
            .unmute(0),
        ])
    }

    @Test func `D6 an owner's pending deliveries move to a scheduler that runs each at once`() {
        let post = ModelOperation.post(center: 0, name: 0, sender: .nobody)
        expectAgreement([
            .make(object: 0, atEnd: []),
            .observe(Observation(owner: 0, scheduler: 0, actions: [post])),
            .observe(Observation(token: 1, owner: 0, scheduler: Places.concurrent)),
            post, post,
            .redirectAll(object: 0, scheduler: Places.immediate),
        ])
    }
}
