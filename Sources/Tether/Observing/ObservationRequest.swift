internal import Foundation

/// The arguments of one call of `observe(...)`, apart from its owner and its handler.
struct ObservationRequest {
    let name: Notification.Name?
    let sender: SenderFilter
    /// The target; `nil` for the posting thread.
    private let target: BoundTarget?
    private let flags: UInt32
    let key: ObserverKey?
    let site: RegistrationSite
    /// The call itself, for the sentence that refuses what it was given: by itself the function that asks.
    let call: StaticString
    /// The first of the hooks, which is a list of them.
    private(set) var hooks: RegistrationHook?

    /// `isIsolated`: whether the handler is, so that its target is not to be switched.
    @inline(__always)
    init(
        name: Notification.Name?, sender: SenderFilter, target: borrowing DeliveryTarget, isIsolated: Bool = false,
        once: Bool = false, key: ObserverKey? = nil, site: RegistrationSite, call: StaticString = #function
    ) {
        self.name = name
        self.sender = sender
        self.target = target.isPoster ? nil : .bind(copy target)
        flags = (once ? Registration.State.once : 0) | (isIsolated ? Registration.State.isolated : 0)
        self.key = key
        self.site = site
        self.call = call
    }

    /// A request from the parameters of an `observe` method.
    @inline(__always)
    init<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: borrowing Sender, on target: borrowing DeliveryTarget,
        isIsolated: Bool = false, once: Bool, key: borrowing (any Hashable)?, at file: StaticString, _ line: UInt,
        call: StaticString = #function
    ) {
        // Asked first, because a copy of none costs a call, too.
        let observerKey: ObserverKey? = if key == nil { nil } else { ObserverKey((copy key)!) }
        self.init(
            name: name, sender: .given(copy sender, call: call), target: target, isIsolated: isIsolated, once: once,
            key: observerKey, site: RegistrationSite(file: file, line: line), call: call)
    }

    /// Puts a hook in front of the others.
    mutating func add(_ hook: RegistrationHook) { hooks = hook.followed(by: hooks) }

    /// Registers a handler with a center, for an observer that only its token holds.
    ///
    /// With a receiver, which is not being deinitialised, the observer ends with that one, too. It stays inactive if its
    /// sender is being deinitialised (M5).
    func register(
        _ observer: NotificationObserver, with center: any NotifyingCenter, receiver: AnyObject? = nil,
        handler: @escaping @Sendable (Notification) -> Void
    ) {
        register(observer, with: center, owner: nil, receiver: receiver) { [flags, site] core, details in
            PlainRegistration(center: core, details: details, flags: flags, site: site, handler: handler)
        }
    }

    /// Registers a handler with a center, for an observer that is attached to an owner.
    ///
    /// With a receiver, which is not being deinitialised, the observer ends with that one, too. It stays inactive if its
    /// owner or sender is being deinitialised (O8, M5).
    func register<Owner: AnyObject>(
        _ observer: NotificationObserver, with center: any NotifyingCenter, owner: Owner, receiver: AnyObject? = nil,
        handler: @escaping OwnedRegistration.Handler<Owner>
    ) {
        ObjectArgument.owner.check(owner, call: call)
        register(observer, with: center, owner: owner, receiver: receiver) { [flags, site] core, details in
            OwnedRegistration(center: core, details: details, flags: flags, site: site, handler: handler)
        }
    }

    private func register(
        _ observer: NotificationObserver, with center: any NotifyingCenter, owner: AnyObject?, receiver: AnyObject?,
        making make: (CenterCore, Registration.Details?) -> Registration
    ) {
        let ownCore = center.ownCore
        let core = ownCore ?? ForeignCenters.shared.core(of: center)
        let foreign = ownCore == nil ? ForeignReceiver(of: core) : nil
        if foreign != nil { ProgramEnvironment.isFollowed }
        let receiverHook = receiver.map { _ in ReceiverHook() }
        var senderRecord: OwnerRecord?
        if case .object(let object) = sender {
            senderRecord = OwnerTable.shared.watchSender(object, for: core)
            guard senderRecord != nil else {
                // An observer that is configured anew is idle then, too.
                observer.cancel()
                if let foreignCenter = core.foreignCenter { ForeignCenters.shared.release(foreignCenter) }
                return
            }
        }
        var hooks = hooks
        if let receiverHook { hooks = receiverHook.followed(by: hooks) }
        if let foreign { hooks = foreign.followed(by: hooks) }
        let registration = make(
            core,
            senderRecord == nil && key == nil && hooks == nil
                ? nil : Registration.Details(sender: senderRecord, key: key?.of(owner), hooks: hooks))
        if let target { registration.makePending(on: target) }
        // All that an end undoes is done before anyone can end it: by the token, the owner's list or the center.
        if let receiver, let receiverHook { receiverHook.tie(registration, to: receiver) }
        // Nobody else has a token before its owner lists it. A property may be stopped by any thread that has it, but this
        // registration only when it is set.
        if !observer.isProperty { observer.set(registration) }
        var isAttached = true
        if let owner, let owned = registration.owned {
            isAttached = OwnerTable.shared.attach(observer, to: owner, as: owned, exactly: core.usesExactLifetimes)
        }
        guard isAttached else {
            // What a property had ends all the same.
            if observer.isProperty { observer.cancel() }
            return registration.end()
        }
        func add(replacing former: [Unretained<Registration>] = []) {
            RegistrationEvents.registered(registration, name: name, by: observer)
            core.add(registration, name: name, sender: sender.key, replacing: former)
        }
        if let property = observer.property {
            property.replaceCurrent(with: registration) { add(replacing: $0) }
        } else {
            add()
        }
        if let foreign { connect(registration, with: center, through: foreign) }
    }

    private func connect(
        _ registration: Registration, with center: any NotifyingCenter, through foreign: ForeignReceiver
    ) {
        let sender: AnyObject? = if case .object(let object) = sender { object } else { nil }
        foreign.connect(Unretained(registration), with: center, name: name, sender: sender)
    }
}
