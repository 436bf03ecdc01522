public import Foundation

/// Posts as an async sequence: see `notifications(named:from:owner:buffering:)` of every center,
/// and `messages(of:for:owner:buffering:)` of `ObserverCenter`.
///
/// *Delivery*: each iteration is an observation of its own. The first begins when the sequence is
/// made, each further one when an iterator is made. An observation keeps later posts, within the
/// buffering policy. A sequence retains neither center, sender nor owner.
///
/// *The end*: an iteration ends
/// - when the sender, or the center, has been deallocated, after the notifications that were posted
///   before;
/// - at once, when the owner has been deallocated, or the observer was removed;
/// - when the iterating task is cancelled: at once if the task waits for an element, or else at its
///   next call. Until then later notifications are buffered.
///
/// In the last two cases the buffered notifications are released.
///
/// An iteration that begins after the owner, the sender or the center was deallocated is at the
/// end. Observer and buffer end with the iterator, or with a sequence that was never iterated.
///
/// *Thread safety*: several tasks can iterate a sequence at a time. An iterator is not `Sendable`.
/// A notification passes to the iterating task, and the caller answers for its content, as with a
/// queue.
public struct NotificationSequence<Element>: AsyncSequence, Sendable {
    /// A sequence never fails.
    public typealias Failure = Never

    private let source: SequenceSource
    /// Makes an element of a notification, or none.
    private let convert: @Sendable (Notification) -> Element?

    init(_ source: SequenceSource, convert: @escaping @Sendable (Notification) -> Element?) {
        self.source = source
        self.convert = convert
    }

    /// Makes an iterator with an observation of its own.
    public func makeAsyncIterator() -> Iterator {
        Iterator(iteration: source.iterate(), convert: convert)
    }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        /// `nil` if an object of the sequence had been deallocated.
        fileprivate let iteration: SequenceIteration?
        fileprivate let convert: @Sendable (Notification) -> Element?

        /// How many elements the iteration's buffer has dropped so far, by the buffering policy.
        ///
        /// A reader that sees the number grow has missed posts, and may read the present state.
        /// Complexity: O(1).
        public var droppedCount: Int { iteration?.droppedCount ?? 0 }

        /// The next element, as soon as posted; `nil` at the end.
        public mutating func next() async -> Element? { await next(isolation: nil) }

        /// The next element, as soon as posted; `nil` at the end. The caller waits on `actor`.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never)
            -> Element?
        {
            while let notification = await iteration?.next(isolation: actor) {
                if let element = convert(notification) { return element }
            }
            return nil
        }
    }
}

@available(*, unavailable)
extension NotificationSequence.Iterator: Sendable {}

// MARK: Making sequences

