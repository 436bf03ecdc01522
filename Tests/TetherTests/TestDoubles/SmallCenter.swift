import Foundation
import Testing
import Tether

/// A foreign center: a list of closures, under a lock that is also held during a cancellation.
final class SmallCenter: NotifyingCenter {
    private struct Entry: Sendable {
        let id: Int
        let name: Notification.Name?
        let sender: ObjectIdentifier?
        let handler: @Sendable (Notification) -> Void
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        var registered = 0
        var cancelled: [Int] = []
    }

    private struct Registration: NotifyingRegistration {
        weak let center: SmallCenter?
        let id: Int

        func cancel() { center?.cancel(id) }
    }

    /// Runs a body of the test under its lock, as a center of the user's may do.
    private let state = Locked(State(), rank: nil)
    private let cancellation = Gate()
    /// An action during the next registration.
    private let interruption = Box<(@Sendable () -> Void)?>(nil)

    /// How many closures were registered, in all.
    var registered: Int { state.withLock(\.registered) }

    /// The cancelled registrations, in order.
    var cancelled: [Int] { state.withLock(\.cancelled) }

    var count: Int { state.withLock(\.entries.count) }

    func register(
        name: Notification.Name?, sender: AnyObject?,
        handler: @escaping @Sendable (Notification) -> Void
    ) -> any NotifyingRegistration {
        let sender = sender.map { ObjectIdentifier($0) }
        let id = state.withLock { state in
            state.registered += 1
            state.entries.append(
                Entry(id: state.registered, name: name, sender: sender, handler: handler))
            return state.registered
        }
        let interruption = interruption.value
        self.interruption.set(nil)
        interruption?()
        return Registration(center: self, id: id)
    }

    /// Calls a body once, inside the next registration, when posts can already call the new
    /// closure.
    func interruptRegistration(_ body: @escaping @Sendable () -> Void) { interruption.set(body) }

    /// Releases all closures without a cancellation.
    func forgetAll() {
        let forgotten = state.withLock { state in
            let forgotten = state.entries
            state.entries = []
            return forgotten
        }
        withExtendedLifetime(forgotten) {}
    }

    func post(_ name: Notification.Name, from sender: AnyObject? = nil, number: Int = 0) {
        let notification = Notification(name: name, object: sender, userInfo: ["number": number])
        let identity = sender.map { ObjectIdentifier($0) }
        let matches = state.withLock { state in
            state.entries.filter { entry in
                (entry.name == nil || entry.name == name)
                    && (entry.sender == nil || entry.sender == identity)
            }
        }
        for entry in matches { entry.handler(notification) }
    }

    private func cancel(_ id: Int) {
        let removed = state.withLock { state in
            state.cancelled.append(id)
            let removed = state.entries.filter { $0.id == id }
            state.entries.removeAll { $0.id == id }
            return removed
        }
        withExtendedLifetime(removed) {}
        cancellation.open()
    }

    /// Waits for a number of registrations to be cancelled.
    func waitForCancellations(_ count: Int) {
        for _ in 0..<count { cancellation.pass() }
    }

    /// Does something while the center's own lock is held.
    func whileLocked(_ body: () -> Void) {
        state.withLock { _ in body() }
    }
}
