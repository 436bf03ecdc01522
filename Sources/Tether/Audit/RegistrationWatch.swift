internal import Synchronization

/// What `TetherTesting` hears of registrations and centers; a program that never asked for it pays one relaxed load for
/// a registration, nothing for a post.
package enum RegistrationWatch {
    /// Stands for one center, and never for another one.
    package typealias CenterNumber = UInt64

    /// What is called, on the thread where it happens, with no lock held.
    package struct Listener: Sendable {
        let registered: @Sendable (WatchedRegistration, _ owner: AnyObject?) -> Void
        let ended: @Sendable (WatchedRegistration.ID) -> Void
        let centerMade: @Sendable (CenterNumber) -> Void
        /// Before the center ends its observers.
        let centerEnds: @Sendable (CenterNumber) -> Void

        package init(
            registered: @escaping @Sendable (WatchedRegistration, _ owner: AnyObject?) -> Void,
            ended: @escaping @Sendable (WatchedRegistration.ID) -> Void,
            centerMade: @escaping @Sendable (CenterNumber) -> Void,
            centerEnds: @escaping @Sendable (CenterNumber) -> Void
        ) {
            self.registered = registered
            self.ended = ended
            self.centerMade = centerMade
            self.centerEnds = centerEnds
        }
    }

    private static let isOn = Atomic<Bool>(false)
    private static let listener = Guarded<Listener?>(nil)

    /// Starts the listening, for the rest of the process.
    package static func listen(_ new: Listener) {
        listener.withLock { $0 = new }
        isOn.store(true, ordering: .releasing)
    }

    private static var current: Listener? {
        guard isOn.load(ordering: .relaxed) else { return nil }
        return listener.withLock(\.self)
    }

    @inline(__always)
    static func registered(
        _ registration: Registration, as request: ObservationRequest, by observer: NotificationObserver
    ) {
        if isOn.load(ordering: .relaxed) { tell(registration, as: request, by: observer) }
    }

    @inline(never)
    private static func tell(
        _ registration: Registration, as request: ObservationRequest, by observer: NotificationObserver
    ) {
        let watched = WatchedRegistration(registration, name: request.name, token: observer)
        current?.registered(watched, registration.owned?.record?.reference.take())
    }

    @inline(__always)
    static func ended(_ registration: Registration) {
        if isOn.load(ordering: .relaxed) { current?.ended(registration.address) }
    }

    static func centerMade(_ core: CenterCore) { current?.centerMade(core.number) }

    static func centerEnds(_ core: CenterCore) { current?.centerEnds(core.number) }
}
