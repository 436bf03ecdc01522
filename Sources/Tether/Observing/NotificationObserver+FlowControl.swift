extension NotificationObserver {
    // MARK: The backlog (D8)

    /// How many deliveries may wait for this observer on its target; all, unless this is set.
    ///
    /// ```swift
    /// token.backlog = .newest(1)
    /// ```
    ///
    /// Set on a live observer it drops at once what is more than may wait. What is dropped is counted in the audit. A
    /// `once` observer is not affected: the first delivery is its only one (R7). A property keeps
    /// its backlog from one `observe(_:from:on:once:_:)` to the next. On any other observer that has ended setting it
    /// does nothing, and it reads `.unbounded`.
    ///
    /// Complexity: O(1), plus O(d log p) where d of p pending deliveries are dropped. Any thread.
    public var backlog: BufferingPolicy {
        get {
            if let property { return property.state.withLock { $0.backlog } }
            return look(\.pending)?.backlog ?? .unbounded
        }
        set {
            guard let property else {
                look(\.madePending)?.setBacklog(newValue)
                return
            }
            // Under the property's lock, so that of two settings at once the same one wins everywhere. What is let go
            // of goes after the lock.
            let pending = property.state.withLock { state -> PendingDeliveries? in
                state.backlog = newValue
                return state.current?.look(\.madePending)
            }
            pending?.setBacklog(newValue)
        }
    }

    // MARK: Muting (D9)

    /// Whether the observer is muted, by itself or with its owner. Complexity: O(1). Any thread.
    public var isMuted: Bool {
        if let property, property.state.withLock({ $0.muting.count > 0 }) { return true }
        return look(\.pending)?.isMuted ?? false
    }

    /// Mutes the observer: what is posted from now on does not reach it, until `unmute()` was called as often as this.
    ///
    /// ```swift
    /// token.mute(keepingNewest: true)
    /// defer { token.unmute() }
    /// // Many posts; the handler runs once.
    /// for row in rows { model.insert(row) }
    /// ```
    ///
    /// Posts meanwhile are dropped, and counted in the audit. With `keepingNewest` the newest is kept, and
    /// delivered at the last `unmute()`: it is pending until then, holds its object, and is let go when the observer
    /// ends. Where several mutings overlap, the newest is kept from when the first one asks for it.
    ///
    /// *Delivery*: what was posted before is delivered all the same, also while muted. Neither what is dropped nor what
    /// is displaced uses up a `once` observer (R7). Muting works on every target, and stays when the
    /// target is switched. A property is muted, not its registration: another `observe(_:from:on:once:_:)` begins
    /// muted, with nothing kept.
    ///
    /// *Thread safety*: any thread, also inside a handler; never waits. A handler that a post on another thread has
    /// begun to call may still run. On an observer that has ended it does nothing. Complexity: O(1).
    /// - Parameter keepingNewest: Whether the newest of what is posted meanwhile is kept for the last `unmute()`.
    public func mute(keepingNewest: Bool = false) {
        guard let property else {
            look(\.madePending)?.mute(by: .token, keepingNewest: keepingNewest)
            return
        }
        let pending = property.state.withLock { state in
            state.muting.begin(keepingNewest: keepingNewest)
            return state.current?.look(\.madePending)
        }
        pending?.mute(by: .others(count: 1), keepingNewest: keepingNewest)
    }

    /// Ends one muting; the last one delivers what was kept.
    ///
    /// *Delivery*: as if it were posted now, to this observer alone. On `.postingThread`, and on a target that calls the handler at once
    /// here (D3), the handler runs before this returns. Otherwise the notification is enqueued.
    ///
    /// One `unmute()` more than there were `mute(keepingNewest:)` stops the program with a sentence, unless the observer
    /// has ended. Any thread. Complexity: O(1), and what the handler takes.
    public func unmute() {
        guard let property else {
            guard let (known, site) = look({ ($0.madePending, $0.site) }), let pending = known else { return }
            guard PendingDeliveries.unmute([pending], by: .token) else {
                // Not covered: ends the process; FlowControlMisuseTests run it apart.
                fatalError(
                    "NotificationObserver.unmute(): the observer registered at \(site.file):"
                        + "\(site.line) was not muted by its token; call unmute() once for each "
                        + "mute(keepingNewest:), and OwnerObservers.unmute() for each OwnerObservers.mute(keepingNewest:)."
                )
            }
            return
        }
        let (isMuted, pending) = property.state.withLock { state in
            (state.muting.end(), state.current?.look(\.madePending))
        }
        guard isMuted else {
            // Not covered: ends the process; FlowControlMisuseTests run it apart.
            fatalError(
                "NotificationObserver.unmute(): the observer, made with init(center:), was not muted; call unmute() "
                    + "once for each mute(keepingNewest:).")
        }
        if let pending { _ = PendingDeliveries.unmute([pending], by: .others(count: 1)) }
    }
}
