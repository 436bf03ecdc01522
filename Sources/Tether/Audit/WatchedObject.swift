internal import Foundation

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

    private let state = Guarded(State())

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
