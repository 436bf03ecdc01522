internal import Dispatch
internal import Foundation

/// The link between an observer and a foreign center. The observer ends without a call of the center (F2).
///
/// The center gets only a closure with a box. The observer's end empties the box. `DeferredUnsubscriber` removes the
/// closure later, where no lock of the center can be held. A box that is deallocated before it was emptied reports that
/// the center released the closure on its own.
///
/// SAFETY: the lock protects all state of the subclass.
final class ForeignSubscription: RegistrationHook, @unchecked Sendable {
    private struct State: ~Copyable, Sendable {
        /// The box, which lives as long as the center has the closure.
        var box: OwnerReference<ForeignClosure>?
        /// The removal of the closure, called at most once, by the thread that takes `cancellation` from here.
        var cancellation: (any NotifyingRegistration)?
        var hasEnded = false
    }

    private let core: CenterCore
    private let state = Locked(State())

    init(of core: CenterCore) {
        self.core = core
    }

    /// Whether the center has a closure, with a full or an emptied box.
    var isKept: Bool { state.withLock { $0.box?.take() } != nil }

    /// Registers with the center, unless the observer has ended or the center has a closure of the observer. Such a
    /// closure was taken over, or replaced a lost closure.
    func connect(
        _ registration: Unowned<Registration>, with center: any NotifyingCenter, name: Notification.Name?,
        sender: AnyObject?
    ) {
        let box = ForeignClosure(registration, of: core)
        // An earlier box and the cancellation of a lost closure are released without the lock.
        let (isOpen, forgone) = state.withLock { state -> (Bool, (ForeignClosure?, (any NotifyingRegistration)?)) in
            let known = state.box?.take()
            if state.hasEnded || known != nil { return (false, (known, nil)) }
            state.box = OwnerReference(box)
            return (true, (nil, state.cancellation.take()))
        }
        withExtendedLifetime(forgone) {}
        guard isOpen else { return box.empty() }
        let cancellation = center.register(name: name, sender: sender) { [box] notification in
            box.receive(notification)
        }
        let hasEnded = state.withLock { state in
            state.cancellation = cancellation
            return state.hasEnded
        }
        if hasEnded { DeferredUnsubscriber.shared.add(.emptied(self)) }
        // The box lives until the cancellation is stored. Otherwise a closure lost meanwhile would be removed in its
        // successor's place.
        withExtendedLifetime(box) {}
    }

    /// The link of a registration with a foreign center.
    static func of(_ registration: Registration) -> ForeignSubscription? {
        registration.details?.hooks?.first { $0 is ForeignSubscription } as? ForeignSubscription
    }

    /// Takes the old observer's closure over. A call of the closure delivers to exactly one of the two observers (M7).
    override func takeOver(from old: Registration, for registration: Registration) {
        guard let old = ForeignSubscription.of(old) else { return }
        let (box, cancellation) = old.state.withLock { state -> (ForeignClosure?, (any NotifyingRegistration)?) in
            // An old observer that is still registering gets an empty closure, and removes the closure itself.
            guard !state.hasEnded, state.cancellation != nil, let box = state.box?.take() else { return (nil, nil) }
            // Its end follows, and until then it is not to register another closure, which its thread may come to just now.
            state.hasEnded = true
            state.box = nil
            return (box, state.cancellation.take())
        }
        guard let box, let cancellation else { return }
        state.withLock { state in
            state.box = OwnerReference(box)
            state.cancellation = cancellation
        }
        box.set(Unowned(registration))
    }

    override func ended(_ registration: Registration) {
        end()
        registration.center.foreignCenter.map(ForeignCenters.shared.release)
    }

    /// Ends the link: empties the box.
    func end() {
        let (box, isRegistered) = state.withLock { state in
            state.hasEnded = true
            return (state.box?.take(), state.cancellation != nil)
        }
        box?.empty()
        if isRegistered { DeferredUnsubscriber.shared.add(.emptied(self)) }
    }

    /// Removes the closure if the center still has it. Otherwise the removal might remove a stranger's closure.
    func takeOff() {
        let (cancellation, box) = state.withLock { ($0.cancellation.take(), $0.box?.take()) }
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
            Events.centerEnds(core) { core.close() }
        } else {
            // The center may hold its lock here, so `DeferredUnsubscriber` handles a registration that is still live.
            DeferredUnsubscriber.shared.add(.lost(lost, of: core))
        }
    }

    func receive(_ notification: Notification) {
        guard let registration = content.withLock(\.self) else { return }
        CenterCore.deliver(notification, to: registration)
    }

    func empty() { set(nil) }

    func set(_ registration: Unowned<Registration>?) { content.withLock { $0 = registration } }
}

