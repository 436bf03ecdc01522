/// The model of a sequence, which lives while its place or an iterating task retains it (S2).
final class ReferenceSource: Counted {
    let id: Int
    private let center: ReferenceCenter
    private let makeObserver: () -> ReferenceObserver
    private let backlog: ModelOperation.Backlog
    /// The iteration of the call, until a task takes it (S1).
    private var first: ReferenceSequence?

    init(
        id: Int, in center: ReferenceCenter, keeping backlog: ModelOperation.Backlog,
        observing makeObserver: @escaping () -> ReferenceObserver
    ) {
        self.id = id
        self.center = center
        self.makeObserver = makeObserver
        self.backlog = backlog
        super.init()
        first = observe()
    }

    override func deallocated() { first?.release() }

    /// The first iteration, or else a new iteration. `nil` if a needed object is being
    /// deinitialised.
    fileprivate func iterate() -> ReferenceSequence? {
        if let first = first.take() { return first }
        let (observer, isOver) = (makeObserver(), center.isDeallocated)
        if isOver || observer.sender.object?.isEnding == true || observer.owner?.isEnding == true {
            return nil
        }
        return observe()
    }

    private func observe() -> ReferenceSequence {
        let observer = makeObserver()
        let iteration = ReferenceSequence(observing: observer, keeping: backlog)
        observer.register()
        return iteration
    }
}

/// The model of an iteration, which lives while its sequence or the iterating task retains it (S2).
final class ReferenceSequence: Counted {
    private let observer: ReferenceObserver
    private let backlog: ModelOperation.Backlog
    private var elements: [ReferenceNotification] = []
    private(set) var dropped = 0
    /// The waiting task.
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

    override func deallocated() { cancel() }

    /// Ends the iteration with the sequence or the task. Elements that were not taken are released.
    func cancel() {
        observer.end()
        finish(keepingElements: false)
    }

    /// Passes a notification to the waiting task, or into the buffer (S1, S3).
    func offer(_ notification: ReferenceNotification) {
        if isFinished { return }
        let element = notification.retainedForLater()
        if let task = waiting.take() { return task.resume(with: element) }
        elements.append(element)
        let excess = backlog.trim(&elements)
        dropped += excess.count
        for element in excess { element.release() }
    }

    fileprivate func give(to task: ReferenceTask) {
        if !elements.isEmpty { return task.resume(with: elements.removeFirst()) }
        if isFinished { task.resume(with: nil) } else { waiting = task }
    }

    /// Elements are still taken after the end of the sender or the center, but not after the end of
    /// the owner or a removal.
    func finish(keepingElements: Bool) {
        isFinished = true
        let released = keepingElements ? [] : elements
        if !keepingElements { elements = [] }
        waiting.take()?.resume(with: nil)
        for element in released { element.release() }
    }
}

/// The model of a task that takes an element.
private final class ReferenceTask {
    private enum Stage {
        /// The task has not run yet, waits for an element, or has an element or the end.
        case new, waiting
        case given(ReferenceNotification?)
    }

    private let source: ReferenceSource
    /// The iteration, after the task has begun to run.
    private var sequence: ReferenceSequence?
    private unowned let place: ReferencePlace
    private var stage = Stage.new
    private var isCancelled = false

    init(taking source: ReferenceSource, at place: ReferencePlace) {
        self.source = source
        self.place = place
        source.retain()
    }

    func resume(with element: ReferenceNotification?) {
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
        player.taken(from: source.id, element.map { ($0.payload.number, $0.sender.posted) })
        element?.release()
        sequence?.release()
        source.release()
    }
}

/// The model of a place for a sequence, and of the tasks begun there.
final class ReferencePlace {
    private var sequence: ReferenceSource?
    /// The live tasks, oldest first, and the tasks with work to run, in order.
    fileprivate var tasks: [ReferenceTask] = []
    fileprivate var ready: [ReferenceTask] = []
    private let player: Player

    init(player: Player) {
        self.player = player
    }

    func put(_ made: ReferenceSource) { sequence = made }

    private func begin() -> ReferenceTask? {
        guard let sequence else { return nil }
        let task = ReferenceTask(taking: sequence, at: self)
        tasks.append(task)
        ready.append(task)
        return task
    }

    func run() { while !ready.isEmpty { ready.removeFirst().run(player) } }
    func take() { if begin() != nil { run() } }
    func drop() { sequence.take()?.release() }

    func cancel() {
        guard let task = tasks.first ?? begin() else { return }
        task.cancel()
        run()
    }

    func leave() {
        for task in tasks { task.cancel() }
        run()
        drop()
    }
}
