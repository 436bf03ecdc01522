#if canImport(Combine)

public import Combine
public import Foundation

/// A token can be stored among an object's subscriptions, with `store(in:)`.
extension NotificationObserver: Cancellable {}

extension ObserverCenter {
    /// A publisher of the notifications of a name and a sender, with Foundation's call.
    ///
    /// ```
    /// center.publisher(for: .modelDidChange, object: model)
    ///     .debounce(for: .seconds(1), scheduler: RunLoop.main)
    ///     .sink { note in … }
    ///     .store(in: &subscriptions)
    /// ```
    ///
    /// Each subscription is an observer on the posting thread, and ends when cancelled.
    /// Notifications without a demand are dropped, as by Foundation's publisher. The publisher
    /// retains the sender `object`, and a subscription does not. An operator may keep a
    /// notification for later, so an object that is being deinitialized is left out of it (X3).
    public func publisher(
        for name: Notification.Name, object: AnyObject? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> AnyPublisher<Notification, Never> {
        let site = CallSite(fileID, line, call: "ObserverCenter.publisher(for:object:)")
        return Deferred {
            // SAFETY: a subject takes values on any thread.
            nonisolated(unsafe) let subject = PassthroughSubject<Notification, Never>()
            let token = self.register(name: name, sender: object, at: site) {
                unsafe subject.send($0.withoutEndingObject)
            }
            return unsafe subject.handleEvents(receiveCancel: { token.cancel() })
        }.eraseToAnyPublisher()
    }
}

#endif
