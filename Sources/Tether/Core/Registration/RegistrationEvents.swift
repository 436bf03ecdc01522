internal import Foundation
internal import Synchronization

/// Reports events of registrations and centers to one listener, on the thread where they happen and with no lock held.
///
/// *Cost*: without a listener a registration and its end pay one relaxed load each, a post nothing.
enum RegistrationEvents {
    enum Event: Sendable {
        case registered(Registration, Notification.Name?, token: any OwnedRegistration.Token)
        case ended(Registration)
        /// A center's end has ended a registration, which is given by its address, and released its handler's captures.
        case released(UInt)
        case centerMade(CenterCore)
        /// A center is about to end its observers.
        case centerEnds(CenterCore)
        case centerEnded(CenterCore)
    }

    private static let hasListener = Atomic<Bool>(false)
    private static let listener = Guarded<(@Sendable (Event) -> Void)?>(nil)

    /// Starts the listening, for the rest of the process.
    static func listen(_ new: @escaping @Sendable (Event) -> Void) {
        listener.withLock { $0 = new }
        hasListener.store(true, ordering: .releasing)
    }

    @inline(__always)
    static var isOn: Bool { hasListener.load(ordering: .relaxed) }

    @inline(never)
    private static func report(_ event: Event) { listener.withLock(\.self)?(event) }

    @inline(__always)
    static func registered(
        _ registration: Registration, name: Notification.Name?, by token: any OwnedRegistration.Token
    ) {
        if isOn { report(.registered(registration, name, token: token)) }
    }

    @inline(__always)
    static func ended(_ registration: Registration) {
        if isOn { report(.ended(registration)) }
    }

    static func released(_ registration: RegistrationMemory) {
        if isOn { report(.released(registration.address)) }
    }

    static func centerMade(_ core: CenterCore) {
        if isOn { report(.centerMade(core)) }
    }

    /// Reports the beginning and the end of a center's end, which `end` makes.
    static func centerEnds(_ core: CenterCore, _ end: () -> Void) {
        if isOn { report(.centerEnds(core)) }
        end()
        if isOn { report(.centerEnded(core)) }
    }
}
