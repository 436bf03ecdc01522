import Foundation

// The reference model states Tether's promises as a program on one thread.
//
// Read it with the contract (Contract.md) open. A function cites the lines that it states. The
// model was written from these lines, and not from the library, so that a wrong idea is not in
// both.
//
// | Type                | Models                                                              |
// |---------------------|---------------------------------------------------------------------|
// | `ReferenceCenter`   | a list of observers, in registration order (M3)                     |
// | `ReferenceObserver` | an observer: its target, its mutings, its end                       |
// | `ReferenceDelivery` | one post on its way to one observer                                 |
// | `ReferenceTarget`   | a list of deliveries and a list of blocks, in the order of arrival  |
// | `ReferenceBlock`    | a block of one post, with a delivery for each of its observers (D2) |
//
// A post appends its deliveries to the lists of their targets. A switch moves an observer's
// deliveries to the end of another list (D6). A bound, a cancelled block and an end remove
// deliveries. A block that begins takes deliveries from the list, and calls the handlers.
//
// `ReferenceTarget.due(at:)` is the rule of order of each kind of target (D4, D7). Read that
// function first, then `ReferenceObserver` from `accept` to `cancel`, and the rest when needed.
//
// If library and model differ, the contract decides which of them is wrong. If the contract is
// silent, it gets a sentence before the code changes.

/// The model of everything that operations are performed on.
final class ReferenceWorld: World {
    let player: Player
    /// The type and the address of an object, which the model has no way to know.
    private let describe: (Int) -> String

    private var centers: [ReferenceCenter] = (0..<Places.centers).map { _ in ReferenceCenter() }
    private var queues: [ReferenceQueue]
    private var schedulers: [ReferenceTarget]
    private var tokens: [ReferenceToken?] = Array(repeating: nil, count: Places.tokens)
    private let sequences: [ReferencePlace]
    private var objects: [ReferenceObject?] = Array(repeating: nil, count: Places.objects)
    /// The objects whose `deinit` runs.
    var dying: [ReferenceObject] = []
    /// All pending deliveries, in posting order.
    var pending: [ReferenceDelivery] = []
    /// The observers that have kept a notification while muted, in the posting order of the
    /// notifications (D9).
    var keeping: [ReferenceObserver] = []
    /// How many handlers run, one inside the other.
    var runningHandlers = 0

    init(player: Player, describe: @escaping (Int) -> String) {
        self.player = player
        self.describe = describe
        queues = centers.map { ReferenceQueue(center: $0) }
        centers.append(ReferenceForeign())
        sequences = (0..<Places.sequences).map { _ in ReferencePlace(player: player) }
        schedulers = (0..<Places.schedulers).map(ReferenceTarget.init(at:))
    }

    /// A token, which ends its observer when it is deallocated, unless an owner does.
    private final class ReferenceToken: Counted {
        let observer: ReferenceObserver

        init(_ observer: ReferenceObserver) {
            self.observer = observer
        }

        override func deallocated() {
            if observer.owner == nil { observer.retained { observer.end() } }
        }
    }

    private func object(at place: Int) -> ReferenceObject? {
        place == ModelOperation.dying ? dying.last : objects[place]
    }

    private func sender(_ sender: ModelOperation.Sender) -> ReferenceSender {
        switch sender {
        case .nobody: .nobody
        case .object(let place): object(at: place).map(ReferenceSender.object) ?? .nobody
        case .value(let value): .value(value)
        }
    }

    // MARK: Performing

    func perform(_ operation: ModelOperation, number: Int) {
        let uses = operation.uses
        let token = uses.token.flatMap { tokens[$0] }
        var used: [Counted?] = uses.objects.map(object) + [token, token?.observer]
        used += [uses.center.map { centers[$0] }, uses.queue.map { queues[$0] }]
        for each in used { each?.retain() }
        perform(operation, number, token?.observer)
        for each in used { each?.release() }
    }

