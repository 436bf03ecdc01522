// `observe(owner:)` of async sequences. A handler that is synchronous, async or isolated to a
// global actor has one form, because a closure takes its caller's actor, as a task's does. The form
// for an actor as owner takes a handler isolated to the actor.

extension AsyncSequence where Self: Sendable {
    /// Calls a handler with each element, as long as an object, the owner, lives.
    ///
    /// ```swift
    /// Observations { model.title }.observe(owner: self) { sidebar, title in
    ///     sidebar.show(title)
    /// }
    /// ```
    ///
    /// For any `Sendable` async sequence with `Sendable` elements: `Observations`, `AsyncStream`, the notifications of a center, the
    /// bytes of a `URLSession`. The handler receives the owner, and needs no `[weak self]`. It may
    /// be synchronous or async. It runs on its caller's actor, as the closure of a `Task` does, or
    /// on the actor that it names (`{ @MainActor sidebar, title in … }`), and so does the loop. One
    /// call follows the other, in the order of the elements.
    ///
    /// *The owner* is retained for each call, and not while the loop waits for the next element.
    /// The sequence must not capture it, as `Observations { self.title }` and
    /// `stream.map { self.shown($0) }` do: such an owner never ends. When it ends, the loop is cancelled, as a task of `Task(owner:)` is, and no further
    /// call begins. An async call under way keeps its owner until the return. A synchronous or
    /// async handler without an actor may receive an owner that is not `Sendable` on another
    /// thread; the caller answers for that, as with `observe` of a center.
    ///
    /// *The end*: the loop ends with the owner, with the sequence, with `cancel()` of the result,
    /// or with an error of the sequence, which the result throws. A sequence that ignores
    /// cancellation keeps its loop waiting, but no handler is called.
    ///
    /// Complexity: O(1) for each element; at the beginning with a key, O(n) in the owner's observers
    /// and work. Any thread.
    /// - Parameters:
    ///   - owner: The object whose end cancels the loop.
    ///   - key: A value that only one task or loop of the owner has at a time, as for
    ///     `Task(owner:key:)`; omit for none.
    ///   - priority: The priority of the loop; the current task's if omitted.
    ///   - fileID: The file of the call, for audits and reports.
    ///   - line: The line of the call.
    ///   - handler: The code to run for each element.
    /// - Returns: The task of the loop. It throws the error of the sequence, which is lost if nobody
    ///   awaits the value: write `_ =` if that is right. The task of a sequence that never fails need
    ///   not be kept.
    @_disfavoredOverload
    public func observe<Owner: AnyObject>(
        owner: Owner, key: (any Hashable)? = nil, priority: TaskPriority? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext _ handler:
            @escaping @Sendable @isolated(any) (Owner, Element) async
            -> Void
    ) -> Task<Void, any Error> {
        let loop = OwnedLoop(over: self, owner: owner, handler)
        let owned = loop.attach(
            to: owner, key: key, at: CallSite(fileID, line, call: "observe(owner:_:)"))
        return owned.start(on: handler.isolation) { actor in
            Task(priority: priority) { try await loop.run(as: owned, on: actor) }
        }
    }

    /// Calls a handler isolated to an actor, the owner, with each element, as long as the actor
    /// lives.
    ///
    /// ```text
    /// stream.observe(owner: self) { (index: isolated Index, entry) in
    ///     index.add(entry)              // on the actor: no `await`
    /// }
    /// ```
    ///
    /// The owner is retained while an element waits for the actor, and for the call. All else is as
    /// for a handler that takes any owner.
    public func observe<Owner: Actor>(
        owner: Owner, key: (any Hashable)? = nil, priority: TaskPriority? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (isolated Owner, Element) -> Void
    ) -> Task<Void, any Error> where Element: Sendable {
        observe(
            owner: owner, key: key, priority: priority, fileID: fileID, line: line,
            onItsOwner(handler))
    }
}

