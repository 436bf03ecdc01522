public import Foundation

/// A notification center: it matches posts to observers by name and sender, and calls them.
///
/// ```swift
/// center.observe(.modelDidChange, owner: catalog) {
///     catalog, note in catalog.update(note)
/// }
/// center.post(name: .modelDidChange, object: model)
/// ```
///
/// It has the interface of Foundation's `NotificationCenter`, so moving over is a change of type, and on top of it the
/// `observe` methods of ``NotifyingCenter``, whose observers end by themselves.
///
/// *Delivery*: a post calls, or enqueues on their targets, all matching observers in registration order, each once
/// (M1-M3). An observer that an earlier handler of the same post removed is not
/// called; one added during a post is first called by the next (R4).
///
/// *Thread safety*: everything may be called from any thread, also from inside handlers and from a `deinit`. No lock is
/// held while a handler runs or a value of yours is released (R5, R6).
public final class ObserverCenter: NotifyingCenter, CustomStringConvertible {
    /// The process's shared center.
    public static let `default` = ObserverCenter(usesExactLifetimes: true, face: .shared)

    let core: CenterCore

    /// Makes a center of its own.
    public convenience init() {
        self.init(usesExactLifetimes: true)
    }

    /// A center whose owners' and senders' ends are left to the sweep, for tests of it.
    init(usesExactLifetimes: Bool, face: CenterCore.Face = .own) {
        ProgramEnvironment.isFollowed
        core = CenterCore(usesExactLifetimes: usesExactLifetimes, face: face)
        core.setOwnCenter(ObjectIdentifier(self))
    }

    deinit {
        core.setOwnCenter(nil)
        RegistrationEvents.centerEnds(core) { core.close() }
    }

    /// The number of observers.
    public var description: String { "ObserverCenter with \(core.count) observers" }

    // MARK: Posting

    /// Posts a notification.
    ///
    /// Complexity: O(1), plus O(1) for each observer that is reached, whatever else is registered. Observers on
    /// `.postingThread` have returned when this returns.
    /// - Parameter notification: The notification. Its name and its object are what observers are matched by.
    public func post(_ notification: Notification) {
        core.post(
            name: notification.name, isBare: notification.isBare,
            sender: { notification.object.flatMap(SenderKey.init(any:)) }, notify: { $0(notification) })
    }

    /// Makes a notification and posts it.
    ///
    /// A class instance as `object` matches by identity; a `Hashable` value by equality within its type (M4).
    /// - Parameters:
    ///   - name: The name.
    ///   - object: The object that the post speaks for; `nil` for none.
    ///   - userInfo: What the notification tells beyond that; `nil` for nothing.
    public func post(name: Notification.Name, object: Any?, userInfo: [AnyHashable: Any]? = nil) {
        core.post(
            name: name, isBare: object == nil && userInfo == nil, sender: { object.flatMap(SenderKey.init(any:)) },
            notify: { $0(Notification(name: name, object: object, userInfo: userInfo)) })
    }

    // MARK: NotifyingCenter

    /// Registers a handler of any sender's posts, without an owner or a key, on the posting thread.
    func observeAtOnce(
        _ name: Notification.Name?, flags: UInt32, site: RegistrationSite,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        let observer = NotificationObserver()
        // SAFETY: the core takes the reference over, and gives it back to who ends the registration.
        let registration = unsafe Unmanaged<Registration>.passRetained(
            PlainRegistration(center: core, flags: flags, site: site, handler: handler))
        unsafe registration._withUnsafeGuaranteedRef {
            observer.set($0)
            RegistrationEvents.registered($0, name: name, by: observer)
        }
        unsafe core.add(registration, name: name)
        return observer
    }

    /// The same, with an owner.
    func observeAtOnce<Owner: AnyObject>(
        _ name: Notification.Name?, owner: Owner, flags: UInt32, site: RegistrationSite,
        _ handler: @escaping OwnedRegistration.Handler<Owner>
    ) -> NotificationObserver {
        let observer = NotificationObserver()
        // SAFETY: as above.
        let registration = unsafe Unmanaged.passRetained(
            OwnedRegistration(center: core, details: nil, flags: flags, site: site, handler: handler))
        let isAttached = unsafe registration._withUnsafeGuaranteedRef {
            observer.set($0)
            let isAttached = OwnerTable.shared.attach(observer, to: owner, as: $0, exactly: core.usesExactLifetimes)
            if isAttached { RegistrationEvents.registered($0, name: name, by: observer) }
            return isAttached
        }
        if isAttached {
            unsafe core.add(.fromOpaque(registration.toOpaque()), name: name)
        } else {
            unsafe registration.takeRetainedValue().end()
        }
        return observer
    }

    /// Registers a closure; the `observe` methods are the better way.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained; `nil` for any.
    ///   - handler: What to run, on the posting thread, inside the post.
    public func register(
        name: Notification.Name?, sender: AnyObject?, handler: @escaping @Sendable (Notification) -> Void
    ) -> any NotifyingRegistration {
        let sender = sender.map { SenderFilter.given($0, call: "ObserverCenter.register(name:sender:handler:)") }
        return OwnRegistration(
            observer: observe(
                ObservationRequest(
                    name: name, sender: sender ?? .any, target: .postingThread,
                    site: RegistrationSite(file: #fileID, line: #line)),
                handler))
    }
}

private struct OwnRegistration: NotifyingRegistration {
    let observer: NotificationObserver

    func cancel() { observer.cancel() }
}
