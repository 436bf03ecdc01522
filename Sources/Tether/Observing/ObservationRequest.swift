internal import Foundation

/// The arguments of one call of `observe(...)`, without the owner and the handler.
struct ObservationRequest {
    let name: Notification.Name?
    let sender: SenderFilter
    /// The target; `nil` for the posting thread.
    private let target: BlockTarget?
    fileprivate let flags: UInt32
    let key: ObserverKey?
    private let backlog: BufferingPolicy
    let site: CallSite
    private let hook: RegistrationHook?

    /// `isIsolated`: whether the handler is isolated or async. The target of such a handler cannot
    /// be switched.
    @inline(__always)
    init(
        name: Notification.Name?, sender: SenderFilter, target: borrowing DeliveryTarget,
        isIsolated: Bool = false,
        once: Bool = false, key: ObserverKey? = nil, backlog: BufferingPolicy = .unbounded,
        site: CallSite, hook: RegistrationHook? = nil
    ) {
        self.name = name
        self.sender = sender
        self.target = target.blockTarget?.copyForObserver()
        flags =
            (once ? Registration.StateBits.once : 0)
            | (isIsolated ? Registration.StateBits.isolated : 0)
        self.key = key
        self.backlog = backlog
        self.site = site
        self.hook = hook
    }

    /// A request from the parameters of an `observe` method.
    @inline(__always)
    init(
        _ name: Notification.Name?, from sender: borrowing AnyObject,
        on target: borrowing DeliveryTarget, isIsolated: Bool = false,
        once: Bool, key: borrowing (any Hashable)?, backlog: BufferingPolicy = .unbounded,
        fileID: StaticString, line: UInt, hook: RegistrationHook? = nil,
        call: StaticString = #function
    ) {
        let site = CallSite(fileID, line, call: call)
        // A copy of `nil` costs a call, too.
        let observerKey: ObserverKey? =
            if key == nil { nil } else { ObserverKey((copy key)!, at: site) }
        self.init(
            name: name, sender: .given(copy sender, at: site), target: target,
            isIsolated: isIsolated, once: once,
            key: observerKey, backlog: backlog, site: site, hook: hook)
    }

    fileprivate func register(
        _ observer: NotificationObserver, with center: any NotifyingCenter, owner: AnyObject?,
        making make: (CenterCore, Registration.Details?) -> Registration
    ) {
        let ownCore = center.ownCore
        let core = ownCore ?? ForeignCenters.shared.acquireCore(of: center)
        let foreign = ownCore == nil ? ForeignSubscription(of: core, value: sender.value) : nil
        if foreign != nil { ProgramEnvironment.followOnce() }
        var senderRecord: ObjectRecord?
        if let object = sender.object {
            senderRecord = ObjectTable.shared.watchSender(object, for: core)
            guard senderRecord != nil else {
                // No effect for a center of Tether's own.
                ForeignCenters.shared.release(core)
                return
            }
        }
        foreign?.nextHook = hook
        let hook = foreign ?? hook
        let registration = make(
            core,
            senderRecord == nil && key == nil && hook == nil
                ? nil
                : Registration.Details(sender: senderRecord, key: key?.of(owner), hook: hook))
        if let target { registration.makeMailbox(on: target) }
        if backlog.limit < .max { registration.makeMailboxIfNeeded().setBacklog(backlog) }
        // Set first, because another thread finds the token as soon as the owner lists the token.
        observer.set(registration)
        var isAttached = true
        if let owner, let owned = registration.owned {
            isAttached = ObjectTable.shared.attach(owned, to: owner, token: observer)
        }
        guard isAttached else { return registration.end() }
        Events.report(.registered(registration, name: name, token: observer))
        core.add(registration, name: name, sender: sender.key)
        foreign?.connect(Unowned(registration), with: center, name: name, sender: sender.object)
    }
}

extension NotifyingCenter {
    /// Registers a handler. An observer of a sender or owner that is being deinitialized stays
    /// inactive (M5, O8).
    func observe(
        _ request: ObservationRequest, _ handler: @escaping @Sendable (Notification) -> Void
    ) -> NotificationObserver {
        let observer = NotificationObserver()
        request.register(observer, with: self, owner: nil) { core, details in
            PlainRegistration(
                center: core, details: details, flags: request.flags,
                site: request.site.registrationSite, handler: handler)
        }
        return observer
    }

    func observe<Owner: AnyObject>(
        _ request: ObservationRequest, for owner: Owner,
        by observer: NotificationObserver = NotificationObserver(),
        _ handler: @escaping OwnedRegistration.Handler<Owner>
    ) -> NotificationObserver {
        ObjectArgument.owner.check(owner, at: request.site)
        request.register(observer, with: self, owner: owner) { core, details in
            OwnedRegistration(
                center: core, details: details, flags: request.flags,
                site: request.site.registrationSite, handler: handler)
        }
        return observer
    }
}

extension NotifyingCenter {
    /// The center's core in the usual case: an observer on the posting thread, for any sender,
    /// without a key and without a bound. Such an observer needs no `ObservationRequest`, which
    /// would double its cost.
    @inline(__always)
    func coreOfFastPath(
        from sender: AnyObject, on target: borrowing DeliveryTarget, key: (any Hashable)?,
        backlog: BufferingPolicy
    ) -> CenterCore? {
        guard target.isPostingThread, key == nil, backlog.limit == .max,
            Omitted.stands(for: sender)
        else { return nil }
        return ownCore
    }
}

