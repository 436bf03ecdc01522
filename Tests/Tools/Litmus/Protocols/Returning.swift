/// The end of an observer on a queue leaves the registration to the return of a running handler
/// (R8). The return costs a compare-exchange and no lock.
///
/// A call begins under the lock, and stores that the handler runs. The end asks under the lock
/// whether the handler runs, and in the same step asks the return to take the lock. The return
/// exchanges `running` for 0, unless the end asked before.
struct Returning: Modelled {
    let lock = Lock("the lock of the pending deliveries")
    /// 0, or 1 while the handler runs; 2 more if the return is awaited.
    let execution = Location("execution")
    let hasEnded = Location("hasEnded")
    let registrationForCall = Location("registrationForCall")
    /// The handler's captures: the handler stores 1; 9 means released.
    let captures = Location("captures")

    var returnOrder = Order.acquiringAndReleasing
    var question = Order.acquiringAndReleasing
    var look = Order.acquiring
    /// Whether the return is a single step.
    var returnsInOneStep = true
    /// Whether a call begins under the lock.
    var beginsUnderLock = true
    /// Whether the end asks the return to take the lock.
    var asks = true

    init(on machine: Machine) {}

    static let code = [
        Code(
            "Tether/Core/Delivery/HandlerExecution.swift", "func begin(", "func endUnlessAwaited(",
            "func awaitReturnIfRunning(", "bits.load(ordering: .acquiring) == 0",
            "bits.bitwiseOr(Self.awaited, ordering: .acquiringAndReleasing)",
            "bits.compareExchange(expected: Self.running, desired: 0, "
                + "ordering: .acquiringAndReleasing)",
            "bits.store(Self.running | Self.awaited, ordering: .releasing)",
            "bits.store(Self.running, ordering: .releasing)",
            "bits.store(0, ordering: .releasing)"),
        Code(
            "Tether/Core/Delivery/Mailbox.swift", "func deliver(", "func begin(",
            "execution.endUnlessAwaited()", "let isRunning = execution.awaitReturnIfRunning()",
            "if isRunning { state.extras.registrationForCall = registration }",
            "effects.release(state.extras.registrationForCall.take())"),
    ]

    /// `Mailbox.begin`: whether the handler is called.
    func begin() -> Bool {
        guard hasEnded.load(.plain) == 0 else { return false }
        execution.store(1, .releasing)
        return true
    }

    /// `Mailbox.deliver`
    func deliver() {
        var begins = false
        if beginsUnderLock { lock.withLock { begins = begin() } } else { begins = begin() }
        guard begins else { return note("nothing runs") }
        captures.store(1, .plain)
        if returnsInOneStep {
            if execution.compareExchange(expected: 1, desired: 0, returnOrder) { return }
        } else {
            if execution.load(.acquiring) == 1 { return execution.store(0, .releasing) }
        }
        // `Mailbox.endCall`
        var isKept = false
        lock.withLock { isKept = registrationForCall.load(.plain) == 1 }
        if isKept { release() }
    }

    /// `Registration.completeDetachedEnd`, with `Mailbox.end(of:)` and
    /// `awaitReturnIfRunning()`.
    func end() {
        var isRunning = false
        lock.withLock {
            hasEnded.store(1, .plain)
            isRunning = awaitReturnIfRunning()
            if isRunning { registrationForCall.store(1, .plain) }
        }
        if !isRunning { release() }
    }

    /// `HandlerExecution.awaitReturnIfRunning`
    private func awaitReturnIfRunning() -> Bool {
        if execution.load(look) == 0 { return false }
        let old =
            asks
            ? execution.exchange(question) { $0.number & 1 == 1 ? 3 : 2 }
            : execution.load(.acquiring)
        if old == 0 { execution.store(0, .releasing) }
        return old != 0
    }

    private func release() {
        note("captures at the release", captures.load(.plain))
        captures.store(9, .plain)
        note("released")
    }

    static let claims: [Claim<Returning>] = [
        Claim(
            "an observer's captures are released once, and after a handler that was running (R8)",
            mutants: [
                Mutant("the return is a load and a store", breaksOn: .all) {
                    $0.returnsInOneStep = false
                },
                Mutant("a call begins without the lock", breaksOn: .all) {
                    $0.beginsUnderLock = false
                },
                Mutant("the end does not ask the return to take the lock", breaksOn: .all) {
                    $0.asks = false
                },
                Mutant("the return and the question are relaxed", breaksOn: .weak) {
                    $0.returnOrder = .relaxed
                    $0.question = .relaxed
                },
                Mutant("the look before the question is relaxed", breaksOn: .weak) {
                    $0.look = .relaxed
                },
            ]
        ) { code in
            Scenario(
                forbidden: {
                    !$0.has("released")
                        || (!$0.has("nothing runs") && $0["captures at the release"] != 1)
                },
                .init("deliver") { code.deliver() },
                .init("end") { code.end() })
        }
    ]
}
