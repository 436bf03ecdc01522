/// The model of a center: a list of observers, in registration order.
final class ReferenceCenter: Counted {
    private(set) var observers: [ReferenceObserver] = []
    var droppedPosts = 0
    /// The observer at which each post under way is, and the observers that ended while one was at them (R8).
    private var posts: [ReferenceObserver?] = []
    /// Beside which it stands, if it does.
    private(set) weak var foreign: ReferenceForeign?
    private var retired: [ReferenceObserver] = []

    init(foreign: ReferenceForeign? = nil) {
        self.foreign = foreign
    }

    // R10
    override func ended() { endAll() }

    func endAll() { endAll(observers, keepingElements: true) }

    /// A post ends on a thread that ends with it.
    func postEnds() { posts.removeLast() }

    /// Calls the observers that match and have not ended meanwhile (M1-M3, R4).
    func post(_ notification: ReferenceNotification) {
        withPost(of: observers.first?.world) {
            for observer in observers where observer.matches(notification) { call(observer, with: notification) }
        }
    }

    /// What a closure does that a foreign center has.
    func deliver(_ notification: ReferenceNotification, to observer: ReferenceObserver) {
        withPost(of: observer.world) { call(observer, with: notification) }
    }

    private func call(_ observer: ReferenceObserver, with notification: ReferenceNotification) {
        posts[posts.count - 1] = observer
        observer.receive(notification)
    }

    private func withPost(of world: ReferenceWorld?, _ body: () -> Void) {
        posts.append(nil)
        world?.levels.begin(.post(self))
        body()
        world?.levels.end()
        posts.removeLast()
        releaseRetired()
    }

    /// Lets go of what posts kept, as far as none is at it any more (R8).
    func releaseRetired() {
        let released = retired.filter { !isCalled($0) }
        retired.removeAll { !isCalled($0) }
        for observer in released { observer.letGo() }
    }

    /// Adds an observer in place of the one with its key (M7).
    func add(_ observer: ReferenceObserver) {
        let replaced = observers.first { $0.key != nil && $0.key == observer.key && $0.owner === observer.owner }
        observers.append(observer)
        foreign?.connect(observer, replacing: replaced)
        replaced?.end()
    }

    /// Takes an observer out; true if what it captured is to be released now.
    func remove(_ observer: ReferenceObserver) -> Bool {
        observers.removeAll { $0 === observer }
        if isCalled(observer) { retired.append(observer) }
        return !isCalled(observer)
    }

    private func isCalled(_ observer: ReferenceObserver) -> Bool { posts.contains { $0 === observer } }

    /// R9: ends those that match all that is given.
    func removeAll(name: Int?, sender: ReferenceSender, owner: ReferenceObject?) {
        endAll(
            (owner.map { owner in owner.attached.filter { $0.center === self } } ?? observers).filter { observer in
                (name == nil || observer.name == name) && (sender == .nobody || observer.sender == sender)
            })
    }

    private func endAll(_ observers: [ReferenceObserver], keepingElements: Bool = false) {
        for observer in observers { observer.hold() }
        for observer in observers { observer.end(keepingElements: keepingElements) }
        for observer in observers { observer.letGo() }
    }

    /// M5: ends those of a sender that has gone, after what is pending for them.
    func endAll(from sender: ReferenceObject) {
        let observers = observers.filter { $0.sender == .object(sender) }
        for observer in observers { observer.hold() }
        for observer in observers { observer.endAfterPending() }
        for observer in observers { observer.letGo() }
    }
}
