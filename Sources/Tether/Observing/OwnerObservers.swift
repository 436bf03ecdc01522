/// All observers of an owner, on all centers, as one sequence.
///
/// ```swift
/// OwnerObservers(of: sidebar).mute(keepingNewest: true)
/// OwnerObservers(of: sidebar).target = .main
/// print(OwnerObservers(of: sidebar).audit())
/// ```
///
/// The owner's tasks and loops over sequences (`Task(owner:)`, `observe(owner:)`) are counted,
/// listed and cancelled as its observers are, until they end. Closures of
/// `OwnerLifetime.whenEnded(_:_:)` belong to the owner's end: an audit lists them, and no call here
/// forgets them.
///
/// Each call reads the owner's present observers. The owner is not retained. An owner that was
/// deallocated, or is being deinitialized, has no observers. Complexity: O(observers of the owner),
/// unless the call says otherwise. Any thread.
public struct OwnerObservers: Sequence, Sendable {
    private let owner: ObjectReference<AnyObject>

    /// The observers of an owner, perhaps none.
    public init(of owner: AnyObject) { self.owner = ObjectReference(owner) }

    /// The tokens of all that is attached to the owner.
    private var allAttached: [NotificationObserver] {
        owner.retained.map(ObjectTable.shared.observers) ?? []
    }

    /// All but the closures of the owner's end.
    private var attached: [NotificationObserver] {
        allAttached.filter { $0.live?.workHook?.work != .closure }
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

    /// The live observers and closures, in order of attachment, each with its name, sender and
    /// place of registration.
    public func audit() -> Audit { Audit(allAttached.compactMap(\.reference)) }

    /// Ends all observers, and cancels the owner's tasks and loops.
    public func cancel() {
        for observer in attached { observer.cancel() }
    }

    /// Ends all observers, and waits until their handlers on other threads, and the owner's tasks
    /// and loops, have returned.
    ///
    /// All end before the first wait. See `NotificationObserver.cancelAndWait()`.
    /// - Returns: `.wouldDeadlock` if the wait for one of them could not end.
    @available(*, noasync, message: "write 'await'; at the top level of main.swift, in a task")
    @discardableResult
    public func cancelAndWait() -> NotificationObserver.WaitResult {
        let observers = attached
        for observer in observers { observer.cancel() }
        var result = NotificationObserver.WaitResult.finished
        for observer in observers where observer.cancelAndWait() == .wouldDeadlock {
            result = .wouldDeadlock
        }
        return result
    }

    /// Ends all observers, and suspends until none of their handlers, and none of the owner's tasks
    /// and loops, runs.
    ///
    /// All end before the first wait. See `NotificationObserver.cancelAndWait()`.
    /// - Returns: `.wouldDeadlock` if the wait for one of them could not end.
    @discardableResult
    public func cancelAndWait() async -> NotificationObserver.WaitResult {
        let observers = attached
        for observer in observers { observer.cancel() }
        var result = NotificationObserver.WaitResult.finished
        for observer in observers {
            let ended = await observer.cancelAndWait()
            if ended == .wouldDeadlock { result = .wouldDeadlock }
        }
        return result
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

    /// Mutes all present observers of the owner. An observer attached later is not muted, and
    /// neither are the owner's tasks and loops: a loop gets the elements of its sequence.
    ///
    /// Mutings by the owner and by the token are counted apart: either mutes. See
    /// `NotificationObserver.mute(keepingNewest:)`.
    public func mute(keepingNewest: Bool = false) {
        for observer in attached {
            observer.liveObserver?.makeMailboxIfNeeded()
                .mute(by: .owner, keepingNewest: keepingNewest)
        }
    }

    /// Mutes all present observers of the owner while a closure runs.
    ///
    /// ```swift
    /// OwnerObservers(of: sidebar).muted(keepingNewest: true) {
    ///     for row in rows { model.insert(row) }     // each handler runs once
    /// }
    /// ```
    public func muted<Result, Failure>(
        keepingNewest: Bool = false, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        mute(keepingNewest: keepingNewest)
        defer { unmute() }
        return try body()
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
