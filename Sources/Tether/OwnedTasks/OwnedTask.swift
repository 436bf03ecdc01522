/// A task that ends with an owner, as the hook of a registration that is attached to the owner.
///
/// The registration begins before the task, because the owner may end at once, and the operation
/// may return before its creator knows the task:
///
///     starting ──▶ running: the task is known ──▶ returned
///         ├──────────────┴──▶ ended: by the owner or a token; the task is cancelled ──▶ returned
///         └──▶ returned: the operation was faster than its creator
///
/// The owner's list retains the registration until the end, and the registration this hook. The
/// task retains this hook until the return. The run, a call under way (`AsyncRun`), retains the
/// registration until then. Waits, audits and leak checks know the run.
///
/// *What it costs* beside the task: this object, its run, the registration with its details, and a
/// token; the lock of the owner's list twice, and the lock of the runs twice. The task enters the
/// run through a task-local value that its creator sets. So the operation is awaited by the task's
/// own closure, and no frame of Tether's is between them.
///
/// SAFETY: `state` is protected by its lock. `run` is set before the task starts, and then, like
/// `begun`, belongs to the task. `progress` is set before other threads find the registration. The
/// other properties never change.
final class OwnedTask: RegistrationHook, @unchecked Sendable {
    private enum State: Sendable {
        case starting
        case running(any CancellableTask)
        case ended
        case returned
    }

    private let state = Locked(State.starting)
    private let kind: OwnedWork
    /// The task in audits and traces.
    private let label: String
    private var run: AsyncRun?
    /// The progress of a loop; `nil` for a task.
    private(set) var progress: LoopProgress?
    private let isOnMainActor: Bool
    /// The moment of the traced beginning.
    private var begun: ObserverEvent.Moment?

    /// Attaches a task to its owner. `start` follows. `actor` isolates the task. `held` holds the
    /// user's code for leak checks.
    init(
        _ kind: OwnedWork, label: String, of owner: AnyObject, key: (any Hashable)?,
        on actor: (any Actor)?, at site: CallSite,
        holding held: @escaping OwnedRegistration.Handler<AnyObject>
    ) {
        self.kind = kind
        self.label = label
        isOnMainActor = actor === MainActor.shared
        super.init()
        let registration = OwnedRegistration(for: self, key: key, at: site, holding: held)
        progress = kind == .loop ? LoopProgress(of: registration) : nil
        // First: a thread that finds the registration in the owner's list can wait for the task.
        run = AsyncRun(of: registration)
        if !registration.attach(as: NotificationObserver(), to: owner, at: site) {
            registration.end()
        }
    }

    override var work: OwnedWork? { kind }
    override var targetDescription: String? { label }
    override var needsMainActor: Bool { isOnMainActor }

    // MARK: The task

    /// Calls `make` as if on `actor`, without waiting for the actor. The task that `make` makes is
    /// isolated to the actor, and enqueued there at once. Its closure calls `begins(on:)` first,
    /// and `returns()` when the operation has returned.
    func start<Success, Failure>(
        on actor: (any Actor)?,
        _ make: @escaping (isolated (any Actor)?) -> Task<Success, Failure>
    ) -> Task<Success, Failure> {
        // `Task.init` enqueues a task on the actor of its closure, so tasks begin in the order of
        // their starts. A closure has the isolation of a parameter of the function around it.
        // SAFETY: the two types differ in the isolation alone, as in `Actor.assumeIsolated`. The
        // function starts a task, and touches no state of the actor.
        let form = unsafe unsafeBitCast(
            IsolatedForm(function: make), to: PlainForm<Success, Failure>.self)
        let task = AsyncRun.$current.withValue(run) { form.function(actor) }
        set(task)
        return task
    }

    /// The registration, while the run retains it.
    private var registration: Registration? { run?.registration as? Registration }

    /// Called first by the task's closure.
    func begins(on actor: isolated (any Actor)?) {
        if hasEnded { OwnedTask.cancelCurrentTask() }
        begun = Events.report(.work(label, at: registration?.site))
    }

    /// Called last by the task's closure. A later end cancels nothing.
    func returns() {
        let old = state.withLock { state in
            let old = state
            state = .returned
            return old
        }
        withExtendedLifetime(old) {}
        registration?.end(because: .returned)
        run.take()?.end()
        Events.endAsync(begun)
    }

    // MARK: The end

    /// For a task that finds the end before the end has found the task.
    static func cancelCurrentTask() {
        // SAFETY: the task does not leave the closure.
        unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
    }

    private var hasEnded: Bool {
        state.withLock { state in
            if case .ended = state { true } else { false }
        }
    }

    /// Sets the task, and cancels it if the registration has ended.
    private func set(_ task: any CancellableTask) {
        let hasEnded = state.withLock { state in
            switch state {
            case .starting:
                state = .running(task)
                return false
            case .ended: return true
            case .running, .returned: return false
            }
        }
        if hasEnded { task.cancel() }
    }

    /// Cancels a task, and a loop that waits for an element. Any other loop returns by itself.
    override func beginFinishing(_ registration: Registration) {
        switch progress?.finish() {
        case nil, .wait: registration.end(because: .finished)
        case .observations(let observations):
            for observation in observations { observation.live?.beginFinishing() }
        case .nothing: break
        }
    }

    override func ended(_ registration: Registration, because cause: EndCause) {
        // The task may run already, and be unknown to its creator: then the cancellation comes a
        // moment later.
        progress?.end()
        let old = state.withLock { state in
            let old = state
            if case .returned = old { return old }
            state = .ended
            return old
        }
        if case .running(let task) = old { task.cancel() }
    }
}

// Structs, because a cast of the function alone adds a thunk.

private struct IsolatedForm<Success: Sendable, Failure: Error> {
    let function: (isolated (any Actor)?) -> Task<Success, Failure>
}

private struct PlainForm<Success: Sendable, Failure: Error> {
    let function: ((any Actor)?) -> Task<Success, Failure>
}

/// A task of any result.
private protocol CancellableTask: Sendable {
    func cancel()
}

extension Task: CancellableTask {}