    private func perform(_ operation: ModelOperation, _ number: Int, _ observer: ReferenceObserver?)
    {
        switch operation {
        case .observe(let observation): observe(observation, number)
        case .stop: observer?.end()
        case .finish: observer?.finish()
        case .drop(let token): tokens[token].take()?.release()
        case .stopAll(let place):
            // An owner that is being deinitialised has none.
            guard let object = object(at: place), !object.isEnding else { return }
            for observer in object.attached { observer.end() }
        case .remove(let center, let name, let sender, let owner):
            centers[center].removeAll(
                name: name, sender: self.sender(sender.map { .object($0) } ?? .nobody),
                owner: owner.flatMap(object))
        case .removeToken(let center, _, let name, let sender):
            // M8: a token of another center changes nothing.
            let sender = self.sender(sender)
            guard let observer, observer.center === centers[center],
                name == nil || observer.name == name,
                sender == .nobody || observer.sender == sender
            else { return }
            observer.end()
        case .removeObject(let center, let owner, let name, let sender):
            centers[center].removeAll(
                name: name, sender: self.sender(sender), owner: object(at: owner))
        case .mute(_, let keepingNewest): observer?.mute(keepingNewest: keepingNewest)
        case .unmute: if let observer { ReferenceObserver.unmute([observer]) }
        case .muteAll(let place, let keepingNewest):
            object(at: place)?.muteAll(keepingNewest: keepingNewest)
        case .unmuteAll(let place): object(at: place)?.unmuteAll()
        case .bound(_, let backlog): observer?.bound(to: backlog)
        case .redirect(_, let scheduler):
            if let observer {
                ReferenceObserver.redirect([observer], to: scheduler.map { schedulers[$0] })
            }
        case .redirectAll(let place, let scheduler):
            // A sequence's target is fixed (X1).
            guard let object = object(at: place), !object.isEnding else { return }
            ReferenceObserver.redirect(
                object.attached.filter { $0.sequence == nil },
                to: scheduler.map { schedulers[$0] })
        case .run(let scheduler): schedulers[scheduler].run()
        case .runOne(let scheduler, let newest): schedulers[scheduler].runOne(newest: newest)
        case .cancelOne(let scheduler, let newest): schedulers[scheduler].cancelOne(newest: newest)
        case .runAll(let scheduler): for _ in 0..<Places.runs { schedulers[scheduler].run() }
        case .cancelJobs(let scheduler):
            let old = schedulers[scheduler]
            if old.kind == .loop { schedulers[scheduler] = ReferenceTarget(at: scheduler) }
            old.cancel()
        case .make(let place, _): objects[place] = ReferenceObject(id: number, world: self)
        case .end(let place): objects[place].take()?.release()
        default: performOnOthers(operation, number)
        }
    }

    private func performOnOthers(_ operation: ModelOperation, _ number: Int) {
        switch operation {
        case .post(let center, let name, let sender, let isPlain):
            withNotification(name, sender, isPlain ? nil : number) { centers[center].post($0) }
        case .enqueue(let queue, let name, let sender, let style, let mask):
            withNotification(name, sender, number) {
                queues[queue].enqueue($0, style: style, mask: mask)
            }
        case .dequeue(let queue, let name, let sender, let mask):
            withNotification(name, sender, nil) { queues[queue].dequeue($0, mask: mask) }
        case .flush(let queue): queues[queue].flush()
        case .renewQueue(let queue): renewQueue(queue)
        case .renewCenter(let center):
            let old = centers[center]
            centers[center] = center == Places.foreign ? ReferenceForeign() : ReferenceCenter()
            if center != Places.foreign { renewQueue(center) }
            old.release()
        case .sequence(let asked):
            sequences[asked.place].leave()
            let (center, observation) = (centers[asked.center], asked.observation)
            let (sender, owner) = (sender(observation.sender), observation.owner.flatMap(object))
            sequences[asked.place].put(
                ReferenceSource(id: number, in: center, keeping: asked.buffer) { [unowned self] in
                    ReferenceObserver(
                        observation, id: nil, in: center, sender: sender, owner: owner, world: self)
                })
        case .take(let place): sequences[place].take()
        case .runTasks(let place): sequences[place].run()
        case .cancelTask(let place): sequences[place].cancel()
        case .dropSequence(let place): sequences[place].drop()
        case .leaveSequence(let place): sequences[place].leave()
        default: break
        }
    }

