extension OwnerLifetime {
    /// Calls a closure once, when an object ends.
    ///
    /// ```swift
    /// let timer = DispatchSource.makeTimerSource()
    /// OwnerLifetime.whenEnded(self) { timer.cancel() }
    /// ```
    ///
    /// For what does not end by itself: timers, dispatch sources, KVO and Combine tokens, handles
    /// of other libraries. Compare `rx.deallocated` of RxSwift, and `QObject::destroyed` of Qt.
    ///
    /// The closure is called when the object's last strong reference is released, before the first
    /// line of its `deinit`, on the thread of that release, with no lock held. Where the
    /// Objective-C runtime gives the signal, it is called after the body of `deinit`. Closures,
    /// observers and tasks of one object end in the order in which they began. If the object is
    /// already being deinitialised, the closure is called at once. Where ends are not seen
    /// (`isExact(for:)` is `false`), `purge()` calls the closure.
    ///
    /// Capture what is to be ended, as the timer above. A weak reference to the object is already
    /// `nil` in the closure, and an `unowned` one stops the program. The object is not retained,
    /// unless the closure captures it: then it never ends, and a leak check names the closure.
    /// `OwnerObservers(of:)` counts and cancels the closure, too. Complexity: O(1). Any thread.
    /// - Parameters:
    ///   - object: The object to wait for.
    ///   - fileID: The file of the call, for audits and reports.
    ///   - line: The line of the call.
    ///   - action: The closure, released after its call.
    /// - Returns: A token, which need not be kept. `cancel()` forgets the closure, and releases it
    ///   at once. Neither `cancel()` nor `cancelAndWait()` waits for a closure that has begun.
    @discardableResult
    public static func whenEnded<Object: AnyObject>(
        _ object: Object, fileID: StaticString = #fileID, line: UInt = #line,
        _ action: sending @escaping () -> Void
    ) -> NotificationObserver {
        // SAFETY: the caller has given the closure away; it is called once, by one thread. Leak
        // checks read it.
        nonisolated(unsafe) let action = action
        let site = CallSite(fileID, line, call: "OwnerLifetime.whenEnded(_:_:)")
        let hook = EndAction { unsafe action() }
        let token = NotificationObserver()
        let registration = OwnedRegistration(for: hook, at: site) { _, _ in
            unsafe withExtendedLifetime(action) {}
        }
        if !registration.attach(as: token, to: object, at: site) {
            hook.ownerEnds()
            registration.end()
        }
        return token
    }
}

/// A closure to be called at an owner's end, as the hook of a registration.
///
/// SAFETY: `state` is protected by its lock.
private final class EndAction: RegistrationHook, @unchecked Sendable {
    private enum State: Sendable {
        case waiting(@Sendable () -> Void)
        /// The owner ends, and the end of the registration calls the closure.
        case due(@Sendable () -> Void)
        case over
    }

    private let state: Locked<State>

    init(_ action: @escaping @Sendable () -> Void) { state = Locked(.waiting(action)) }

    override var work: OwnedWork? { .closure }
    override var targetDescription: String? { "owner's end" }

    override func ownerEnds() {
        state.withLock { state in
            if case .waiting(let action) = state { state = .due(action) }
        }
    }

    override func ended(_ registration: Registration) {
        let old = state.withLock { state in
            let old = state
            state = .over
            return old
        }
        // A closure that is forgotten is released here, without the lock.
        if case .due(let action) = old { action() }
    }
}
