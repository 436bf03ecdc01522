extension NotificationObserver {
    // MARK: Muting the observers of an owner (D9)

    /// Mutes all observers that are attached to an owner, on all centers, and those that are attached to it while it is
    /// muted.
    ///
    /// Counted apart from what each token mutes: an observer is muted while either is. The count ends with the owner. On
    /// an owner that is being deinitialised it does nothing. See `mute(keepingNewest:)`.
    ///
    /// Complexity: O(observers of the owner). Any thread.
    public static func muteAll(attachedTo owner: AnyObject, keepingNewest: Bool = false) {
        for observer in OwnerTable.shared.mute(owner, keepingNewest: keepingNewest) {
            observer.registration?.mute(by: .others(count: 1), keepingNewest: keepingNewest)
        }
    }

    /// Ends one muting of all observers that are attached to an owner; the last one delivers what was kept.
    ///
    /// What several observers kept is delivered in posting order, after all of them are unmuted. See `unmute()`.
    ///
    /// One `unmuteAll(attachedTo:)` more than there were `muteAll(attachedTo:keepingNewest:)` stops the program with a
    /// sentence, unless the owner is being deinitialised. Complexity: O(n log n) for n observers of the owner. Any
    /// thread.
    public static func unmuteAll(attachedTo owner: AnyObject) {
        guard let observers = OwnerTable.shared.unmute(owner) else {
            // Not covered: ends the process; FlowControlMisuseTests run it apart.
            fatalError(
                "NotificationObserver.unmuteAll(attachedTo:): the observers of \(describeInstance(owner)) were not muted "
                    + "together; call it once for each muteAll(attachedTo:keepingNewest:).")
        }
        let registrations = observers.compactMap(\.registration)
            .map { (place: $0.inbox.load()?.placeOfKept ?? 0, registration: $0) }
            .sorted { $0.place < $1.place }
        var releases = registrations.compactMap { $0.registration.unmute(by: .others(count: 1)) }
        // First what runs elsewhere: a handler that runs here must not find its mailbox waiting for a drain of ours.
        for index in releases.indices { releases[index].schedule() }
        for release in releases { release.run() }
    }
}
