/// The model of all of it: lists and loops, written from the contract.
final class ReferenceWorld: World {
    /// Whether ends of objects are seen as they happen.
    let isExact: Bool
    let player: Player
    /// Tells an object's type and address, which the model has no way to know.
    let describe: (Int) -> String

    private(set) var centers: [ReferenceCenter]
    private var foreign = (Places.centers..<Places.allCenters).map { _ in ReferenceForeign() }
    var queues: [ReferenceQueue]
    private(set) var schedulers: [ReferenceScheduler] = []
    var tokens: [ReferenceToken?] = Array(repeating: nil, count: Places.tokens)
    let sequences: [ReferencePlace]
    var objects: [ReferenceObject?] = Array(repeating: nil, count: Places.objects)
    /// All objects, but for those that left nothing.
    private var unseen: [ReferenceObject] = []
    var dying: [ReferenceObject] = []
    var levels = ReferenceLevels()
    /// How many notifications were ever kept for later.
    var kept = 0

    init(mode: LifetimeMode, player: Player, describe: @escaping (Int) -> String) {
        isExact = mode == .hook
        self.player = player
        self.describe = describe
        centers = (0..<Places.centers).map { _ in ReferenceCenter() }
        queues = centers.map { ReferenceQueue(center: $0) }
        sequences = (0..<Places.sequences).map { _ in ReferencePlace(player: player) }
        schedulers = LibraryWorld.targets.indices.map(makeScheduler)
    }

    private func makeScheduler(at place: Int) -> ReferenceScheduler {
        ReferenceScheduler(description: LibraryWorld.targets[place], isLoop: place == 2, world: self)
    }

    // MARK: Objects

    func makeObject(_ id: Int, at place: Int) {
        let object = ReferenceObject(id: id, world: self)
        objects[place] = object
        if !isExact { unseen.append(object) }
    }

    func dropObject(at place: Int) {
        let object = objects[place]
        objects[place] = nil
        object?.letGo()
    }

    func object(at place: Int) -> ReferenceObject? {
        place == ModelOperation.dying ? dying.last : objects[place]
    }

    func sender(_ sender: ModelOperation.Sender) -> ReferenceSender {
        switch sender {
        case .nobody, .nothing: .nobody
        case .object(let place, _): object(at: place).map(ReferenceSender.object) ?? .nobody
        case .value(let value, _): .value(value)
        }
    }

    /// Who calls the library holds what it passes.
    func whileHeld(_ objects: ReferenceObject?..., body: () -> Void) {
        let held = objects.compactMap(\.self).filter { !$0.isEnding }
        for object in held { object.hold() }
        body()
        for object in held { object.letGo() }
    }

    func purge() {
        // What ends meanwhile is collected too.
        var live: Int
        repeat {
            live = player.liveObjects
            for object in unseen { object.collect() }
        } while live != player.liveObjects
        unseen.removeAll(where: \.isCollected)
    }

    // MARK: Tokens

    /// A token, which ends its observer when it goes, unless an owner has that.
    final class ReferenceToken: Counted {
        let observer: ReferenceObserver

        init(_ observer: ReferenceObserver) {
            self.observer = observer
        }

        override func ended() { if observer.owner == nil { observer.whileHeld { observer.end() } } }
    }

    func observe(_ observation: Observation, id: Int) {
        let (sender, owner) = (sender(observation.sender), observation.owner.flatMap(object))
        whileHeld(sender.object, owner) {
            withCenter(observation.center) { center in
                let observer = ReferenceObserver(
                    observation, id: id, in: center, sender: sender, owner: owner, world: self)
                let token = ReferenceToken(observer)
                observer.register()
                guard observation.keepsToken else { return token.letGo() }
                player.tokenGoes(to: observation.token, of: id)
                let old = tokens[observation.token]
                tokens[observation.token] = token
                old?.letGo()
            }
        }
    }

    func dropToken(_ token: Int) {
        let old = tokens[token]
        tokens[token] = nil
        old?.letGo()
    }

    func isActive(_ token: Int) -> Bool { tokens[token].map { !$0.observer.hasEnded } ?? false }

    private func with(_ token: Int, _ body: (ReferenceObserver) -> Void) {
        guard let token = tokens[token] else { return }
        token.whileHeld { token.observer.whileHeld { body(token.observer) } }
    }

    func stop(_ token: Int) { with(token) { $0.end() } }
    func mute(token: Int, keepingNewest: Bool) { with(token) { $0.mute(keepingNewest: keepingNewest) } }
    func unmute(_ token: Int) { with(token) { $0.unmute() } }
    func bound(token: Int, to backlog: ModelOperation.Backlog) { with(token) { $0.bound(to: backlog) } }

    func redirect(token: Int, scheduler: Int?) {
        with(token) { observer in observer.redirect(to: scheduler.map { schedulers[$0] }) }
    }

    // MARK: Centers

