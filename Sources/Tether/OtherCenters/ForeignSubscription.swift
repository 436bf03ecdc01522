internal import Dispatch
internal import Foundation

/// The link between an observer and a foreign center. The observer ends without a call of the
/// center (F2).
///
/// The center gets only a closure with a box. The observer's end empties the box. `unsubscriber`
/// removes the closure later, where no lock of the center can be held. A box that is deallocated
/// before it was emptied ends the observer: the center, or other code by mistake, released the
/// closure.
///
/// SAFETY: the lock protects `state`; all else is constant.
final class ForeignSubscription: RegistrationHook, @unchecked Sendable {
    struct State: ~Copyable, Sendable {
        /// The box, which lives as long as the center, or a post under way, has the closure.
        var box: ObjectReference<ForeignClosure>?
        /// The removal of the closure, called at most once.
        var cancellation: (any NotifyingRegistration)?
    }

    /// Runs calls that must not run under a lock of a foreign center.
    static let unsubscriber = DispatchQueue(label: "Tether.ForeignSubscription")

    private let core: CenterCore
    /// The sender that is a value. The center has a closure for any sender then.
    private let value: TypedValue?
    let state = Locked(State())

    init(of core: CenterCore, value: TypedValue?) {
        self.core = core
        self.value = value
    }

    override var prepares: Bool { value != nil }

    override func prepare(_ notification: Notification, for registration: Registration)
        -> Notification?
    {
        guard let value else { return notification }
        guard let object = notification.object, value.matches(object) else { return nil }
        return notification
    }

    /// Registers a closure with the center.
    func connect(
        _ registration: Unowned<Registration>, with center: any NotifyingCenter,
        name: Notification.Name?,
        sender: AnyObject?
    ) {
        let box = ForeignClosure(registration, of: core)
        state.withLock { $0.box = ObjectReference(box) }
        let cancellation = center.register(name: name, sender: sender) { [box] in box.receive($0) }
        state.withLock { $0.cancellation = cancellation }
        if registration.live == nil { unsubscribeLater() }
    }

    /// Ends the link: empties the box.
    override func ended(_ registration: Registration, because cause: EndCause) {
        let (box, isRegistered) = state.withLock { ($0.box?.retained, $0.cancellation != nil) }
        box?.empty()
        if isRegistered { unsubscribeLater() }
        ForeignCenters.shared.release(registration.center)
    }

    private func unsubscribeLater() {
        ForeignSubscription.unsubscriber.async { [self] in unsubscribe() }
    }

    /// Removes the closure, unless it is known that the center has it no more. Then the removal
    /// might remove a stranger's closure, because Foundation reuses the keys of its tokens.
    private func unsubscribe() {
        let (cancellation, box) = state.withLock { ($0.cancellation.take(), $0.box?.retained) }
        box?.empty()
        if box != nil { cancellation?.cancel() }
    }
}

/// The box: all that a foreign center's closure captures of an observer.
///
/// The registration is retained only while a post of the center calls the closure (R8).
final class ForeignClosure: Sendable {
    private let core: CenterCore
    private let content: Locked<Unowned<Registration>?>

    init(_ registration: Unowned<Registration>, of core: CenterCore) {
        self.core = core
        content = Locked(registration)
    }

    deinit {
        guard let lost = content.withLock({ $0.take() }) else { return }
        if ForeignCenters.shared.hasEnded(core) {
            // No thread can be inside a center that is being deallocated.
            core.closeAtCenterEnd()
        } else {
            // The center may hold its lock here.
            ForeignSubscription.unsubscriber.async { lost.live?.end() }
        }
    }

    func receive(_ notification: Notification) {
        if let registration = content.withLock(\.self) {
            CenterCore.deliver(notification, to: registration)
        }
    }

    func empty() { content.withLock { $0 = nil } }
}

/// The cores beside foreign centers, for keys, removal and audits. A core is listed while the
/// center has observers.
final class ForeignCenters: Sendable {
    static let shared = ForeignCenters()