    private func observe(_ observation: Observation, _ number: Int) {
        let observer = ReferenceObserver(
            observation, id: number, in: centers[observation.center],
            sender: sender(observation.sender),
            owner: observation.owner.flatMap(object),
            target: observation.scheduler.map { schedulers[$0] }, world: self)
        let token = ReferenceToken(observer)
        observer.register()
        guard observation.keepsToken else { return token.release() }
        player.tokenGoes(to: observation.token, of: number)
        let old = tokens[observation.token]
        tokens[observation.token] = token
        old?.release()
    }

    private func withNotification(
        _ name: Int, _ sender: ModelOperation.Sender, _ number: Int?,
        _ body: (ReferenceNotification) -> Void
    ) {
        let payload = ReferenceNotification.Payload(number: number, player: player)
        let notification = ReferenceNotification(
            name: name, sender: self.sender(sender), payload: payload)
        body(notification)
        notification.release()
        payload.release()
    }

    private func renewQueue(_ queue: Int) {
        let old = queues[queue]
        queues[queue] = ReferenceQueue(center: centers[queue])
        old.dequeueAll()
        old.release()
    }

    // MARK: Looking

    func isActive(_ token: Int) -> Bool { tokens[token].map { !$0.observer.hasEnded } ?? false }

    func picture() -> Picture {
        Picture(
            rows: centers.map { $0.observers.map(row) },
            centers: centers.indices.map { place in
                var picture = Picture.Center()
                if let foreign = centers[place] as? ReferenceForeign {
                    picture.closures = foreign.closureCount
                } else {
                    picture.asap = queues[place].count(isIdle: false)
                    picture.whenIdle = queues[place].count(isIdle: true)
                }
                return picture
            },
            tokens: tokens.map { token in
                guard let observer = token?.observer else { return nil }
                if observer.hasEnded {
                    return Picture.Token(
                        isMuted: false, target: describe(nil), backlog: "unbounded", dropped: 0)
                }
                return Picture.Token(
                    isMuted: observer.isMuted, target: describe(observer.shownTarget),
                    backlog: observer.backlog.description, dropped: observer.dropped)
            },
            attached: objects.map { $0?.attached.count ?? 0 },
            blocks: schedulers.map(\.count))
    }

    private func row(of observer: ReferenceObserver) -> Picture.Row {
        let sequence = observer.sequence
        return Picture.Row(
            name: observer.name.map { LibraryWorld.names[$0].rawValue },
            sender: describe(observer.sender),
            owner: observer.owner.map { describe($0.id) },
            target: sequence?.description ?? describe(observer.shownTarget),
            pending: observer.pending.count + (observer.kept == nil ? 0 : 1)
                + (sequence?.count ?? 0),
            dropped: observer.dropped + (sequence?.dropped ?? 0), muted: observer.mutings,
            isOnce: observer.isOnce,
            key: observer.key.map { String(reflecting: LibraryWorld.values[$0]) })
    }

    private func describe(_ target: ReferenceTarget?) -> String {
        target?.description ?? "posting thread"
    }

    private func describe(_ sender: ReferenceSender) -> String? {
        switch sender {
        case .nobody: nil
        case .object(let object): object.isEnding ? "a deallocated sender" : describe(object.id)
        case .value(let value): String(reflecting: LibraryWorld.values[value])
        }
    }
}
