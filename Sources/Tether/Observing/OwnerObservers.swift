/// The observers that are attached to an owner, on all centers, as one ([O7](doc:Contract#O7)).
///
/// ```swift
/// OwnerObservers(of: sidebar).mute(keepingNewest: true)
/// for observer in OwnerObservers(of: sidebar) {
///     observer.target = .main
/// }
/// print(OwnerObservers(of: sidebar).audit())
/// ```
///
/// It always speaks of the observers that there are when it is asked. It does not retain the owner: of one that has gone, or
/// is being deinitialised, there are none.
///
/// Complexity: each call is O(observers of the owner), unless it says otherwise.
///
/// *Thread safety*: any thread.
public struct OwnerObservers: Sequence, Sendable {
    /// SAFETY: a reference that can be taken on any thread; boxed, because it cannot be copied.
    private final class Owner: Sendable {
        let reference: OwnerReference<AnyObject>?

        init(_ owner: AnyObject) {
            reference = OwnerReference(owner)
        }
    }

    private let owner: Owner

    /// The observers of an owner, which need not have any.
    /// - Parameter owner: The owner, which is not retained.
    public init(of owner: AnyObject) {
        self.owner = Owner(owner)
    }

    /// The result of `body` with the owner, which is held meanwhile; `nil` if it has gone.
    private func withOwner<Result>(_ body: (AnyObject) -> Result?) -> Result? { owner.reference?.take().flatMap(body) }

    private var attached: [NotificationObserver] { withOwner(OwnerTable.shared.observers) ?? [] }

    // MARK: Listing

    /// How many are live.
    public var count: Int { attached.count(where: \.isActive) }

    /// Whether none is live.
    public var isEmpty: Bool { !attached.contains(where: \.isActive) }

    /// The live observers, in order of attachment.
    public func makeIterator() -> IndexingIterator<[NotificationObserver]> {
        attached.filter(\.isActive).makeIterator()
    }

    /// The live observers, in order of attachment, with what each observes and where ([L1](doc:Contract#L1)).
    public func audit() -> Audit { Audit(withOwner(OwnerTable.shared.registrations) ?? []) }

    // MARK: Ending

    /// Ends them all.
    public func stop() {
        for observer in attached { observer.stop() }
    }

    // MARK: Muting (D9)

    /// Mutes them all, and those that are attached to the owner while it is muted.
    ///
    /// Counted apart from what each token mutes: an observer is muted while either is. The count ends with the owner. On
    /// an owner that is being deinitialised it does nothing. See `NotificationObserver.mute(keepingNewest:)`.
    /// - Parameter keepingNewest: Whether each observer keeps the newest of what is posted meanwhile for the last
    ///   `unmute()`.
    public func mute(keepingNewest: Bool = false) {
        let registrations = withOwner { OwnerTable.shared.mute($0, keepingNewest: keepingNewest) } ?? []
        for registration in registrations {
            registration.look(\.madeInbox)?.mute(by: .others(count: 1), keepingNewest: keepingNewest)
        }
    }

    /// Ends one muting of them all; the last one delivers what was kept.
    ///
    /// Notifications that several observers kept are delivered in posting order, after all of them are unmuted. See
    /// `NotificationObserver.unmute()`.
    ///
    /// One `unmute()` more than there were `mute(keepingNewest:)` stops the program with a sentence, unless the owner is
    /// being deinitialised, or has gone. Complexity: O(n log n) for n observers of the owner.
    public func unmute() {
        let muted = withOwner { owner in
            guard let muted = OwnerTable.shared.unmute(owner) else {
                // Not covered: ends the process; FlowControlMisuseTests run it apart.
                fatalError(
                    "OwnerObservers.unmute(): the observers of \(describeInstance(owner)) were not muted together; call "
                        + "it once for each OwnerObservers.mute(keepingNewest:).")
            }
            return muted
        }
        let inboxes = (muted ?? []).compactMap { $0.look(\.madeInbox) }
            .map { (ticket: $0.ticketOfKept ?? 0, inbox: $0) }
            .sorted { $0.ticket < $1.ticket }
        var releases = inboxes.compactMap { $0.inbox.unmute(by: .others(count: 1)) }
        // First what runs elsewhere: a handler that runs here must not find its mailbox waiting for a drain of ours.
        for index in releases.indices { releases[index].schedule() }
        var rest = ArraySlice(releases)
        PostingThread.deliver {
            while let release = rest.popFirst() { release.run() }
        } orAtExit: {
            for release in rest { release.forgo() }
        }
    }
}
