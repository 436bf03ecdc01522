/// The model of a scheduler, or of the thread's run loop, as a target: turns in order, and at most one job that stands for
/// them (D4, D7).
final class ReferenceScheduler {
    let description: String
    let isLoop: Bool
    private var turns: [(observer: ReferenceObserver, delivery: ReferenceDelivery)] = []
    private var hasJob = false
    /// Whether the job was handed over; until then, who made it has it.
    private var isScheduled = false
    private(set) var isDraining = false
    /// What was pending when the drain that is running began.
    private var begun: [ReferenceDelivery] = []
    /// Whose turn it is.
    private var called: ReferenceObserver?
    private var isClosed = false
    /// Observers that switch when the drain ends.
    private var switching: [ReferenceObserver] = []
    /// Observers that have left to the poster, with something that the next job delivers, if no post does before.
    private var remainders: [ReferenceObserver] = []

    private unowned let world: ReferenceWorld

    init(description: String, isLoop: Bool, world: ReferenceWorld) {
        self.description = description
        self.world = world
        self.isLoop = isLoop
    }

    /// D5: every post is made on the loop's thread; it is delivered inline, unless something is pending there.
    var isOpenInline: Bool { isLoop && !isClosed && turns.isEmpty }

    /// Whether who made a job may run it there and then.
    var isCurrent: Bool { isLoop && !isClosed }

    /// True if that makes a job, which is to be scheduled, run or let go of.
    func append(_ observer: ReferenceObserver, _ delivery: ReferenceDelivery) -> Bool {
        turns.append((observer, delivery))
        if isDraining || hasJob { return false }
        hasJob = true
        isScheduled = false
        return true
    }

    /// Hands the job over, which is dropped where the thread has gone.
    func schedule() {
        isScheduled = true
        if isClosed { dropJob() }
    }

    private func has(_ delivery: ReferenceDelivery) -> Bool { turns.contains { $0.delivery === delivery } }

    func hasAll(of deliveries: [ReferenceDelivery]) -> Bool { deliveries.allSatisfy(has) }

    func withdraw(_ delivery: ReferenceDelivery) { turns.removeAll { $0.delivery === delivery } }

    func switchAfterDrain(_ observer: ReferenceObserver) { switching.append(observer) }

    /// Has the next job deliver what an observer has left on the poster.
    func deliverLater(_ observer: ReferenceObserver) {
        remainders.append(observer)
        if isDraining || hasJob { return }
        hasJob = true
        schedule()
    }

    private func takeRemainders() -> [ReferenceObserver] {
        defer { remainders = [] }
        return remainders
    }

    func run() { if isScheduled { runJob() } }

    /// Runs the job: delivers what is pending now, and asks for a job for the rest.
    func runJob() {
        guard hasJob else { return }
        hasJob = false
        isDraining = true
        world.levels.begin(.drain(self))
        let due = turns
        begun = due.map(\.delivery)
        for observer in takeRemainders() { observer.deliverRemainder(in: self) }
        for turn in due where has(turn.delivery) {
            withdraw(turn.delivery)
            called = turn.observer
            turn.observer.deliver(turn.delivery)
            called = nil
        }
        world.levels.end()
        endDrain()
    }

    private func endDrain() {
        isDraining = false
        begun = []
        hasJob = !turns.isEmpty || !remainders.isEmpty
        isScheduled = false
        let hasRest = hasJob
        let left = switching
        switching = []
        let joined = left.filter { $0.switchToPosterWithPending() }
        if hasRest { schedule() }
        for observer in joined { observer.deliverRemainder(in: self) }
    }

    /// A handler has ended the thread of the drain: what is pending is dropped, counted.
    func threadEnded() {
        let observer = called
        called = nil
        dropTurns()
        observer?.threadEnded()
        endDrain()
    }

    func runAll() {
        while hasJob, isScheduled { run() }
    }

    /// D2, D5: drops what is pending, counted; a loop takes no more.
    func stop() {
        isClosed = isLoop
        if isScheduled { dropJob() }
    }

    func letGoOfJob() { if !isScheduled { dropJob() } }

    private func dropJob() {
        guard hasJob else { return }
        hasJob = false
        dropTurns()
    }

    /// D6: what the drain that is running did not begin with is spared, if its observer is to switch to another one.
    private func dropTurns() {
        let dropped = turns.filter { turn in
            !turn.observer.takesPendingAlong || begun.contains { $0 === turn.delivery }
        }
        turns = []
        let left = takeRemainders()
        for turn in dropped { turn.observer.drop(turn.delivery) }
        for observer in left { observer.leaveRemainderToPosts() }
    }
}
