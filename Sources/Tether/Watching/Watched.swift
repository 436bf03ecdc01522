package import Foundation

/// A registration for `TetherTesting`, retained during a read. The token and the owner are not
/// retained.
package final class WatchedRegistration: Sendable, Identifiable {
    /// Unique while this object lives, because `registration` keeps the memory of the registration.
    package typealias ID = RegistrationAddress

    package let id: ID
    package let name: Notification.Name?
    package let file: String
    package let line: Int
    package let center: RegistrationWatch.CenterNumber
    /// Whether an async sequence takes the deliveries in a target's place.
    package let isSequence: Bool
    /// The work of an owner, which is no observer.
    package let work: OwnedWork?
    /// The address of the owner that bounds the observer's life.
    package let owner: UInt?
    /// The type of that owner.
    package let ownerType: String?
    private let registration: Unowned<Registration>
    private let tokenReference: ObjectReference<AnyObject>

    init(_ registration: Registration, name: Notification.Name?, token: AnyObject) {
        self.registration = Unowned(registration)
        tokenReference = ObjectReference(token)
        let record = registration.owned?.record
        owner = record.map { UInt(bitPattern: $0.identity) }
        ownerType = record.map(\.typeName)
        self.name = name
        id = registration.address
        file = registration.site.file
        line = registration.site.line
        center = registration.center.number
        work = registration.workHook?.work
        isSequence = registration.targetStandIn != nil && work == nil
    }

    private var mailbox: Mailbox? { registration.live?.mailbox }
    package var isActive: Bool { registration.live != nil }

    /// Whether the owner of running work has ended, or was being deinitialized already (O12).
    package var hasOwnerEnded: Bool {
        registration.retained?.owned?.record?.reference.hasEnded ?? true
    }

    /// The address of the token, not retained, and its number of strong references; `nil` after the
    /// deallocation.
    package var token: (address: UInt, strongCount: Int)? {
        tokenReference.strongCount().map { (tokenReference.address, $0) }
    }

    /// The number of pending deliveries, and their target.
    package var pending: (count: Int, target: String) {
        let report = mailbox?.report(with: nil).0 ?? Mailbox.Report()
        return (report.pending, report.target.description)
    }

    /// Whether the target is a thread's run loop.
    package var usesRunLoop: Bool { mailbox?.target.usesRunLoop ?? false }

    /// Whether the target runs tasks.
    package var runsTasks: Bool { mailbox?.target.runsTasks ?? false }

    /// Whether deliveries wait for the end of the caller's own turn of the main queue.
    package var waitsForCaller: Bool {
        guard MainQueue.isCurrent, mailbox?.waitsForCaller == true else { return false }
        // A check on the main thread runs the loop, and so other turns of the queue, unless a task
        // is in the present turn.
        return !Thread.isMainThread || Self.isCallerInTask
    }

    /// Whether the caller's code runs in a task.
    package static var isCallerInTask: Bool {
        unsafe withUnsafeCurrentTask { task in unsafe task != nil }
    }

    /// The pending notifications, for inspection.
    package var pendingNotifications:
        [(name: Notification.Name, object: ValueBytes, userInfo: ValueBytes)]
    {
        mailbox?.mapNotifications {
            ($0.name, ValueBytes(of: $0.object), ValueBytes(of: $0.userInfo))
        } ?? []
    }

    /// The stored handler, for inspection: often a closure of Tether's around the user's handler.
    package var handler: ValueBytes? {
        guard let registration = registration.live else { return nil }
        if let owned = registration.owned { return .owned(owned.handler) }
        return .plain(unsafe unsafeDowncast(registration, to: PlainRegistration.self).handler)
    }

    /// Whether a handler is running. A handler that has just begun on another thread may be missed.
    package var isRunning: Bool { HandlerWait.isRunning(id) }

    /// Retains `signal` until no delivery is pending or being made. The result, for a caller that
    /// stops waiting, releases `signal` earlier. The result is `nil` if no delivery is pending or
    /// being made.
    package func retainUntilIdle(_ signal: any AnyObject & Sendable) -> (@Sendable () -> Void)? {
        guard let mailbox, mailbox.retainUntilIdle(signal) else { return nil }
        return { [weak signal] in if let signal { mailbox.releaseBeforeIdle(signal) } }
    }

    /// Calls `action` when no call of the handler is under way, but for the current task's own
    /// async call; at once if the wait would deadlock.
    package func whenQuiescent(_ action: @escaping @Sendable () -> Void) {
        if !HandlerWait.whenReturned(id, resume: action) { action() }
    }
}

