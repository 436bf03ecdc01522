/// A task that ends with an owner, as the hook of a registration that is attached to the owner.
///
/// The registration begins before the task, because the owner may end at once, and the operation
/// may return before its creator knows the task:
///
///     starting ──▶ running: the task is known ──▶ returned
///         └──────────────┴──▶ ended: by the owner or a token; the task is cancelled ──▶ returned
///
/// The owner's list retains the registration. The registration retains the hook, and the hook the
/// task, until the end. The task retains the registration as a call under way (`AsyncRun`), which
/// waits, audits and leak checks know until the operation has returned.
///
/// SAFETY: `state` is protected by its lock; the other properties never change.
final class OwnedTask: RegistrationHook, @unchecked Sendable {
    /// The operation, which runs on the given actor.
    typealias Operation<Success> = @Sendable (isolated (any Actor)?) async -> Success

    private enum State: Sendable {
        case starting
        case running(cancel: @Sendable () -> Void)
        case ended
        case returned
    }

    private let state = Locked(State.starting)
    private let kind: OwnedWork
    private let label: String

    /// `label`: the task in audits and traces.
    private init(_ kind: OwnedWork, label: String) {
        self.kind = kind
        self.label = label
    }

    override var work: OwnedWork? { kind }
    override var targetDescription: String? { label }

    // MARK: Starting

    /// The arguments of one start, apart from the owner.
    struct Start {
        let kind: OwnedWork
        /// The task in audits and traces.
        let label: String
        let name: String?
        let priority: TaskPriority?
        /// The actor of the operation's first line.
        let actor: (any Actor)?
        let site: CallSite
    }

    /// Starts a task that is cancelled at an owner's end. `held` holds the user's code for leak
    /// checks.
    static func start<Success: Sendable>(
        _ start: Start, owner: AnyObject,
        holding held: @escaping OwnedRegistration.Handler<AnyObject>,
        operation: @escaping Operation<Success>
    ) -> Task<Success, Never> {
        let task = OwnedTask(start.kind, label: start.label)
        let operation = task.attach(to: owner, at: start.site, holding: held, operation)
        let started = startOnActor(start, operation)
        task.set(cancel: started.cancel)
        return started
    }

    /// As `start`, for an operation that may throw.
    static func startThrowing<Success: Sendable>(
        _ start: Start, owner: AnyObject,
        holding held: @escaping OwnedRegistration.Handler<AnyObject>,
        operation: @escaping Operation<Result<Success, any Error>>
    ) -> Task<Success, any Error> {
        let task = OwnedTask(start.kind, label: start.label)
        let operation = task.attach(to: owner, at: start.site, holding: held, operation)
        let started = startThrowingOnActor(start, operation)
        task.set(cancel: started.cancel)
        return started
    }

    /// Begins the registration. Returns the operation as a call of the registration.
    private func attach<Success>(
        to owner: AnyObject, at site: CallSite,
        holding held: @escaping OwnedRegistration.Handler<AnyObject>,
        _ operation: @escaping Operation<Success>
    ) -> Operation<Success> {
        let registration = OwnedRegistration(for: self, at: site, holding: held)
        // First: a thread that finds the registration in the owner's list can wait for the task.
        let run = AsyncRun(of: registration)
        if !registration.attach(as: NotificationObserver(), to: owner, at: site) {
            registration.end()
        }
        return { actor in await self.perform(operation, as: run, on: actor) }
    }

    /// Runs the operation, and ends the registration inside the call.
    private func perform<Success>(
        _ operation: Operation<Success>, as run: AsyncRun, on actor: isolated (any Actor)?
    ) async -> Success {
        if hasEnded { unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() } }
        let registration = run.registration as? OwnedRegistration
        let begun = Events.areTraced ? Events.report(.work(label, at: registration?.site)) : 0
        let result = await run.perform(on: actor) { actor in
            let result = await operation(actor)
            self.operationReturned()
            registration?.end(because: .returned)
            return result
        }
        if begun > 0 { Events.report(.asyncEnd(begun)) }
        return result
    }

    // MARK: The end

    private var hasEnded: Bool {
        state.withLock { state in
            if case .ended = state { true } else { false }
        }
    }

    /// Sets how the task is cancelled, and cancels it if the registration has ended.
    private func set(cancel: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            switch state {
            case .starting:
                state = .running(cancel: cancel)
                return false
            case .ended: return true
            case .running, .returned: return false
            }
        }
        if hasEnded { cancel() }
    }

    /// A later end cancels nothing.
    private func operationReturned() {
        let old = state.withLock { state in
            defer { state = .returned }
            return state
        }
        withExtendedLifetime(old) {}
    }

    override func ended(_ registration: Registration) {
        let old = state.withLock { state in
            let old = state
            if case .returned = old { return old }
            state = .ended
            return old
        }
        if case .running(let cancel) = old { cancel() }
    }
}

// MARK: On the operation's actor

// `Task.init` enqueues a task on the actor of its closure, so tasks begin in the order of their
// starts. A closure has the isolation of a parameter of the function around it. These functions
// exist for that parameter.

/// Starts a task on an actor.
private func startIsolated<Success: Sendable>(
    on actor: isolated (any Actor)?, _ start: OwnedTask.Start,
    _ operation: @escaping OwnedTask.Operation<Success>
) -> Task<Success, Never> {
    Task(name: start.name, priority: start.priority) {
        await operation(actor)
    }
}

private func startThrowingIsolated<Success: Sendable>(
    on actor: isolated (any Actor)?, _ start: OwnedTask.Start,
    _ operation: @escaping OwnedTask.Operation<Result<Success, any Error>>
) -> Task<Success, any Error> {
    Task(name: start.name, priority: start.priority) {
        try await operation(actor).get()
    }
}

private func startOnActor<Success: Sendable>(
    _ start: OwnedTask.Start, _ operation: @escaping OwnedTask.Operation<Success>
) -> Task<Success, Never> {
    typealias Isolated = (
        isolated (any Actor)?, OwnedTask.Start, @escaping OwnedTask.Operation<Success>
    ) -> Task<Success, Never>
    typealias Plain = (
        (any Actor)?, OwnedTask.Start, @escaping OwnedTask.Operation<Success>
    ) -> Task<Success, Never>
    let function: Isolated = startIsolated
    // SAFETY: the two types differ in the isolation alone, as in `Actor.assumeIsolated`. The
    // function starts a task, and touches no state of the actor.
    return unsafe unsafeBitCast(function, to: Plain.self)(start.actor, start, operation)
}

private func startThrowingOnActor<Success: Sendable>(
    _ start: OwnedTask.Start,
    _ operation: @escaping OwnedTask.Operation<Result<Success, any Error>>
) -> Task<Success, any Error> {
    typealias Isolated = (
        isolated (any Actor)?, OwnedTask.Start,
        @escaping OwnedTask.Operation<Result<Success, any Error>>
    ) -> Task<Success, any Error>
    typealias Plain = (
        (any Actor)?, OwnedTask.Start, @escaping OwnedTask.Operation<Result<Success, any Error>>
    ) -> Task<Success, any Error>
    let function: Isolated = startThrowingIsolated
    // SAFETY: as in `startOnActor`.
    return unsafe unsafeBitCast(function, to: Plain.self)(start.actor, start, operation)
}
