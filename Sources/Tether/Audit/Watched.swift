package import Foundation

// The view that TetherTesting has of registrations, of centers, and of the objects that a test tracks.

/// A registration as `TetherTesting` sees it. The registration is retained only while it is read, and the token and the owner are
/// not retained at all.
package final class WatchedRegistration: Sendable, Identifiable {
    /// Unique as long as this lives, which pins the registration's memory.
    package typealias ID = UInt

    package let id: ID
    package let name: Notification.Name?
    package let file: String
    package let line: Int
    package let center: RegistrationWatch.CenterNumber
    /// Whether an owner's life bounds it.
    package var isAttached: Bool { owner != nil }
    /// Whether it is that of an async sequence, which takes the deliveries in a target's place.
    package let isSequence: Bool
    /// The address of the object whose life bounds it.
    package let owner: UInt?
    private let registration: Unowned<Registration>
    private let tokenReference: OwnerReference<AnyObject>
    private let tokenAddress: UInt

    init(_ registration: Registration, name: Notification.Name?, token: AnyObject) {
        self.registration = Unowned(registration)
        tokenReference = OwnerReference(token)
        tokenAddress = UInt(bitPattern: ObjectIdentifier(token))
        owner = registration.owned?.record.map { UInt(bitPattern: $0.identity) }
        self.name = name
        id = registration.address
        file = registration.site.file
        line = registration.site.line
        center = registration.center.number
        isSequence = registration.keeper != nil
    }

    /// Its pending deliveries.
    private var deliveries: PendingDeliveries? { registration.live?.pending }

    package var isActive: Bool { registration.live != nil }

    /// The registration's token, not retained: its address, and the number of strong references to it; `nil` once it was deallocated.
    package var token: (address: UInt, strongCount: Int)? {
        tokenReference.strongCount().map { (tokenAddress, $0) }
    }

    /// How many deliveries wait for it, and where.
    package var pending: (count: Int, target: String) {
        deliveries.map { ($0.count, $0.target.description) } ?? (0, "posting thread")
    }

    /// Whether it is delivered to on a thread's run loop.
    package var usesRunLoop: Bool { deliveries?.target.usesRunLoop ?? false }

    /// Whether its deliveries wait for the end of the caller's own turn of the main queue.
    package var waitsForCaller: Bool {
        guard MainQueue.isCurrent, deliveries?.waitsForCaller == true else { return false }
        let isInTask = unsafe withUnsafeCurrentTask { unsafe $0 != nil }
        // The main thread runs its loop, which takes other turns of the queue, unless a task is in one.
        return !Thread.isMainThread || isInTask
    }

    /// A notification that waits for it, for looking into.
    package struct PendingNotification: Sendable {
        package let name: Notification.Name
        package let object: ValueBytes
        package let userInfo: ValueBytes
    }

    /// The deliveries that wait for it.
    package var pendingNotifications: [PendingNotification] {
        deliveries?.mapNotifications { notification in
            PendingNotification(
                name: notification.name, object: ValueBytes(of: notification.object),
                userInfo: ValueBytes(of: notification.userInfo))
        } ?? []
    }

    /// The handler as Tether keeps it, often one of its own around the user's, for looking into.
    package var handler: ValueBytes? {
        guard let registration = registration.live else { return nil }
        if let owned = registration.owned { return .owned(owned.handler) }
        return .plain(unsafe unsafeDowncast(registration, to: PlainRegistration.self).handler)
    }

    /// Whether a delivery is on its way to it, or a handler of it is running, which may be about to end it.
    package var isBusy: Bool { pending.count > 0 || isRunning }

    /// Whether a handler of it is running; one that has just begun on another thread may be missed.
    package var isRunning: Bool { HandlerWait.isRunning(id) }

    // MARK: Waiting

    /// Retains `signal` until nothing is pending for it, and nothing is being delivered. The result releases it before that,
    /// to be called when nobody waits any more; `nil` if nothing is pending.
    package func retainUntilIdle(_ signal: any AnyObject & Sendable) -> (@Sendable () -> Void)? {
        guard let deliveries, deliveries.retainUntilIdle(signal) else { return nil }
        return { [weak signal] in if let signal { deliveries.releaseBeforeIdle(signal) } }
    }

    /// Calls `action` when no handler of it runs on any thread; at once if none does.
    package func whenQuiescent(_ action: @escaping @Sendable () -> Void) {
        if !HandlerWait.whenReturned(id, resume: action) { action() }
    }
}

// MARK: Events

