internal import Foundation

/// What one call of `observe(...)` asks for, apart from its owner and its handler.
struct ObservationRequest {
    let name: Notification.Name?
    let sender: SenderFilter
    let target: DeliveryTarget
    let once: Bool
    let key: AnyHashable?
    let site: RegistrationSite
    /// Whether the handler is isolated, so that its target is not to be switched.
    let isIsolated: Bool

    init(
        name: Notification.Name?, sender: SenderFilter, target: DeliveryTarget, isIsolated: Bool = false,
        once: Bool = false, key: AnyHashable? = nil, site: RegistrationSite
    ) {
        self.name = name
        self.sender = sender
        self.target = target
        self.isIsolated = isIsolated
        self.once = once
        self.key = key
        self.site = site
    }

    /// What the parameters of an `observe` method ask for.
    init(
        _ name: Notification.Name?, from sender: AnyObject, on target: DeliveryTarget, isIsolated: Bool = false,
        once: Bool, key: (any Hashable)?, at file: StaticString, _ line: UInt
    ) {
        let key = key.map { AnyHashable($0) }
        guard key == key else {
            fatalError(
                "observe(_:key:): the key \(String(reflecting: key?.base ?? "")) is not equal to itself, so no observer "
                    + "could ever be found by it; pass a key that is.")
        }
        self.init(
            name: name, sender: sender === AnySender.any ? .any : .object(sender), target: target,
            isIsolated: isIsolated, once: once, key: key,
            site: RegistrationSite(file: file, line: line))
    }

    /// The target of a handler with an isolation of its own, which overrides the one that was asked for (P1).
    static func target(_ target: DeliveryTarget, isolation: (any Actor)?) -> DeliveryTarget {
        isolation.map { $0 === MainActor.shared ? .main : DeliveryTarget(kind: .actor($0)) } ?? target
    }

    /// Registers a handler with a center, for an observer that is attached to an owner or to nothing.
    ///
    /// The observer stays inactive if its owner or sender is being deinitialised (O8, M5).
    func register(
        _ observer: NotificationObserver, with center: some NotifyingCenter, attachedTo owner: OwnerRecord?,
        handler: @escaping Registration.Handler
    ) {
        let own = center.own
        let foreign = own == nil ? ForeignReceiver() : nil
        let core = own?.core ?? ForeignCenters.shared.core(of: center)
        var senderRecord: OwnerRecord?
        if case .object(let object) = sender {
            senderRecord = OwnerTable.shared.reserve(object, exactly: core.usesExactLifetimes)
            guard senderRecord != nil else {
                // One that is configured anew is idle then, too.
                observer.stop()
                if let owner { OwnerTable.shared.cancel(owner) }
                if let foreignCenter = core.foreignCenter { ForeignCenters.shared.release(foreignCenter) }
                return
            }
        }
        let registration = Registration(
            center: core, route: Route(to: target), details: details(owner, senderRecord, foreign), isOnce: once,
            isIsolated: isIsolated, site: site, handler: handler)
        // All that an end undoes is done before anyone can end it: by the token, the owner's list or the center.
        if let senderRecord { OwnerTable.shared.watchSender(senderRecord, for: core) }
        observer.set(registration)
        if let attachment = registration.details?.attachment {
            OwnerTable.shared.attach(observer, to: attachment.record, as: attachment)
        }
        RegistrationWatch.registered(registration, as: self, by: observer)
        core.add(registration, name: name, sender: sender.key)
        if let foreign { receive(from: center, for: registration, through: foreign) }
    }

    private func details(
        _ owner: OwnerRecord?, _ sender: OwnerRecord?, _ foreign: ForeignReceiver?
    ) -> Registration.Details? {
        if owner == nil, sender == nil, key == nil, foreign == nil, case .any = self.sender { return nil }
        return Registration.Details(
            attachment: owner.map(Attachment.init), sender: sender, senderDescription: senderDescription,
            key: key.map { ObserverKey(owner: owner?.identity, key: $0) }, foreign: foreign)
    }

    private func receive(
        from center: any NotifyingCenter, for registration: Registration, through foreign: ForeignReceiver
    ) {
        foreign.open(for: registration)
        if registration.hasEnded { foreign.end() }
        let sender: AnyObject? = if case .object(let object) = sender { object } else { nil }
        foreign.setCancellation(
            center.register(name: name, sender: sender) { [foreign] notification in foreign.receive(notification) })
    }

    private var senderDescription: String? {
        switch sender {
        case .any: nil
        case .object(let object): describeInstance(object)
        case .value(_, let description): description
        }
    }
}

/// An object's type and address; its own description is not asked for.
func describeInstance(_ object: AnyObject) -> String {
    describeInstance(of: type(of: object), at: ObjectIdentifier(object))
}

/// The type and address of an object that may have gone.
func describeInstance(of type: AnyClass, at identity: ObjectIdentifier) -> String {
    "\(type) 0x\(String(UInt(bitPattern: identity), radix: 16))"
}
