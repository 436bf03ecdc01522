extension Registration {
    /// Ends a once observer whose handler has ended its thread: the handler has used it up (R7).
    ///
    /// SAFETY: a pin that is in use announces the address, and its handler runs, so that the center keeps it, or who delivers.
    static func threadEnded(at address: UInt) {
        // Not covered: a pin between two handlers, in which a thread ends only in a scheduler of the user's.
        guard let called = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return }
        let registration = unsafe RegistrationMemory(at: called)
        if registration.isOnce, registration.isClaimed { registration.end(because: .usedUp) }
    }
}
