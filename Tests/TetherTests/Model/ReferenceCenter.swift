/// The model of a center: a list of observers, in registration order.
class ReferenceCenter: Counted {
    private(set) var observers: [ReferenceObserver] = []
    /// The posts under way, each made in a call of the one before.
    private var posts: [Post] = []

    private final class Post {
        /// The observer that it calls.
        var called: ReferenceObserver?
        /// The observers that ended while it called them, and whose captures it releases (R8).
        var ended: [ReferenceObserver] = []
    }

    // R10
    override func deallocated() {
        for observer in observers { observer.end(keepingElements: true) }
    }

    func post(_ notification: ReferenceNotification) {
        deliver(notification, to: observers.filter { $0.matches(notification) })
    }

    /// M3, D1: submits the blocks, and then calls the observers that the posting thread calls, in
    /// registration order.
    final func deliver(_ notification: ReferenceNotification, to observers: [ReferenceObserver]) {
        let post = Post()
        posts.append(post)
        var submission = ReferenceSubmission()
        var called: [ReferenceObserver] = []
        for observer in observers where observer.takesPosts {
            if !observer.accept(notification, &submission) { called.append(observer) }
        }
        submission.submit()
        for observer in called {
            post.called = observer
            observer.takeTurn(notification)
        }
        posts.removeLast()
        for observer in post.ended { observer.release() }
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
        // R8: the outermost post that calls the observer releases its captures.
        if let post = posts.first(where: { $0.called === observer }) {
            post.ended.append(observer)
        } else {
            observer.release()
        }
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

    /// Each closure is called by itself: one block for each observer (F1).
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

    private final class Entry {
        let notification: ReferenceNotification
        /// Q3: `nil` for an object that was being deinitialised, and is equal to no sender.
        let sender: ReferenceSender?
        let isIdle: Bool

        init(_ enqueued: ReferenceNotification, isIdle: Bool) {
            notification = enqueued.retainedForLater()
            sender = enqueued.sender.object?.isEnding == true ? nil : enqueued.sender
            self.isIdle = isIdle
        }
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
        entries.append(Entry(notification, isIdle: style == .whenIdle))
    }

    func dequeue(_ notification: ReferenceNotification, mask: ModelOperation.Mask) {
        remove { queued in
            let isName = queued.notification.name == notification.name
            let isSender = queued.sender == notification.sender
            return switch mask {
            case .none: false
            case .name: isName
            case .sender: isSender
            case .both: isName && isSender
            }
        }
    }

    func dequeueAll() { for name in 0..<Places.names { remove { $0.notification.name == name } } }

    private func remove(where condition: (Entry) -> Bool) {
        let removed = entries.filter(condition)
        entries.removeAll(where: condition)
        for entry in removed { entry.notification.release() }
    }

    /// Q8: posts the waiting notifications, in order. Q1: asap before idle. Q6: notifications that
    /// handlers enqueue meanwhile wait.
    func flush() {
        let waiting = entries.filter { !$0.isIdle } + entries.filter(\.isIdle)
        for entry in waiting {
            guard let index = entries.firstIndex(where: { $0 === entry }) else { continue }
            entries.remove(at: index)
            center.post(entry.notification)
            entry.notification.release()
        }
    }
}
