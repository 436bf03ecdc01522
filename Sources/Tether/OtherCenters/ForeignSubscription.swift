internal import Dispatch
internal import Foundation

/// The link between an observer and a foreign center: it ends without a call of that center (F2).
///
/// All that the center gets is a closure with a box in it. The observer's end empties the box; the closure is taken off
/// later, by `DeferredUnsubscriber`, where none of the center's locks can be held. And the box's own end tells that the center
/// let the closure go unasked.
///
/// SAFETY: all that it adds is under the lock.
final class ForeignSubscription: RegistrationHook, @unchecked Sendable {
    private struct State: ~Copyable, Sendable {
        /// Lives as long as the center has the closure.
        var box: OwnerReference<ForeignClosure>?
        /// The removal of the closure, which is called at most once, by whoever takes it from here.
        var cancellation: (any NotifyingRegistration)?
        var hasEnded = false
    }

    private let core: CenterCore
    private let state = Guarded(State())

    init(of core: CenterCore) {
        self.core = core
    }

    /// Whether the center has a closure, emptied or not.
    var isKept: Bool { state.withLock { $0.box?.take() } != nil }

    /// Registers with the center, unless the observer has ended, or the center has a closure of it: one that it has taken
    /// over, or got when an earlier one had been lost.
    func connect(
        _ registration: Unowned<Registration>, with center: any NotifyingCenter, name: Notification.Name?,
        sender: AnyObject?
    ) {
        let box = ForeignClosure(registration, of: core)
        // Neither another's box nor the cancellation of a closure that the center lost is to go under the lock.
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
        // Until the cancellation is known, or one that was lost meanwhile would be taken off in its successor's place.
        withExtendedLifetime(box) {}
    }

    /// The link of a registration, if its center is a foreign one.
    static func of(_ registration: Registration) -> ForeignSubscription? {
        registration.details?.hooks?.first { $0 is ForeignSubscription } as? ForeignSubscription
    }

    /// Takes the closure over: what a post calls once delivers to exactly one of the two (M7).
    override func takeOver(from old: Registration, for registration: Registration) {
        guard let old = ForeignSubscription.of(old) else { return }
        let (box, cancellation) = old.state.withLock { state -> (ForeignClosure?, (any NotifyingRegistration)?) in
            // An observer that has not been registered yet registers for nothing, and takes itself off.
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

    /// Ends the connection: empties the box.
    func end() {
        let (box, isRegistered) = state.withLock { state in
            state.hasEnded = true
            return (state.box?.take(), state.cancellation != nil)
        }
        box?.empty()
        if isRegistered { DeferredUnsubscriber.shared.add(.emptied(self)) }
    }

    /// Takes the closure off, if the center still has it: what takes off one that is gone may take off a stranger.
    func takeOff() {
        let (cancellation, box) = state.withLock { ($0.cancellation.take(), $0.box?.take()) }
        if box != nil { cancellation?.cancel() }
    }
}

/// All that a foreign center ever holds of an observer: what its closure captures.
///
/// It retains the registration only while a post of the center calls it (R8).
final class ForeignClosure: Sendable {
    private let core: CenterCore
    private let content: Guarded<Unowned<Registration>?>

    init(_ registration: Unowned<Registration>, of core: CenterCore) {
        self.core = core
        content = Guarded(registration)
    }

    deinit {
        guard let lost = content.withLock({ $0.take() }) else { return }
        if ForeignCenters.shared.hasEnded(core) {
            // Nobody can be inside a center that is going.
            Events.centerEnds(core) { core.close() }
        } else {
            // The center may hold its lock here, so that a registration which is still live is left to the cleaner.
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

/// Calls foreign centers about observers that have ended, from a queue where none of their locks can be held (F2).
final class DeferredUnsubscriber: Sendable {
    static let shared = DeferredUnsubscriber()

    enum Removal: Sendable {
        /// An observer has ended, and its closure is to be taken off.
        case emptied(ForeignSubscription)
        /// A center let the closure of an observer go that had not ended.
        case lost(Unowned<Registration>, of: CenterCore)
    }

    let queue = DispatchQueue(label: "Tether.DeferredUnsubscriber")
    private let removals = Guarded<[Removal]>([])

    /// Leaves a removal to the queue. A burst costs one wake-up.
    func add(_ removal: Removal) {
        let isFirst = removals.withLock { removals in
            removals.append(removal)
            return removals.count == 1
        }
        if isFirst { queue.async { [self] in run() } }
    }

    /// Runs all removals; on the queue.
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

    /// Registers a live observer anew where Foundation's center lost it; ends it where the center is another.
    ///
    /// Foundation uses the keys of its tokens again, so that anyone who removes a token of his own twice may remove one
    /// of ours.
    private static func recover(_ lost: Unowned<Registration>, of core: CenterCore) {
        guard let registration = lost.live else { return }
        guard let subject = core.subject(of: registration),
            let center = ForeignCenters.shared.center(of: core) as? NotificationCenter
        else { return registration.end() }
        let watched = registration.details?.sender
        let sender = watched?.reference.take()
        // A sender that is being deinitialised posts no more but in its `deinit`, and ends the observer itself.
        if watched != nil, sender == nil { return }
        ForeignSubscription.of(registration)?.connect(lost, with: center, name: subject.name, sender: sender)
    }
}

/// The cores that stand beside foreign centers, for keys, removal and audits, as long as they have observers.
final class ForeignCenters: Sendable {
    static let shared = ForeignCenters()

    private struct Entry: Sendable {
        let core: CenterCore
        /// Keeps the center's address from being used again.
        let center: OwnerReference<AnyObject>
        let type: AnyClass
        var uses: Int
    }

    private let entries = Guarded<[ObjectIdentifier: Entry]>([:])

    /// The core of a center that the caller holds; each call is matched by a `release`.
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

    /// The core of a center, if it has observers.
    func knownCore(of center: any NotifyingCenter) -> CenterCore? {
        entries.withLock { $0[ObjectIdentifier(center)]?.core }
    }

    /// The cores of all foreign centers that have observers.
    var cores: [CenterCore] { entries.withLock { $0.values.map(\.core) } }

    /// The center that a core stands beside; `nil` if it has gone, or is going.
    func center(of core: CenterCore) -> (any NotifyingCenter)? {
        entry(of: core)?.center.take() as? any NotifyingCenter
    }

    /// Whether the center that a core stands beside has gone, or is going.
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
