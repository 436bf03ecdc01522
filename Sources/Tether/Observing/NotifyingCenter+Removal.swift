public import Foundation

extension NotifyingCenter {
    /// Ends every observer that matches all of what is given, blocks included (R9).
    ///
    /// ```swift
    /// center.removeObservers(named: .modelDidChange)  // of that name
    /// center.removeObservers(from: model)             // of that sender
    /// center.removeObservers(named: .modelDidChange, owner: self)
    /// ```
    ///
    /// An observer of any name, or of any sender, is not one *of* a name or sender. With nothing given, all end.
    /// Complexity: O(observers of the narrower of owner and sender, or of the name).
    /// - Parameters:
    ///   - name: The name that they were registered for; `nil` for whatever name.
    ///   - sender: The sender that they were registered for; leave it out for whatever sender.
    ///   - owner: The owner that they are attached to; leave it out for whatever owner, and for those without one.
    public func removeObservers<Sender: AnyObject, Owner: AnyObject>(
        named name: Notification.Name? = nil, from sender: Sender = Omitted.argument, owner: Owner = Omitted.argument
    ) {
        guard let core = knownCore else { return }
        let key = Omitted.stands(for: sender) ? nil : SenderKey(sender)
        guard !Omitted.stands(for: owner) else {
            return core.endAll(named: name, from: key)
        }
        core.endAll(of: OwnerTable.shared.observers(of: owner), named: name, from: key)
    }
}

extension CenterCore {
    /// Ends the registrations of some observers, as far as they are this center's and match what is given.
    func endAll(of observers: [NotificationObserver], named name: Notification.Name?, from sender: SenderKey?) {
        for observer in observers { end(observer, named: name, from: sender) }
    }

    /// Ends the registration of an observer, if it is this center's and matches what is given.
    func end(_ observer: NotificationObserver, named name: Notification.Name?, from sender: SenderKey?) {
        observer.withMemory { registration in
            guard registration.look({ $0.center === self }) == true else { return }
            if name != nil || sender != nil {
                // Compared outside the look, because a value that is a sender may be of the user's.
                guard let subject = registration.look({ subject(of: $0) }),
                    name == nil || subject.name == name, sender == nil || subject.sender == sender
                else { return }
            }
            registration.end()
        }
    }
}