extension CenterCore {
    /// Adds a registration for posts of any sender, without a key, on the posting thread; takes the
    /// reference over.
    @inline(__always)
    func observeFastPath(
        _ name: Notification.Name?, _ registration: Unmanaged<Registration>, owner: AnyObject? = nil
    ) -> NotificationObserver {
        let observer = NotificationObserver()
        // SAFETY: the caller's reference keeps the registration until the end of the observer, or
        // the last line here.
        let isAttached = unsafe registration._withUnsafeGuaranteedRef { registration in
            observer.set(registration)
            if let owner {
                // SAFETY: a caller with an owner passes an `OwnedRegistration`. A cast by the state
                // would retain it.
                let owned = unsafe unsafeDowncast(registration, to: OwnedRegistration.self)
                if !ObjectTable.shared.attach(owned, to: owner, token: observer) { return false }
            }
            Events.report(.registered(registration, name: name, token: observer))
            return true
        }
        if isAttached {
            unsafe add(registration, name: name)
        } else {
            unsafe registration.takeRetainedValue().end()
        }
        return observer
    }
}

// MARK: Arguments

/// A sender as given to a registration.
enum SenderFilter {
    case any
    case object(AnyObject)
    case value(TypedValue)

    var object: AnyObject? { if case .object(let object) = self { object } else { nil } }
    var value: TypedValue? { if case .value(let value) = self { value } else { nil } }

    var key: SenderKey? {
        switch self {
        case .any: nil
        case .object(let object): SenderKey(object)
        case .value(let value): .value(value)
        }
    }

    /// A sender that may be omitted.
    static func given(_ sender: AnyObject, at site: CallSite) -> SenderFilter {
        if Omitted.stands(for: sender) { return .any }
        return SenderFilter(object: sender, at: site)
    }

    /// A sender as Foundation passes senders: `nil` for any. Traps on a sender that no post can
    /// match (M4, X1).
    init(any sender: Any?, at site: CallSite) {
        switch sender.map(Unwrapped.init) ?? .nothing {
        case .nothing: self = .any
        case .object(let object): self.init(object: object, at: site)
        case .value(let value): self = .value(SenderFilter.matchable(value, at: site))
        }
    }

    /// A class instance, or the value in a `ValueSender`.
    private init(object: AnyObject, at site: CallSite) {
        if let value = object as? ValueSender {
            self.init(value, at: site)
            return
        }
        ObjectArgument.sender.check(object, at: site)
        self = .object(object)
    }

    /// A value that stands in an object's place.
    private init(_ sender: ValueSender, at site: CallSite) {
        self.init(any: sender.value, at: site)
        guard case .any = self else { return }
        site.refuse(
            "the sender ValueSender(nil) is no value, so no post could ever match it; leave 'from:' out to "
                + "observe any sender.")
    }

    private static func matchable(_ sender: Any, at site: CallSite) -> TypedValue {
        guard let value = TypedValue.find(in: sender) else {
            site.refuse(
                "the sender \(String(reflecting: sender)) is a value whose type, \(type(of: sender)), is not "
                    + "Hashable, or on another actor only, so no post could ever match it; pass a class instance or a "
                    + "Hashable value.")
        }
        guard value == value else {
            site.refuse(
                "the sender \(String(reflecting: sender)) is not equal to itself, so no post could ever match it; "
                    + "pass a value that is.")
        }
        return value
    }
}

/// The role of an object in a registration or in a test's scope, which refuse a value that looks
/// like an object (X1).
package enum ObjectArgument {
    case sender, owner, receiver, tracked

    /// Stops the program if the object's end means nothing or cannot be seen.
    package func check(_ object: AnyObject, at site: CallSite) {
        guard type(of: object) != ObjectArgument.box else {
            site.refuse(
                "\(object) is a value in a box, and each cast to AnyObject makes another box; \(instead), or "
                    + "pass a class instance.")
        }
        #if canImport(ObjectiveC)
        // Objective-C's tagged pointers have the highest bit set, or, on a Mac with an Intel
        // processor, the lowest.
        // SAFETY: only the bits of the reference are read, not the memory; the caller holds the
        // object.
        let bits = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        let isTagged = UInt.bitWidth == 64 && (bits & 1 != 0 || bits.leadingZeroBitCount == 0)
        guard self == .sender || !isTagged else {
            site.refuse(
                "\(object), of \(type(of: object)), is stored in its reference and never ends; \(instead), or pass an "
                    + "object that ends.")
        }
        #endif
    }

    /// The alternative to another object.
    private var instead: String {
        switch self {
        case .sender: "pass a Hashable value as ValueSender(value)"
        case .owner, .receiver: "leave it out and keep the token"
        case .tracked: "track an object that holds it"
        }
    }

    /// The class of the box that a cast to `AnyObject` makes of a value without an object form.
    private static let box: AnyClass = type(of: Boxed() as AnyObject)

    private struct Boxed {}
}

/// Stands for an omitted sender or owner. An optional argument does not compile, so a `nil` that
/// was meant to be an object never widens to "any".
@usableFromInline
package final class Omitted: Sendable {
    /// The omitted argument. For `from:` it means any sender. For `owner:` of a registration it
    /// means no owner, and of a removal observers with and without an owner.
    @usableFromInline package static let argument = Omitted()

    private init() {}

    /// Compares types, because a build with cross-module optimisation gives each module a copy of
    /// `argument`.
    @inline(__always)
    static func stands(for argument: AnyObject) -> Bool { type(of: argument) == Omitted.self }
}