extension AsyncSequence where Self: Sendable, Failure == Never {
    /// Calls a handler with each element of a sequence that never fails, as long as an object, the
    /// owner, lives.
    ///
    /// As for a sequence that may fail, but the result throws nothing, and need not be kept.
    @discardableResult
    @_disfavoredOverload
    public func observe<Owner: AnyObject>(
        owner: Owner, key: (any Hashable)? = nil, priority: TaskPriority? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext _ handler:
            @escaping @Sendable @isolated(any) (Owner, Element) async
            -> Void
    ) -> Task<Void, Never> {
        let loop = OwnedLoop(over: self, owner: owner, handler)
        let owned = loop.attach(
            to: owner, key: key, at: CallSite(fileID, line, call: "observe(owner:_:)"))
        return owned.start(on: handler.isolation) { actor in
            Task(priority: priority) { await loop.run(as: owned, on: actor) }
        }
    }

    /// Calls a handler isolated to an actor, the owner, with each element of a sequence that never
    /// fails, as long as the actor lives.
    @discardableResult
    public func observe<Owner: Actor>(
        owner: Owner, key: (any Hashable)? = nil, priority: TaskPriority? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (isolated Owner, Element) -> Void
    ) -> Task<Void, Never> where Element: Sendable {
        observe(
            owner: owner, key: key, priority: priority, fileID: fileID, line: line,
            onItsOwner(handler))
    }
}

// MARK: Handlers of other forms

private typealias LoopHandler<Owner, Element> =
    @Sendable @isolated(any) (Owner, Element) async -> Void

/// A handler that is isolated to its owner. The loop may be cancelled while an element waits for
/// the actor, so that is asked again on the actor.
private func onItsOwner<Owner: Actor, Element: Sendable>(
    _ handler: @escaping @Sendable (isolated Owner, Element) -> Void
) -> LoopHandler<Owner, Element> {
    { owner, element in await callUnlessCancelled(on: owner, element, handler) }
}

private func callUnlessCancelled<Owner: Actor, Element: Sendable>(
    on owner: isolated Owner, _ element: Element, _ handler: (isolated Owner, Element) -> Void
) {
    if !Task.isCancelled { handler(owner, element) }
}

// MARK: The loop

/// The loop of one `observe(owner:)`. Retains the owner for each call alone.
private struct OwnedLoop<Elements: AsyncSequence & Sendable, Owner: AnyObject>: Sendable {
    typealias Handler = LoopHandler<Owner, Elements.Element>

    private let elements: Elements
    private let owner: ObjectReference<Owner>
    private let handler: Handler

    init(over elements: Elements, owner: Owner, _ handler: @escaping Handler) {
        self.elements = elements
        self.owner = ObjectReference(owner)
        self.handler = handler
    }

    func attach(to owner: Owner, key: (any Hashable)?, at site: CallSite) -> OwnedTask {
        // Leak checks do not read captures of a generic type.
        let sequence: any Sendable = elements
        let owned = OwnedTask(
            .loop, label: "loop over \(Elements.self)", of: owner, key: key,
            on: handler.isolation, at: site,
            holding: { [handler] _, _ in withExtendedLifetime((handler, sequence)) {} })
        if let progress = owned.progress {
            (elements as? any CenterSequence)?.beginObservation(for: progress)
        }
        return owned
    }

    /// Runs on the handler's actor, and so do the iterator and the elements.
    func run(as owned: OwnedTask, on actor: isolated (any Actor)?) async throws(Elements.Failure) {
        owned.begins(on: actor)
        defer { owned.returns() }
        guard let progress = owned.progress,
            var iterator = progress.makeIterator({ elements.makeAsyncIterator() })
        else { return }
        while let element = try await iterator.next(isolation: actor) {
            guard await call(with: element, in: progress, on: actor) else {
                // The end of the owner may not have reached the task yet.
                OwnedTask.cancelCurrentTask()
                return
            }
        }
    }

    /// Calls the handler; false if the owner or the loop has ended, or the loop is to stop. A
    /// function of its own, so that owner and element are released before the next wait.
    private func call(
        with element: Elements.Element, in progress: LoopProgress,
        on actor: isolated (any Actor)?
    ) async -> Bool {
        guard !Task.isCancelled, let owner = owner.retained, progress.beginsCall() else {
            return false
        }
        // SAFETY: both stay on the handler's actor, where this function runs. Without an actor the
        // caller answers for the owner, as in `observe` of a center.
        nonisolated(unsafe) let argument = owner
        nonisolated(unsafe) let element = element
        unsafe await handler(argument, element)
        return progress.endsCall()
    }
}