/// The events of registrations and centers, for `TetherTesting`. Reported with no lock held.
package enum RegistrationWatch {
    /// The number of one center, and never of another.
    package typealias CenterNumber = UInt64

    package enum Change {
        case registered(WatchedRegistration, owner: AnyObject?)
        case ended(WatchedRegistration.ID)
        /// The end of its center released the captures of the registration's handler, unless a call
        /// is under way.
        case released(WatchedRegistration.ID)
        case centerMade(CenterNumber)
        /// A center is about to end its observers.
        case centerEnds(CenterNumber)
        case centerEnded(CenterNumber)
    }

    /// The calling thread, and the registrations of its running handlers, outermost first; `none`
    /// for a post without a call.
    package static var running: (thread: ObjectIdentifier, handlers: [WatchedRegistration.ID]) {
        let thread = ThreadRecord.current
        return (ObjectIdentifier(thread), thread.calledRegistrations)
    }

    package static var isListening: Bool { Events.present.contains(.leakChecks) }

    /// Begins the listening, or ends it with `nil`. A call of an old listener may be under way.
    package static func listen(_ receive: (@Sendable (Change) -> Void)?) {
        guard let receive else {
            Events.unsubscribe(.leakChecks)
            return Events.setLeakReceiver(nil)
        }
        Events.setLeakReceiver { event in
            if let change = Change(event) { receive(change) }
            return nil
        }
        Events.subscribe(.leakChecks)
    }
}

extension RegistrationWatch.Change {
    fileprivate init?(_ event: ObserverEvent) {
        switch event {
        case .registered(let registration, let name, let token):
            let watched = WatchedRegistration(registration, name: name, token: token)
            self = .registered(watched, owner: registration.owned?.record?.reference.retained)
        case .ended(let registration): self = .ended(registration)
        case .released(let registration): self = .released(registration)
        case .centerMade(let center): self = .centerMade(center)
        case .centerEnds(let center): self = .centerEnds(center)
        case .centerEnded(let center): self = .centerEnded(center)
        case .post, .call, .observerEnds, .ownerEnds, .asyncCall, .work, .end, .asyncEnd, .waiting,
            .delivered, .dropped, .switched:
            return nil
        }
    }
}

/// A copy of a value's bytes and type, for inspection. The copy retains no object of the value.
package struct ValueBytes: Sendable {
    package let type: Any.Type
    package let bytes: [UInt8]

    package init<Value>(of value: Value) {
        type = Value.self
        // SAFETY: `value` lives during the copy.
        bytes = unsafe withUnsafeBytes(of: value) { unsafe [UInt8]($0) }
    }

    /// The bytes of a handler that takes the notification alone, in a struct, so that the function
    /// keeps its form.
    package static func plain(_ handler: @escaping @Sendable (Notification) -> Void) -> ValueBytes {
        struct Function { let function: @Sendable (Notification) -> Void }
        return ValueBytes(of: Function(function: handler))
    }

    /// The bytes of a handler that takes an owner, too.
    fileprivate static func owned(_ handler: @escaping @Sendable (AnyObject, Notification) -> Void)
        -> ValueBytes
    {
        struct Function { let function: @Sendable (AnyObject, Notification) -> Void }
        return ValueBytes(of: Function(function: handler))
    }
}

/// An object whose end `TetherTesting` waits for, not retained. A registration that is attached to
/// the object reports the end. The registration is in no center and has no observer, so no audit
/// lists the registration.
package final class WatchedObject: Sendable {
    /// The object's address, which no other object has before the end.
    package let address: UInt
    package let type: AnyClass
    private let hook = EndHook()

    /// Watches an object that the caller retains. An object that is being deinitialized has ended.
    package init(_ object: AnyObject) {
        address = UInt(bitPattern: ObjectIdentifier(object))
        type = Swift.type(of: object)
        let registration = OwnedRegistration(
            forEndReportedTo: hook, site: RegistrationSite(file: #fileID, line: #line))
        hook.state.withLock { $0.registration = registration }
        if !ObjectTable.shared.attach(registration, to: object, token: nil) {
            hook.ended(registration, because: .ownerEnded)
        }
    }

    deinit { hook.state.withLock(\.registration)?.end() }

    private var record: ObjectRecord? { hook.state.withLock(\.registration)?.record }

    /// Whether the last strong reference was released; with the Objective-C runtime, whether the
    /// end was reported.
    package var hasEnded: Bool {
        record.map { ObjectReference<AnyObject>.asksWithoutHolding && $0.reference.hasEnded }
            ?? true
    }
    /// The number of strong references; `nil` after the end.
    package var strongCount: Int? { record?.reference.strongCount() }

    /// Calls `action` at the end, or at once after the end.
    package func whenEnded(_ action: @escaping @Sendable () -> Void) {
        let hasEnded = hook.state.withLock { state in
            if state.registration != nil { state.actions.append(action) }
            return state.registration == nil
        }
        if hasEnded { action() }
    }
}

/// The end of the registration that is attached to a watched object.
///
/// SAFETY: `state` is protected by its lock.
private final class EndHook: RegistrationHook, @unchecked Sendable {
    /// The registration, until the end, and the actions at the end.
    let state = Locked<(registration: OwnedRegistration?, actions: [@Sendable () -> Void])>(
        (nil, []))

    override func ended(_ registration: Registration, because cause: EndCause) {
        let ended = state.withLock { state in
            defer { state = (nil, []) }
            return state
        }
        for action in ended.actions { action() }
    }
}