extension NotifyingCenter {
    /// The notifications posted from now on, as an async sequence.
    ///
    /// ```swift
    /// let name = Notification.Name.modelDidChange
    /// for await note in center.notifications(named: name) { … }
    /// ```
    ///
    /// Observation begins with this call: no later post is missed, also not before the iteration,
    /// within the buffering policy. See ``NotificationSequence`` for the end. A buffered
    /// notification keeps its object.
    ///
    /// On Apple platforms Foundation's own center has a method `notifications(named:object:)`
    /// without these promises. There a call with a name alone is Foundation's; add a `buffering:`.
    /// Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, not retained, whose end ends the sequence; omit for any.
    ///   - owner: An object whose life bounds the sequence, not retained; omit for none.
    ///   - policy: The bound on buffered notifications, none if omitted; a number below 1 stops the
    ///     program.
    ///   - fileID: The file of the call, for audits and reports.
    ///   - line: The line of the call.
    public func notifications(
        named name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        owner: AnyObject = Omitted.argument,
        buffering policy: BufferingPolicy = .unbounded, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> NotificationSequence<Notification> {
        let site = CallSite(fileID, line)
        return NotificationSequence(
            SequenceSource(
                self, name, from: .given(sender, at: site), owner: owner, policy, at: site)
        ) { $0 }
    }

    /// The values that a closure makes of the notifications posted from now on, as an async
    /// sequence.
    ///
    /// ```swift
    /// let rows = center.notifications(named: .modelDidChange, making: { note in
    ///     note.userInfo?["row"] as? Int
    /// })
    /// for await row in rows { … }
    /// ```
    ///
    /// A `Notification` is not `Sendable`, so operators that hand elements to other tasks, such as
    /// `debounce` of AsyncAlgorithms, do not take a sequence of notifications. They take this one.
    ///
    /// *Delivery*: the closure runs on the posting thread, inside the post, once for each iteration
    /// that is under way. The buffer holds values, and keeps no notification. All else is as for
    /// `notifications(named:from:owner:buffering:fileID:line:)`. A value of `nil` leaves the
    /// notification out, and so does a value that is an object being deinitialized. A capture of
    /// the closure is released when the sequence and its iterators have ended.
    public func notifications<Value: Sendable>(
        named name: Notification.Name?, from sender: AnyObject = Omitted.argument,
        owner: AnyObject = Omitted.argument,
        buffering policy: BufferingPolicy = .unbounded, fileID: StaticString = #fileID,
        line: UInt = #line, making makeValue: @escaping @Sendable (Notification) -> Value?
    ) -> NotificationSequence<Value> {
        let site = CallSite(fileID, line)
        let source = SequenceSource(
            self, name, from: .given(sender, at: site), owner: owner, policy, at: site,
            making: { notification in
                guard let value = makeValue(notification), !Notification.isEnding(value) else {
                    return nil
                }
                return Notification(name: notification.name, object: MadeValue(value))
            })
        return NotificationSequence(source) { ($0.object as? MadeValue<Value>)?.value }
    }
}

/// A value in a buffer, as the object of a notification.
private final class MadeValue<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

extension ObserverCenter {
    /// The notifications of a name and a sender, posted from now on, by Foundation's call.
    ///
    /// For a bound or an owner, see `notifications(named:from:owner:buffering:)`. A `nil` is any
    /// sender.
    public func notifications(
        named name: Notification.Name?, object: Any?, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> NotificationSequence<Notification> {
        let site = CallSite(fileID, line, call: "ObserverCenter.notifications(named:object:)")
        let source = SequenceSource(
            self, name, from: SenderFilter(any: object, at: site), owner: Omitted.argument,
            .unbounded, at: site)
        return NotificationSequence(source) { $0 }
    }

    /// The notifications of a name and a sender, with Foundation's parameters: for a protocol, or
    /// as a function value.
    @_documentation(visibility: internal)
    @_disfavoredOverload
    public func notifications(named name: Notification.Name, object: AnyObject?)
        -> NotificationSequence<Notification>
    {
        notifications(named: name, object: object, fileID: CallSite.unknownFile, line: 0)
    }
}

/// The first observation of a sequence, and the way to begin further ones, which retains no object.
final class SequenceSource: Sendable {
    /// Begins an observation; `nil` if the center, the sender or the owner has been deallocated.
    private let begin: @Sendable () -> SequenceIteration?
    /// The observation that began at the call, until an iterator takes the observation.
    private let first: Locked<SequenceIteration?>

    /// Begins the first observation. `hook` makes a hook that converts posts for one observation.
    /// `makeElement` makes the notification to buffer of a posted one; `nil` leaves it out.
    init(
        _ center: any NotifyingCenter, _ name: Notification.Name?, from sender: SenderFilter,
        owner: AnyObject,
        _ policy: BufferingPolicy, at site: CallSite,
        hook: (@Sendable () -> RegistrationHook)? = nil,
        making makeElement: @escaping @Sendable (Notification) -> Notification? = {
            $0.withoutEndingObject
        }
    ) {
        let center = ObjectReference<AnyObject>(center)
        let owner = ObjectReference(owner)
        let object = sender.object.map { ObjectReference($0) }
        // Any sender, or a value, which stays the same.
        // SAFETY: a value is only compared and hashed.
        nonisolated(unsafe) let fixedSender = object == nil ? sender : nil
        begin = {
            guard let center = center.retained as? any NotifyingCenter, let owner = owner.retained,
                let sender = unsafe fixedSender ?? object?.retained.map(SenderFilter.object)
            else { return nil }
            let buffer = SequenceBuffer(policy)
            buffer.nextHook = hook?()
            let request = ObservationRequest(
                name: name, sender: sender, target: .postingThread, site: site,
                hook: buffer)
            let offer: @Sendable (Notification) -> Void = { notification in
                if let element = makeElement(notification) { buffer.offer(element) }
            }
            let observer =
                Omitted.stands(for: owner)
                ? center.observe(request, offer)
                : center.observe(request, for: owner) { offer($1) }
            return SequenceIteration(buffer, observer)
        }
        first = Locked(begin())
    }

    /// The observation that began with the loop of an owner, or the first one, or else a new one.
    func iterate() -> SequenceIteration? {
        let loop = LoopProgress.makingIterator
        if let begun = loop?.takeFirst() as? SequenceIteration { return begun }
        let iteration = makeIteration()
        if let loop { iteration?.isRead(by: loop) }
        return iteration
    }

    func beginObservation(for loop: LoopProgress) {
        guard let iteration = makeIteration() else { return }
        iteration.isRead(by: loop)
        loop.keepFirst(iteration)
    }

    private func makeIteration() -> SequenceIteration? { first.withLock { $0.take() } ?? begin() }
}

extension NotificationSequence: CenterSequence {
    func beginObservation(for loop: LoopProgress) { source.beginObservation(for: loop) }
}
