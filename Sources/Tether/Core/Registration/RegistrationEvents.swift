internal import Foundation
internal import Synchronization

/// Events of registrations and centers, told to one listener; where there is none, a registration pays one relaxed
/// load, a post nothing.
enum RegistrationEvents {
    /// The listener, called on the thread where it happens, with no lock held.
    struct Listener: Sendable {
        let registered: @Sendable (Registration, Notification.Name?, _ token: any OwnedRegistration.Token) -> Void
        let ended: @Sendable (Registration) -> Void
        let centerMade: @Sendable (CenterCore) -> Void
        /// Before the center ends its observers; what this returns is called after that.
        let centerEnds: @Sendable (CenterCore) -> @Sendable () -> Void
        /// When a center's end has ended a registration, and let go of what its handler captured.
        let released: @Sendable (_ registration: UInt) -> Void
    }

    private static let hasListener = Atomic<Bool>(false)
    private static let listener = Guarded<Listener?>(nil)

    /// Starts the listening, for the rest of the process.
    static func listen(_ new: Listener) {
        listener.withLock { $0 = new }
        hasListener.store(true, ordering: .releasing)
    }

    @inline(__always)
    static var isOn: Bool { hasListener.load(ordering: .relaxed) }

    private static var current: Listener? { listener.withLock(\.self) }

    @inline(__always)
    static func registered(
        _ registration: Registration, name: Notification.Name?, by token: any OwnedRegistration.Token
    ) {
        if isOn { current?.registered(registration, name, token) }
    }

    @inline(__always)
    static func ended(_ registration: Registration) {
        if isOn { current?.ended(registration) }
    }

    static func released(_ registration: RegistrationMemory) {
        if isOn { current?.released(registration.address) }
    }

    static func centerMade(_ core: CenterCore) {
        if isOn { current?.centerMade(core) }
    }

    /// Tells of the end of a center, which `end` makes, before and after it.
    static func centerEnds(_ core: CenterCore, _ end: () -> Void) {
        let ended = isOn ? current?.centerEnds(core) : nil
        end()
        ended?()
    }
}
