/// The observers that are attached to an owner, on all centers, as one (O7).
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
    private let owner: OwnerReference<AnyObject>

    /// The observers of an owner, which need not have any.
    /// - Parameter owner: The owner, which is not retained.
    public init(of owner: AnyObject) {
        self.owner = OwnerReference(owner)
    }

    private var attached: [NotificationObserver] { owner.take().map(OwnerTable.shared.observers) ?? [] }

    // MARK: Listing

    /// How many are live.
    public var count: Int { attached.count(where: \.isActive) }

    /// Whether none is live.
    public var isEmpty: Bool { !attached.contains(where: \.isActive) }

    /// The live observers, in order of attachment.
    public func makeIterator() -> IndexingIterator<[NotificationObserver]> {
        attached.filter(\.isActive).makeIterator()
    }

    /// The live observers, in order of attachment, with what each observes and where (L1).
    public func audit() -> Audit { Audit(attached.compactMap(\.reference)) }

    // MARK: Ending

    /// Ends them all.
    public func cancel() {
        for observer in attached { observer.cancel() }
    }

    // MARK: Muting (D9)

    /// Mutes all observers that the owner has now. One that is attached later is not muted.
    ///
    /// Counted apart from the mutings of each token: an observer is muted while either is. On an owner that is being
    /// deinitialised it does nothing. See `NotificationObserver.mute(keepingNewest:)`.
    /// - Parameter keepingNewest: Whether each observer keeps the newest of what is posted meanwhile for the last
    ///   `unmute()`.
    public func mute(keepingNewest: Bool = false) {
        for observer in attached { observer.live?.madePending.mute(by: .owner, keepingNewest: keepingNewest) }
    }

    /// Mutes all observers that the owner has now while a closure runs.
    /// - Parameters:
    ///   - keepingNewest: Whether each observer delivers the newest of what is posted meanwhile at the end.
    ///   - body: The closure, whose posts do not reach these observers.
    public func muted<Result, Failure>(
        keepingNewest: Bool = false, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        mute(keepingNewest: keepingNewest)
        defer { unmute() }
        return try body()
    }

    /// Ends one muting of each observer that was muted so; the last one delivers what was kept.
    ///
    /// Notifications that several observers kept are delivered in posting order, after all of them are unmuted. An
    /// observer that was not muted by `mute(keepingNewest:)` stays as it is. See `NotificationObserver.unmute()`.
    ///
    /// Complexity: O(n log n) for n observers of the owner.
    public func unmute() {
        let muted = attached.compactMap(\.live?.pending)
            .map { (number: $0.numberOfKept ?? 0, pending: $0) }
            .sorted { $0.number < $1.number }
        _ = PendingDeliveries.unmute(muted.map(\.pending), by: .owner)
    }
}

extension OwnerTable {
    /// The observers of an owner, in order of attachment.
    func observers(of owner: AnyObject) -> [NotificationObserver] {
        // SAFETY: nothing else is ever attached to an owner; see `ObservationRequest.register`.
        tokens(of: owner).map { unsafe unsafeDowncast($0, to: NotificationObserver.self) }
    }
}
