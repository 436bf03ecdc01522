extension OwnerLifetime {
    /// Calls a closure once, when an object ends.
    ///
    /// ```swift
    /// let timer = DispatchSource.makeTimerSource()
    /// OwnerLifetime.whenEnded(self) { timer.cancel() }
    /// OwnerLifetime.whenEnded(self) { @MainActor in sidebar.clear() }
    /// ```
    ///
    /// For what does not end by itself: timers, dispatch sources, sockets, KVO and Combine tokens,
    /// handles of other libraries. Compare `rx.deallocated` of RxSwift, and `QObject::destroyed` of
    /// Qt.
    ///
    /// *When*: the object's last strong reference has been released, and the first line of its
    /// `deinit` has not run. Where the Objective-C runtime gives the signal, the body of `deinit`
    /// has run. Closures, observers and tasks of one object end in the order in which they began,
    /// the opposite order of `defer`. If things must end in another order, end them in one closure.
    /// If the object is already being deinitialized, the closure is called at once. Where ends are
    /// not seen (`isExact(for:)` is `false`), `purge()` calls the closure.
    ///
    /// *Where*: on the thread that releases the object, with no lock held. A closure of the main
    /// actor (`{ @MainActor in … }`, a method or a variable of such a type) runs on the main actor:
    /// inside the end if the end comes there, and else in a task. A closure of another global actor
    /// always runs in a task.
    ///
    /// Capture what is to be ended, as the timer above. A weak reference to the object is already
    /// `nil` in the closure, and an `unowned` one stops the program. The object is not retained,
    /// unless the closure captures it: then it never ends, and a leak check names the closure.
    ///
    /// The closure belongs to the object's end. `cancel()` and `finish()` of `OwnerObservers`, and
    /// of centers, leave it alone. Complexity: O(1). Any thread.
    /// - Parameters:
    ///   - object: The object to wait for.
    ///   - fileID: The file of the call, for audits and reports.
    ///   - line: The line of the call.
    ///   - action: The closure, released after its call.
    /// - Returns: A token that can forget the closure.
    @discardableResult
    public static func whenEnded(
        _ object: AnyObject, fileID: StaticString = #fileID, line: UInt = #line,
        _ action: sending @escaping @isolated(any) () -> Void
    ) -> EndToken {
        // SAFETY: the caller has given the closure away; it is called once, by one thread. Leak
        // checks read it.
        nonisolated(unsafe) let action = action
        let site = CallSite(fileID, line, call: "OwnerLifetime.whenEnded(_:_:)")
        let closure = unsafe EndClosure(function: action)
        let token = NotificationObserver()
        let registration = OwnedRegistration(
            for: EndAction(closure), at: site,
            holding: OwnedRegistration.handler(withContextOf: closure))
        if !registration.attach(as: token, to: object, at: site) {
            registration.end(because: .ownerEnded)
        }
        return EndToken(observer: token)
    }

    /// A closure that is to be called at an object's end; see ``whenEnded(_:fileID:line:_:)``.
    ///
    /// The token need not be kept, and its release changes nothing. Any thread.
    public struct EndToken: Sendable {
        let observer: NotificationObserver

        /// Whether the closure is still to be called.
        public var isActive: Bool { observer.isActive }

        /// Forgets the closure, and releases it at once. A closure that has begun goes on.
        public func cancel() { observer.cancel() }
    }
}

/// The closure of `whenEnded`, with the actor that isolates it, if any.
///
/// SAFETY: the creator has given the closure away, and one thread or task calls it.
private struct EndClosure: @unchecked Sendable {
    let function: @isolated(any) () -> Void

    /// Calls a closure without an actor on the ending thread, and every other one on its actor.
    func call() {
        let actor = function.isolation
        guard actor == nil || (actor === MainActor.shared && MainQueue.isCurrent) else {
            Task { await function() }
            return
        }
        // SAFETY: the two types differ in the isolation alone, as in `Actor.assumeIsolated`, and
        // the caller is on the actor. Structs, because the cast of the function alone does not
        // compile.
        let form = unsafe unsafeBitCast(self, to: PlainClosure.self)
        form.function()
    }

    private struct PlainClosure { let function: () -> Void }
}

/// A closure to be called at an owner's end, as the hook of a registration.
///
/// SAFETY: `closure` is protected by its lock.
private final class EndAction: RegistrationHook, @unchecked Sendable {
    /// The closure, until the end.
    private let closure: Locked<EndClosure?>

    init(_ closure: EndClosure) { self.closure = Locked(closure) }

    override var work: OwnedWork? { .closure }
    override var targetDescription: String? { "owner's end" }

    override func ended(_ registration: Registration, because cause: EndCause) {
        // A closure that is forgotten is released here, without the lock.
        let closure = closure.withLock { $0.take() }
        if cause == .ownerEnded { closure?.call() }
    }
}
