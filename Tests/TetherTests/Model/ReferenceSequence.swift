/// The model of a sequence, which lives while the place or a task that iterates holds it (S2).
final class ReferenceSource: Counted {
    let id: Int
    private let asked: SequenceObservation
    private let center: ReferenceCenter
    private let foreign: ReferenceForeign?
    private let sender: ReferenceSender
    private let owner: ReferenceObject?
    private let world: ReferenceWorld
    /// The observation that began at the call, until a task takes it (S1).
    private var first: ReferenceSequence?

    init(
        _ asked: SequenceObservation, id: Int, in center: ReferenceCenter, sender: ReferenceSender,
        owner: ReferenceObject?, world: ReferenceWorld
    ) {
        self.id = id
        self.asked = asked
        self.center = center
        foreign = world.foreign(at: asked.center)
        self.sender = sender
        self.owner = owner
        self.world = world
        super.init()
        first = observe(in: center)
    }

    override func ended() { first?.letGo() }

    /// The first observation, or else one that begins now; `nil` where what was given is being deinitialised.
    func iterate() -> ReferenceSequence? {
        if let first {
            self.first = nil
            return first
        }
        guard sender.object?.isEnding != true, owner?.isEnding != true, let center = liveCenter() else { return nil }
        return observe(in: center)
    }

    /// What stands beside a foreign center is there as long as that has observers.
    private func liveCenter() -> ReferenceCenter? {
        if let foreign { foreign.hasGone ? nil : foreign.registration() } else { center.hasGone ? nil : center }
    }

    private func observe(in center: ReferenceCenter) -> ReferenceSequence {
        let observer = ReferenceObserver(
            asked.observation, id: -1, in: center, sender: sender, owner: owner, world: world)
        let iteration = ReferenceSequence(observing: observer, keeping: asked.buffer)
        observer.register()
        return iteration
    }
}

/// The model of one iteration, which lives while its sequence or the task that iterates holds it (S2).
final class ReferenceSequence: Counted {
    private let observer: ReferenceObserver
    private let backlog: ModelOperation.Backlog
    private var elements: [ReferenceDelivery] = []
    private(set) var dropped = 0
    /// The task that waits for an element.
    private var waiting: ReferenceTask?
    private var isFinished = false

    var count: Int { elements.count }

    var description: String { backlog == .unbounded ? "sequence" : "sequence, \(backlog)" }

    init(observing observer: ReferenceObserver, keeping backlog: ModelOperation.Backlog) {
        self.observer = observer
        self.backlog = backlog
        super.init()
        observer.sequence = self
    }

    override func ended() { cancel() }

    /// Ends it with the sequence or the task: what was not taken goes.
    func cancel() {
        observer.end()
        finish(keepingElements: false)
    }

    /// Takes what was posted: to who waits for it, or into the buffer (S1, S3).
    func offer(_ notification: ReferenceNotification, _ world: ReferenceWorld) {
        if isFinished { return }
        let element = ReferenceDelivery(notification, world)
        if let task = waiting {
            waiting = nil
            return task.resume(with: element)
        }
        elements.append(element)
        let excess = backlog.trim(&elements)
        dropped += excess.count
        for element in excess { element.letGo() }
    }

    func give(to task: ReferenceTask) {
        if !elements.isEmpty { return task.resume(with: elements.removeFirst()) }
        if isFinished { task.resume(with: nil) } else { waiting = task }
    }

    /// What was posted before is still taken where its sender or center has gone, but not where its observer was removed,
    /// or its owner has gone.
    func finish(keepingElements: Bool) {
        isFinished = true
        let (task, released) = (waiting, keepingElements ? [] : elements)
        waiting = nil
        if !keepingElements { elements = [] }
        task?.resume(with: nil)
        for element in released { element.letGo() }
    }
}

/// The model of a task that takes one element.
final class ReferenceTask {
    enum Stage {
        /// It has not run yet, or what it waited for has come, or the end.
        case new, waiting
        case given(ReferenceDelivery?)
    }

    private let source: ReferenceSource
    /// Its iteration, from when it runs.
    private var sequence: ReferenceSequence?
    private unowned let place: ReferencePlace
    private(set) var stage = Stage.new
    private var isCancelled = false

    init(taking source: ReferenceSource, at place: ReferencePlace) {
        self.source = source
        self.place = place
        source.hold()
    }

    func resume(with element: ReferenceDelivery?) {
        if case .waiting = stage { place.ready.append(self) }
        stage = .given(element)
    }

    func cancel() {
        isCancelled = true
        if case .new = stage { return }
        sequence?.finish(keepingElements: true)
    }

    func run(_ player: Player) {
        if case .new = stage {
            sequence = source.iterate()
            if isCancelled { sequence?.cancel() }
            if let sequence { sequence.give(to: self) } else { resume(with: nil) }
            guard case .given = stage else {
                stage = .waiting
                return
            }
        }
        guard case .given(let element) = stage else { return }
        place.tasks.removeAll { $0 === self }
        if isCancelled { sequence?.cancel() }
        player.taken(from: source.id, element.map { ($0.notification.number, $0.sender.posted) })
        element?.letGo()
        sequence?.letGo()
        source.letGo()
    }
}

/// The model of a place for a sequence, and of the tasks that were begun there.
final class ReferencePlace {
    var sequence: ReferenceSource?
    /// Those that have not ended, oldest first.
    var tasks: [ReferenceTask] = []
    /// Those that have something to run, in order.
    var ready: [ReferenceTask] = []
    private let player: Player

    init(player: Player) {
        self.player = player
    }

    private func begin() -> ReferenceTask? {
        guard let sequence else { return nil }
        let task = ReferenceTask(taking: sequence, at: self)
        tasks.append(task)
        ready.append(task)
        return task
    }

    func run() { while !ready.isEmpty { ready.removeFirst().run(player) } }

    func take() { if begin() != nil { run() } }

    func cancel() {
        guard let task = tasks.first ?? begin() else { return }
        task.cancel()
        run()
    }

    func letGo() {
        let old = sequence
        sequence = nil
        old?.letGo()
    }

    func put(_ source: ReferenceSource) { sequence = source }

    func leave() {
        for task in tasks { task.cancel() }
        run()
        letGo()
    }
}

extension ReferenceWorld {
    func makeSequence(_ asked: SequenceObservation, id: Int) {
        let observation = asked.observation
        let (sender, owner) = (sender(observation.sender), observation.owner.flatMap(object))
        whileHeld(sender.object, owner) {
            withCenter(asked.center) { center in
                sequences[asked.place].put(
                    ReferenceSource(asked, id: id, in: center, sender: sender, owner: owner, world: self))
            }
        }
    }

    func take(_ sequence: Int) { sequences[sequence].take() }
    func runTasks(_ sequence: Int) { sequences[sequence].run() }
    func cancelTask(_ sequence: Int) { sequences[sequence].cancel() }
    func dropSequence(_ sequence: Int) { sequences[sequence].letGo() }
    func leaveSequence(_ sequence: Int) { sequences[sequence].leave() }
}