/// Calls foreign centers about ended observers, on a queue where no lock of a center can be held (F2).
final class DeferredUnsubscriber: Sendable {
    static let shared = DeferredUnsubscriber()

    enum Removal: Sendable {
        /// An observer has ended, and the closure is to be removed.
        case emptied(ForeignSubscription)
        /// A center released the closure of an observer that had not ended.
        case lost(Unowned<Registration>, of: CenterCore)
    }

    let queue = DispatchQueue(label: "Tether.DeferredUnsubscriber")
    private let removals = Locked<[Removal]>([])

    /// Adds a removal to the queue. A burst costs one wake-up.
    func add(_ removal: Removal) {
        let isFirst = removals.withLock { removals in
            removals.append(removal)
            return removals.count == 1
        }
        if isFirst { queue.async { [self] in run() } }
    }

    /// Makes all removals, on the queue.
    func run() {
        let removals = removals.withLock { removals in
            let taken = removals
            removals = []
            return taken
        }
        for removal in removals {
            switch removal {
            case .emptied(let receiver): receiver.takeOff()
            case .lost(let registration, let core): DeferredUnsubscriber.recover(registration, of: core)
            }
        }
    }

    /// Registers a live observer again if Foundation's center lost the closure. On any other center, ends the observer.
    ///
    /// Foundation reuses the keys of its tokens, so code that removes a token twice may remove a token of Tether.
    private static func recover(_ lost: Unowned<Registration>, of core: CenterCore) {
        guard let registration = lost.live else { return }
        guard let subject = core.subject(of: registration),
            let center = ForeignCenters.shared.center(of: core) as? NotificationCenter
        else { return registration.end() }
        let watched = registration.details?.sender
        let sender = watched?.reference.take()
        // A sender that is being deinitialised posts only in its `deinit`, and ends the observer.
        if watched != nil, sender == nil { return }
        ForeignSubscription.of(registration)?.connect(lost, with: center, name: subject.name, sender: sender)
    }
}

/// The cores beside foreign centers, for keys, removal and audits. A core is listed while the center has observers.
final class ForeignCenters: Sendable {
    static let shared = ForeignCenters()

    private struct Entry: Sendable {
        let core: CenterCore
        /// Keeps the center's address from being reused.
        let center: OwnerReference<AnyObject>
        let type: AnyClass
        var uses: Int
    }

    private let entries = Locked<[ObjectIdentifier: Entry]>([:])

    /// The core of a center that the caller retains. A `release` matches each call.
    func core(of center: any NotifyingCenter) -> CenterCore {
        let identity = ObjectIdentifier(center)
        return entries.withLock { entries in
            if let known = entries[identity] {
                entries[identity]?.uses += 1
                return known.core
            }
            let core = CenterCore(usesExactLifetimes: true, face: .foreign(identity))
            if !isBeingDeinitialised(center) {
                let reference = OwnerReference<AnyObject>(center)
                entries[identity] = Entry(core: core, center: reference, type: Swift.type(of: center), uses: 1)
            }
            return core
        }
    }

    func release(_ center: ObjectIdentifier) {
        let unused = entries.withLock { entries -> Entry? in
            entries[center]?.uses -= 1
            return entries[center]?.uses == 0 ? entries.removeValue(forKey: center) : nil
        }
        withExtendedLifetime(unused) {}
    }

    // MARK: Looking

    /// The core of a center with observers.
    func knownCore(of center: any NotifyingCenter) -> CenterCore? {
        entries.withLock { $0[ObjectIdentifier(center)]?.core }
    }

    /// The cores of all foreign centers with observers.
    var cores: [CenterCore] { entries.withLock { $0.values.map(\.core) } }

    /// The center beside a core; `nil` if the center was, or is being, deallocated.
    func center(of core: CenterCore) -> (any NotifyingCenter)? {
        entry(of: core)?.center.take() as? any NotifyingCenter
    }

    /// Whether the center beside a core was, or is being, deallocated.
    func hasEnded(_ core: CenterCore) -> Bool { entry(of: core)?.center.hasEnded ?? true }

    /// The name of a foreign center in audits.
    func description(of core: CenterCore) -> String {
        guard let identity = core.foreignCenter, let entry = entry(of: core) else { return "a center that has gone" }
        return identity == ObjectIdentifier(NotificationCenter.default)
            ? "NotificationCenter.default" : describeInstance(of: entry.type, at: identity)
    }

    private func entry(of core: CenterCore) -> Entry? {
        entries.withLock { entries in
            guard let identity = core.foreignCenter, let entry = entries[identity], entry.core === core else {
                return nil
            }
            return entry
        }
    }
}