/// The events of registrations and centers, for `TetherTesting`. Without a listener a registration costs one relaxed load for
/// it, and a post nothing.
package enum RegistrationWatch {
    /// Stands for one center, and never for another one.
    package typealias CenterNumber = UInt64

    package enum Event {
        case registered(WatchedRegistration, owner: AnyObject?)
        case ended(WatchedRegistration.ID)
        /// A center's end has ended a registration and released its handler's captures.
        case released(WatchedRegistration.ID)
        case centerMade(CenterNumber)
        /// A center is about to end its observers.
        case centerEnds(CenterNumber)
        case centerEnded(CenterNumber)
    }

    /// The calling thread, and the registrations whose handlers it runs, outermost first: one for each post or block on it. A
    /// post that has not reached an observer has 0.
    package static var running: (thread: ObjectIdentifier, handlers: [WatchedRegistration.ID]) {
        let thread = ThreadRecord.current
        return (ObjectIdentifier(thread), thread.calledRegistrations)
    }

    /// Starts the listening, for the rest of the process. The listener is called with no lock held.
    package static func listen(_ listener: @escaping @Sendable (Event) -> Void) {
        Events.setWatcher { event in
            switch event {
            case .registered(let registration, let name, let token):
                let watched = WatchedRegistration(registration, name: name, token: token)
                listener(.registered(watched, owner: registration.owned?.record?.reference.take()))
            case .ended(let registration): listener(.ended(registration.address))
            case .released(let address): listener(.released(address))
            case .centerMade(let core): listener(.centerMade(core.number))
            case .centerEnds(let core): listener(.centerEnds(core.number))
            case .centerEnded(let core): listener(.centerEnded(core.number))
            default: break
            }
        }
    }
}

// MARK: Values

/// A copy of a value's bytes, with its type: for looking into the value, and keeping nothing that it refers to.
package struct ValueBytes: Sendable {
    package let type: Any.Type
    package let bytes: [UInt8]

    package init<Value>(of value: Value) {
        type = Value.self
        // SAFETY: the bytes are copied while the value lives.
        bytes = unsafe withUnsafeBytes(of: value) { unsafe [UInt8]($0) }
    }

    // In structs, so that the functions keep their forms.
    private struct Function { let function: @Sendable (Notification) -> Void }
    private struct OwnedFunction { let function: @Sendable (AnyObject, Notification) -> Void }

    /// Those of a handler that takes the notification alone.
    package static func plain(_ handler: @escaping @Sendable (Notification) -> Void) -> ValueBytes {
        ValueBytes(of: Function(function: handler))
    }

    /// Those of a handler that takes its owner, too.
    package static func owned(_ handler: @escaping @Sendable (AnyObject, Notification) -> Void) -> ValueBytes {
        ValueBytes(of: OwnedFunction(function: handler))
    }
}

// MARK: Objects

/// An object whose end `TetherTesting` waits for, not retained.
///
/// So a reader, on any thread, never releases the last reference to it. A registration that is attached to the object reports
/// its end. That registration is in no center and has no observer, so no audit lists it.
package final class WatchedObject: Sendable {
    /// Its address, which is no other object's before the end.
    package let address: UInt
    package let type: AnyClass
    private let hook = EndHook()

    /// The center that the registrations name, and are not in.
    private static let center = CenterCore(usesExactLifetimes: true)

    /// Watches an object that the caller holds. One that is being deinitialised has ended.
    package init(_ object: AnyObject) {
        address = UInt(bitPattern: ObjectIdentifier(object))
        type = Swift.type(of: object)
        let registration = OwnedRegistration(
            outside: WatchedObject.center, hook: hook, site: RegistrationSite(file: #fileID, line: #line))
        hook.watch(registration)
        if !OwnerTable.shared.attach(nil, to: object, as: registration, exactly: true) { hook.ended(registration) }
    }

    deinit { hook.registration?.end() }

    private var record: OwnerRecord? { hook.registration?.record }

    /// Whether its last strong reference was released.
    package var hasEnded: Bool {
        guard let record else { return true }
        return OwnerReference<AnyObject>.asksWithoutHolding && record.reference.hasEnded
    }

    /// The number of strong references to it; `nil` if it has ended.
    package var strongCount: Int? { record?.reference.strongCount() }

    /// Calls `action` when it ends, or at once if it has. Where ends are not seen as they happen, a sweep calls it (O10).
    package func whenEnded(_ action: @escaping @Sendable () -> Void) {
        if !hook.add(action) { action() }
    }
}

/// The end of the registration that is attached to a watched object.
///
/// SAFETY: the state is guarded.
private final class EndHook: RegistrationHook, @unchecked Sendable {
    private struct State: Sendable {
        /// Until the end.
        var registration: OwnedRegistration?
        var actions: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    var registration: OwnedRegistration? { state.withLock(\.registration) }

    func watch(_ registration: OwnedRegistration) { state.withLock { $0.registration = registration } }

    /// Adds an action for the end; false if the object has ended.
    func add(_ action: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.registration != nil { state.actions.append(action) }
            return state.registration != nil
        }
    }

    override func ended(_ registration: Registration) {
        let ended = state.withLock { state in
            let ended = state
            state = State()
            return ended
        }
        for action in ended.actions { action() }
    }
}
