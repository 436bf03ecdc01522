extension Task where Failure == Never {
    /// Starts a task that is cancelled when an object, the owner, ends.
    ///
    /// ```swift
    /// // Nothing to store, nothing to cancel.
    /// Task(owner: self) { [weak self] in
    ///     while !Task.isCancelled {
    ///         await self?.refresh()
    ///         try? await Task.sleep(for: .seconds(60))
    ///     }
    /// }
    /// ```
    ///
    /// The task is cancelled when the owner's last strong reference is released, before the first
    /// line of its `deinit`, at the moment when the owner's observers end. Where the Objective-C
    /// runtime gives the signal, that is after the body of `deinit`. As every cancellation, this
    /// one sets a flag. An operation that ignores `Task.isCancelled` goes on, and a leak check
    /// names it.
    ///
    /// With a `key`, the new task replaces the owner's task or loop of an equal key, which is
    /// cancelled first:
    ///
    /// ```swift
    /// // Only the latest search shows its result.
    /// Task(owner: self, key: "search") { [weak self] in
    ///     let found = await catalog.search(model.title)
    ///     guard !Task.isCancelled else { return }
    ///     self?.show(found)
    /// }
    /// ```
    ///
    /// The task does not retain the owner, but its operation retains what it captures. Capture the
    /// owner weakly, and take it for one step at a time. `self.` must be written, so that a capture
    /// is seen. An owner that the operation captures ends after the return; a leak check names an
    /// operation that never returns.
    ///
    /// Actor, priority and task-local values are those of `Task.init(priority:operation:)`, and the
    /// operation begins where it would begin there. A task-local value that holds the owner keeps
    /// it until the return. If the owner is already being deinitialized,
    /// the task starts cancelled. `OwnerObservers(of:)` counts and cancels the task, and an audit
    /// lists it as "task", until the operation has returned. No call waits for a task that another
    /// one has replaced by its key. Complexity: O(1); with a key O(n) in the owner's observers and
    /// work; and O(n) in n tasks of owners that each started the next and are all under way. Any
    /// thread.
    /// - Parameters:
    ///   - owner: The object whose end cancels the task.
    ///   - key: A value that only one task or loop of the owner has at a time; omit for none.
    ///   - name: The name of the task, for debuggers and audits.
    ///   - priority: The priority; the current task's if omitted.
    ///   - fileID: The file of the call, for audits and reports.
    ///   - line: The line of the call.
    ///   - operation: The code to run.
    @discardableResult
    public init(
        owner: AnyObject, key: (any Hashable)? = nil, name: String? = nil,
        priority: TaskPriority? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async -> Success
    ) {
        // SAFETY: only the task calls the operation; leak checks read it.
        nonisolated(unsafe) let operation = operation
        let owned = OwnedTask(
            .task, label: OwnedTask.label(name), of: owner, key: key,
            on: unsafe operation.isolation,
            at: CallSite(fileID, line, call: "Task.init(owner:)"),
            holding: OwnedRegistration.handler(
                withContextOf: unsafe Operation(function: operation)))
        self = owned.start(on: unsafe operation.isolation) { actor in
            Task(name: name, priority: priority) {
                owned.begins(on: actor)
                defer { owned.returns() }
                return unsafe await operation()
            }
        }
    }
}

extension Task where Failure == any Error {
    /// Starts a task that may throw, and is cancelled when an object, the owner, ends.
    ///
    /// See `init(owner:key:name:priority:fileID:line:operation:)` of a task that does not throw.
    @discardableResult
    public init(
        owner: AnyObject, key: (any Hashable)? = nil, name: String? = nil,
        priority: TaskPriority? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async throws -> Success
    ) {
        // SAFETY: only the task calls the operation; leak checks read it.
        nonisolated(unsafe) let operation = operation
        let owned = OwnedTask(
            .task, label: OwnedTask.label(name), of: owner, key: key,
            on: unsafe operation.isolation,
            at: CallSite(fileID, line, call: "Task.init(owner:)"),
            holding: OwnedRegistration.handler(
                withContextOf: unsafe ThrowingOperation(function: operation)))
        self = owned.start(on: unsafe operation.isolation) { actor in
            Task(name: name, priority: priority) {
                owned.begins(on: actor)
                defer { owned.returns() }
                return unsafe try await operation()
            }
        }
    }
}

private struct Operation<Success> {
    let function: @isolated(any) () async -> Success
}

private struct ThrowingOperation<Success> {
    let function: @isolated(any) () async throws -> Success
}

extension OwnedTask {
    /// A task of a name in audits and traces.
    fileprivate static func label(_ name: String?) -> String {
        guard let name else { return "task" }
        return "task \(name)"
    }
}
