/// The model of a foreign center: a list of closures, one for each observer, called in order.
final class ReferenceForeign: Counted {
    private var closures: [Closure] = []
    /// What stands beside it, as long as it has observers.
    private var core: ReferenceCenter?

    final class Closure {
        fileprivate var observer: ReferenceObserver?

        fileprivate init(_ observer: ReferenceObserver) {
            self.observer = observer
        }
    }

    var observers: [ReferenceObserver] { core?.observers ?? [] }
    var closureCount: Int { closures.count }

    /// R10: its observers end with it.
    override func ended() { core?.endAll() }

    /// The core with which an observer is registered.
    func registration() -> ReferenceCenter {
        let known = core ?? ReferenceCenter(foreign: self)
        core = known
        return known
    }

    /// Gives an observer a closure, or that of the observer which it replaces, if the same posts call that one (M7).
    func connect(_ observer: ReferenceObserver, replacing old: ReferenceObserver?) {
        if let old, old.name == observer.name, old.sender == observer.sender {
            observer.closure = old.closure
            old.closure = nil
            observer.closure?.observer = observer
        } else {
            let closure = Closure(observer)
            observer.closure = closure
            closures.append(closure)
        }
    }

    /// F2: what an observer that has ended had is emptied, and taken off.
    func disconnect(_ observer: ReferenceObserver) {
        if let closure = observer.closure {
            closure.observer = nil
            closures.removeAll { $0 === closure }
            observer.closure = nil
        }
        if core?.observers.isEmpty == true { core = nil }
    }

    /// Calls the closures that there are.
    func post(_ notification: ReferenceNotification) {
        let matches = closures.filter { $0.observer?.matches(notification) == true }
        for closure in matches {
            if let observer = closure.observer { observer.center.deliver(notification, to: observer) }
        }
    }
}
