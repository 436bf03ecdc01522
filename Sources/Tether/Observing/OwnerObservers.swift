/// All observers of an owner, on all centers, as one sequence.
///
/// ```swift
/// OwnerObservers(of: sidebar).mute(keepingNewest: true)
/// OwnerObservers(of: sidebar).target = .main
/// print(OwnerObservers(of: sidebar).audit())
/// ```
///
/// The owner's tasks, loops over sequences and closures (`Task(owner:)`, `observe(owner:)`,
/// `OwnerLifetime.whenEnded(_:_:)`) are counted, listed and cancelled as its observers are, until
/// they end.
///
/// Each call reads the owner's present observers. The owner is not retained. An owner that was
/// deallocated, or is being deinitialised, has no observers. Complexity: O(observers of the owner),
/// unless the call says otherwise. Any thread.
public struct OwnerObservers: Sequence, Sendable {
    private let owner: ObjectReference<AnyObject>

    /// The observers of an owner, perhaps none.
    public init(of owner: AnyObject) { self.owner = ObjectReference(owner) }

    private var attached: [NotificationObserver] {
        owner.retained.map(ObjectTable.shared.observers) ?? []
    }

    var references: [Unowned<Registration>] { attached.compactMap(\.reference) }

    /// The number of live observers.
    public var count: Int { attached.count(where: \.isActive) }

    /// Whether no observer is live.
    public var isEmpty: Bool { !attached.contains(where: \.isActive) }

    /// The live observers, in order of attachment.
    public func makeIterator() -> IndexingIterator<[NotificationObserver]> {
        attached.filter(\.isActive).makeIterator()
    }

    /// The live observers, in order of attachment, each with its name, sender and place of
    /// registration.
    public func audit() -> Audit { Audit(references) }

    /// Ends all observers.
    public func cancel() {
        for observer in attached { observer.cancel() }
    }

    // MARK: The target (D6)

    /// Where the handlers run. Setting the target switches all present observers, except those
    /// whose target is fixed: isolated, async and sequences' observers stay where they are.
    ///
    /// Pending deliveries move to the new target in posting order, across the observers. Otherwise
    /// as `NotificationObserver.target`. The value that is read is the target of the first observer
    /// that can be switched; `.postingThread` without one. Complexity: O(n + p log p) for n
    /// observers and p pending deliveries.
    public var target: DeliveryTarget {
        get { switchable.first?.mailbox?.target ?? .postingThread }
        nonmutating set { Registration.redirect(switchable, to: newValue) }
    }

    private var switchable: [Registration] {
        attached.compactMap(\.live).filter { !$0.isTargetFixed }
    }

    // MARK: Muting (D9)

    /// Mutes all present observers of the owner. An observer attached later is not muted.
    ///
    /// Mutings by the owner and by the token are counted apart: either mutes. See
    /// `NotificationObserver.mute(keepingNewest:)`.
    public func mute(keepingNewest: Bool = false) {
        for observer in attached {
            observer.live?.makeMailboxIfNeeded().mute(by: .owner, keepingNewest: keepingNewest)
        }
    }

    /// Ends one muting of each observer that the owner muted; the last `unmute()` delivers the kept
    /// notification.
    ///
    /// Notifications that several observers kept are delivered in posting order, after all
    /// observers are unmuted. An observer that the owner did not mute stays unchanged. Complexity:
    /// O(n log n) for n observers of the owner.
    public func unmute() {
        var kept: [(number: PostNumber, mailbox: Mailbox)] = []
        var others: [Mailbox] = []
        for mailbox in attached.compactMap(\.live?.mailbox) {
            if let number = mailbox.postNumberOfKept {
                kept.append((number, mailbox))
            } else {
                others.append(mailbox)
            }
        }
        kept.sort { $0.number < $1.number }
        _ = Mailbox.unmute(others + kept.map(\.mailbox), by: .owner)
    }
}

extension ObjectTable {
    /// The observers of an owner, in order of attachment.
    func observers(of owner: AnyObject) -> [NotificationObserver] {
        // SAFETY: only tokens are attached to an owner; `ObservationRequest.register`,
        // `observeFastPath` and `OwnedRegistration.attach` uphold that.
        tokens(of: owner).map { unsafe unsafeDowncast($0, to: NotificationObserver.self) }
    }
}