    /// A foreign center, at a place where there is one.
    func foreign(at center: Int) -> ReferenceForeign? {
        center < Places.centers ? nil : foreign[center - Places.centers]
    }

    /// Calls `body` with the center with which an observer is registered.
    func withCenter(_ center: Int, _ body: (ReferenceCenter) -> Void) {
        if let foreign = foreign(at: center) {
            foreign.whileHeld { body(foreign.registration()) }
        } else {
            let center = centers[center]
            center.whileHeld { body(center) }
        }
    }

    // MARK: Many observers

    func stopAll(_ place: Int) {
        // Of an owner that is being deinitialised there are none, also where the sweep has yet to end them.
        guard let object = object(at: place), !object.isEnding else { return }
        whileHeld(object) {
            for observer in object.attached { observer.whileHeld { observer.end() } }
        }
    }

    func remove(center: Int, name: Int?, sender: Int?, owner: Int?) {
        let (sender, owner) = (sender.flatMap(object), owner.flatMap(object))
        whileHeld(sender, owner) {
            withCenter(center) { center in
                center.removeAll(name: name, sender: sender.map(ReferenceSender.object) ?? .nobody, owner: owner)
            }
        }
    }

    func removeToken(center: Int, token: Int, form: Int, name: Int?, sender: ModelOperation.Sender) {
        let (sender, center) = (self.sender(sender), centers[center])
        whileHeld(sender.object) {
            center.whileHeld {
                with(token) { observer in
                    // M8: a token of another center changes nothing.
                    guard observer.center === center, name == nil || observer.name == name,
                        sender == .nobody || observer.sender == sender
                    else { return }
                    observer.end()
                }
            }
        }
    }

    func removeObject(center: Int, owner: Int, form: Int, name: Int?, sender: ModelOperation.Sender) {
        let (sender, owner, center) = (self.sender(sender), object(at: owner), centers[center])
        whileHeld(sender.object, owner) {
            center.whileHeld { center.removeAll(name: name, sender: sender, owner: owner) }
        }
    }

    func muteAll(object place: Int, keepingNewest: Bool) {
        object(at: place)?.muteAll(keepingNewest: keepingNewest)
    }

    func unmuteAll(_ place: Int) {
        let object = object(at: place)
        whileHeld(object) { object?.unmuteAll() }
    }

    // MARK: Posting

    func post(center: Int, name: Int, sender: ModelOperation.Sender, number: Int, form: ModelOperation.PostForm) {
        let sender = self.sender(sender)
        whileHeld(sender.object) {
            withCenter(center) { core in
                let notification = ReferenceNotification(name: name, sender: sender, number: number) { [player] in
                    player.payloadReleased(number)
                }
                if let foreign = foreign(at: center) { foreign.post(notification) } else { core.post(notification) }
                notification.letGo()
            }
        }
    }

    private func with(
        _ queue: Int, name: Int, sender: ModelOperation.Sender, number: Int = 0,
        _ body: (ReferenceQueue, ReferenceNotification) -> Void
    ) {
        let (sender, queue) = (self.sender(sender), queues[queue])
        whileHeld(sender.object) {
            queue.whileHeld {
                let notification = ReferenceNotification(name: name, sender: sender, number: number)
                body(queue, notification)
                notification.letGo()
            }
        }
    }

    func enqueue(
        center: Int, name: Int, sender: ModelOperation.Sender, number: Int, style: ModelOperation.Style,
        mask: ModelOperation.Mask
    ) {
        with(center, name: name, sender: sender, number: number) { $0.enqueue($1, style: style, mask: mask) }
    }

    func dequeue(center: Int, name: Int, sender: ModelOperation.Sender, mask: ModelOperation.Mask) {
        with(center, name: name, sender: sender) { $0.dequeue($1, mask: mask) }
    }

    func dequeueExactly(center: Int, name: Int, sender: ModelOperation.Sender, number: Int) {
        with(center, name: name, sender: sender) { queue, _ in queue.dequeueExactly(number) }
    }

    func flush(_ center: Int) {
        let queue = queues[center]
        queue.whileHeld { queue.flush() }
    }

    func renewQueue(_ center: Int) {
        let old = queues[center]
        queues[center] = ReferenceQueue(center: centers[center])
        old.letGo()
    }

    func renewCenter(_ center: Int) {
        if let old = foreign(at: center) {
            foreign[center - Places.centers] = ReferenceForeign()
            return old.letGo()
        }
        let old = centers[center]
        centers[center] = ReferenceCenter()
        renewQueue(center)
        old.letGo()
    }

    func run(_ scheduler: Int) { schedulers[scheduler].run() }
    func runAll(_ scheduler: Int) { schedulers[scheduler].runAll() }

    func dropJobs(_ scheduler: Int) {
        let old = schedulers[scheduler]
        if old.isLoop { schedulers[scheduler] = makeScheduler(at: scheduler) }
        old.stop()
    }
}