    /// A class, because with the Objective-C runtime a copy of a weak reference retains the center
    /// for a moment, which may release the center under the lock.
    /// SAFETY: `uses` is protected by the lock of `entries`; all else is constant.
    private final class Entry: @unchecked Sendable {
        let core: CenterCore
        /// Reserves the center's address on Linux. With the Objective-C runtime the reference is
        /// weak, and shows that another center has the address.
        let center: ObjectReference<AnyObject>
        let type: AnyClass
        var uses = 1

        init(core: CenterCore, center: ObjectReference<AnyObject>, type: AnyClass) {
            self.core = core
            self.center = center
            self.type = type
        }
    }

    /// Held while a core is made, which takes the locks of cores.
    private let entries = Locked<[ObjectIdentifier: Entry]>([:], rank: .outer)

    /// The core of a center that the caller retains. A `release` matches each call.
    func acquireCore(of center: any NotifyingCenter) -> CenterCore {
        let identity = ObjectIdentifier(center)
        // Before the lock, because a weak reference calls a method of the center's class (R6).
        let reference = isBeingDeinitialised(center) ? nil : ObjectReference<AnyObject>(center)
        let earlier = entry(at: identity).flatMap { isEarlier($0, than: center) ? $0.core : nil }
        let (core, replaced) = entries.withLock { entries in
            if let known = entries[identity], known.core !== earlier {
                known.uses += 1
                return (known.core, nil as Entry?)
            }
            let core = CenterCore(.foreign(identity))
            guard let reference else { return (core, nil) }
            let entry = Entry(core: core, center: reference, type: Swift.type(of: center))
            return (core, entries.updateValue(entry, forKey: identity))
        }
        // Released without the lock.
        withExtendedLifetime(replaced) {}
        return core
    }

    private func entry(at identity: ObjectIdentifier) -> Entry? {
        entries.withLock { $0[identity] }
    }

    /// Whether the entry at a center's address is an earlier center's. That one had observers at
    /// its end, and its entry stays until its closures are released, perhaps by a post on another
    /// thread. The entry of a center that is being deinitialized is its own.
    ///
    /// Asked without the lock, as in `acquireCore(of:)`.
    private func isEarlier(_ entry: Entry, than center: any NotifyingCenter) -> Bool {
        entry.center.hasEnded && !isBeingDeinitialised(center)
    }

    /// Has no effect for a core beside a center of Tether's, or beside a center that was being
    /// deallocated at the registration. Another center may have that center's address by now.
    func release(_ core: CenterCore) {
        guard let center = core.foreignCenter else { return }
        let unused = entries.withLock { entries -> Entry? in
            guard let entry = entries[center], entry.core === core else { return nil }
            entry.uses -= 1
            return entry.uses == 0 ? entries.removeValue(forKey: center) : nil
        }
        // Released without the lock.
        withExtendedLifetime(unused) {}
    }

    /// The core of a center with observers, which the caller retains.
    func knownCore(of center: any NotifyingCenter) -> CenterCore? {
        guard let entry = entry(at: ObjectIdentifier(center)), !isEarlier(entry, than: center)
        else {
            return nil
        }
        return entry.core
    }

    /// The cores of all foreign centers with observers.
    var cores: [CenterCore] { entries.withLock { $0.values.map(\.core) } }

    /// Whether the center beside a core was, or is being, deallocated.
    func hasEnded(_ core: CenterCore) -> Bool { entry(of: core)?.center.hasEnded ?? true }

    /// The name of a foreign center in audits.
    func description(of core: CenterCore) -> String {
        guard let identity = core.foreignCenter, let entry = entry(of: core) else {
            return "a deallocated center"
        }
        return identity == ObjectIdentifier(NotificationCenter.default)
            ? "NotificationCenter.default" : describeInstance(of: "\(entry.type)", at: identity)
    }

    private func entry(of core: CenterCore) -> Entry? {
        let found = core.foreignCenter.flatMap { entry(at: $0) }
        return found?.core === core ? found : nil
    }
}
