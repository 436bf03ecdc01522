/// The model of a scheduler as a target: turns in order, and at most one job that stands for them (D4, D7).
final class ReferenceScheduler {
    private var turns: [(observer: ReferenceObserver, delivery: ReferenceDelivery)] = []
    private var hasJob = false
    private(set) var isDraining = false
    /// Observers that switch when the drain ends.
    private var leaving: [ReferenceObserver] = []

    func append(_ observer: ReferenceObserver, _ delivery: ReferenceDelivery) {
        turns.append((observer, delivery))
        if !isDraining { hasJob = true }
    }

    func withdraw(_ delivery: ReferenceDelivery) { turns.removeAll { $0.delivery === delivery } }

    func letLeave(_ observer: ReferenceObserver) { leaving.append(observer) }

    /// Runs the job: delivers what is pending now, and asks for a job for the rest.
    func run() {
        guard hasJob else { return }
        hasJob = false
        isDraining = true
        for due in turns where turns.contains(where: { $0.delivery === due.delivery }) {
            withdraw(due.delivery)
            due.observer.deliver(due.delivery)
        }
        isDraining = false
        hasJob = !turns.isEmpty
        let left = leaving
        leaving = []
        let joined = left.filter { $0.switchToPosterWithPending() }
        for observer in joined { observer.deliverPending() }
    }

    func runAll() {
        while hasJob { run() }
    }

    /// D2: drops what is pending, counted.
    func dropJob() {
        guard hasJob else { return }
        hasJob = false
        let dropped = turns
        turns = []
        for turn in dropped { turn.observer.drop(turn.delivery) }
    }
}
