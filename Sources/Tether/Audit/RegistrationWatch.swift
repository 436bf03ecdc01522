internal import Synchronization

/// The events of registrations and centers, for `TetherTesting`; a program that never asked pays one relaxed load for
/// a registration, nothing for a post.
package enum RegistrationWatch {
    /// Stands for one center, and never for another one.
    package typealias CenterNumber = UInt64

    /// The listener, called on the thread where it happens, with no lock held.
    package struct Listener: Sendable {
        let registered: @Sendable (WatchedRegistration, _ owner: AnyObject?) -> Void
        let ended: @Sendable (WatchedRegistration.ID) -> Void
        let centerMade: @Sendable (CenterNumber) -> Void
        /// Before the center ends its observers; what this returns is called after that.
        let centerEnds: @Sendable (CenterNumber) -> @Sendable () -> Void
        /// When a center's end has ended a registration, and let go of what its handler captured.
        let released: @Sendable (WatchedRegistration.ID) -> Void

        package init(
            registered: @escaping @Sendable (WatchedRegistration, _ owner: AnyObject?) -> Void,
            ended: @escaping @Sendable (WatchedRegistration.ID) -> Void,
            centerMade: @escaping @Sendable (CenterNumber) -> Void,
            centerEnds: @escaping @Sendable (CenterNumber) -> @Sendable () -> Void,
            released: @escaping @Sendable (WatchedRegistration.ID) -> Void
        ) {
            self.registered = registered
            self.ended = ended
            self.centerMade = centerMade
            self.centerEnds = centerEnds
            self.released = released
        }
    }

    /// The calling thread, and the registrations whose handlers it is in, outermost first: one for each post, and each
    /// drain, that is under way on it; 0 for a post that has not come to an observer.
    package static var running: (thread: ObjectIdentifier, handlers: [WatchedRegistration.ID]) {
        let thread = PostingThread.current
        return (ObjectIdentifier(thread), thread.announced)
    }

    /// Starts the listening, for the rest of the process.
    package static func listen(_ listener: Listener) {
        RegistrationEvents.listen(
            RegistrationEvents.Listener(
                registered: { registration, name, token in
                    let watched = WatchedRegistration(registration, name: name, token: token)
                    listener.registered(watched, registration.owned?.record?.reference.take())
                },
                ended: { listener.ended($0.address) },
                centerMade: { listener.centerMade($0.number) },
                centerEnds: { listener.centerEnds($0.number) }, released: listener.released))
    }
}
