/// The model of a center: a list of observers, in registration order.
class ReferenceCenter: Counted {
    private(set) var observers: [ReferenceObserver] = []
    /// The observer that each post under way is calling, and the observers that ended meanwhile
    /// (R8).
    private var calls: [ReferenceObserver] = []
    /// Each with how many had been retired before it.
    private var retired: [(observer: ReferenceObserver, number: Int)] = []
    private var retirements = 0

    // R10
    override func deallocated() {
        for observer in observers { observer.end(keepingElements: true) }
    }

    func post(_ notification: ReferenceNotification) {
        deliver(notification, to: observers.filter { $0.matches(notification) })
    }

    /// Submits the jobs, and then calls the observers that the posting thread calls, in
    /// registration order (M3, D1).
    final func deliver(_ notification: ReferenceNotification, to observers: [ReferenceObserver]) {
        let began = retirements
        unsafe ReferenceDepth.current += 1
        var jobs = ReferenceJobs()
        let called = observers.filter { $0.receive(notification, in: &jobs) }
        jobs.submit()
        for observer in called {
            calls.append(observer)
            var jobs = ReferenceJobs()
            if observer.receive(notification, in: &jobs, mayCall: true) {
                observer.handle(notification)
            }
            jobs.submit()
            calls.removeLast()
        }
        unsafe ReferenceDepth.current -= 1
        releaseRetired(since: began)
    }

    /// Releases the observers that ended in the post that has ended now, and that no other post is
    /// calling (R8).
    private func releaseRetired(since began: Int) {
        let isLeft = { [self] (observer: ReferenceObserver, number: Int) in
            number < began || calls.contains { $0 === observer }
        }
        let released = retired.filter { !isLeft($0.observer, $0.number) }
        retired.removeAll { !isLeft($0.observer, $0.number) }
        for retired in released { retired.observer.release() }
    }

    /// Adds an observer in place of the one with its key (M7).
    final func add(_ observer: ReferenceObserver) {
        let replaced = observers.first {
            $0.key != nil && $0.key == observer.key && $0.owner === observer.owner
        }
        observers.append(observer)
        replaced?.end()
        if observers.contains(where: { $0 === observer }) { added(observer) }
    }

    final func remove(_ observer: ReferenceObserver) {
        observers.removeAll { $0 === observer }
        removed(observer)
        guard calls.contains(where: { $0 === observer }) else { return observer.release() }
        retired.append((observer, retirements))
        retirements += 1
    }

    func added(_ observer: ReferenceObserver) {}
    func removed(_ observer: ReferenceObserver) {}

    /// R9: ends the observers that match all that is given.
    final func removeAll(name: Int?, sender: ReferenceSender, owner: ReferenceObject?) {
        for observer in owner?.attached ?? observers
        where observer.center === self && (name == nil || observer.name == name)
            && (sender == .nobody || observer.sender == sender)
        {
            observer.end()
        }
    }
}

/// The model of observers over a foreign center: a list of closures, one for each observer, called
/// in order (F1, F2).
final class ReferenceForeign: ReferenceCenter {
    private var closures: [Closure] = []

    final class Closure { fileprivate var observer: ReferenceObserver? }

    var closureCount: Int { closures.count }

    /// Each closure is called by itself: one job for each observer.
    override func post(_ notification: ReferenceNotification) {
        for closure in closures.filter({ $0.observer?.matches(notification) == true }) {
            if let observer = closure.observer { deliver(notification, to: [observer]) }
        }
    }

    override func added(_ observer: ReferenceObserver) {
        let closure = Closure()
        closure.observer = observer
        closures.append(closure)
        observer.closure = closure
    }

    override func removed(_ observer: ReferenceObserver) {
        guard let closure = observer.closure.take() else { return }
        closure.observer = nil
        closures.removeAll { $0 === closure }
    }
}

/// The model of a posting queue that is flushed by hand (Q1, Q3, Q4, Q8).
final class ReferenceQueue: Counted {
    private let center: ReferenceCenter
    private var entries: [Entry] = []
    private var enqueued = 0

    private struct Entry {
        let notification: ReferenceNotification
        let isIdle: Bool
        let place: Int
    }

    init(center: ReferenceCenter) {
        self.center = center
        center.retain()
    }

    override func deallocated() {
        center.release()
    }

    func count(isIdle: Bool) -> Int { entries.count { $0.isIdle == isIdle } }

    func enqueue(
        _ notification: ReferenceNotification, style: ModelOperation.Style,
        mask: ModelOperation.Mask
    ) {
        dequeue(notification, mask: mask)
        guard style != .now else { return center.post(notification) }
        enqueued += 1
        entries.append(
            Entry(
                notification: notification.retainedForLater(), isIdle: style == .whenIdle,
                place: enqueued))
    }

    func dequeue(_ notification: ReferenceNotification, mask: ModelOperation.Mask) {
        remove { queued in
            let (isName, isSender) = (
                queued.name == notification.name, queued.sender == notification.sender
            )
            return switch mask {
            case .none: false
            case .name: isName
            case .sender: isSender
            case .both: isName && isSender
            }
        }
    }

    func dequeueAll() { for name in 0..<Places.names { remove { $0.name == name } } }

    private func remove(where condition: (ReferenceNotification) -> Bool) {
        let removed = entries.map(\.notification).filter(condition)
        entries.removeAll { condition($0.notification) }
        for notification in removed { notification.release() }
    }

    /// Posts what waits, asap before idle; what handlers enqueue meanwhile waits.
    func flush() {
        let limit = enqueued
        for isIdle in [false, true] {
            while let index = entries.firstIndex(where: { $0.isIdle == isIdle && $0.place <= limit }
            ) {
                let notification = entries.remove(at: index).notification
                center.post(notification)
                notification.release()
            }
        }
    }
}
