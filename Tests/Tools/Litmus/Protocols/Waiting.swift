/// `cancelAndWait()`, awaited or not, returns when no handler of the registration runs on another
/// thread (R2).
///
/// The handler's thread sets its hazard pointer, and then reads the state. A stopper closes the
/// state, and then reads the hazard pointers. The handler's thread clears its hazard pointer, and
/// then reads the awaited word. A waiter sets a bit in the awaited word, and then reads the hazard
/// pointers. Both are store buffering, and the posting side is to cost nothing: the waiter fences
/// all threads (`membarrier`), or the load of the awaited word orders (ARM64), or posts fence.
struct Waiting: Modelled {
    var posting: Posting
    /// The state of the registration.
    let state = Location("state")
    let waiters = Lock("HandlerWait.waiters")
    /// The handler's store, for the waiting thread.
    let data = Location("data")
    /// The registration's strong references.
    let references = Location("references", initially: 1)
    let runs = Lock("AsyncRun.underWay")
    let underWay = Location("underWay", initially: 1)

    var stateLoad = Order.acquiring
    var close = Order.sequentiallyConsistent
    var goneFence: Order? = .acquiring
    var registrationLoad = Order.acquiring

    /// Whether a wait reads first whether the registration has ended, and then the hazard pointers.
    var readsEndFirst = true
    /// Whether a return that others wait for fences between its reads.
    var fencesAtReturn = true

    /// Whether an async handler's thread looks for waiting threads after the removal of the call.
    var looksLast = true

    init(on machine: Machine) {
        posting = Posting(on: machine)
    }

    static let code = [
        Code(
            "Tether/Threads/HandlerWait.swift", "func resumeWaiters(", "func add(",
            "EpochGuard.fenceOthers()", "atomicMemoryFence(ordering: .sequentiallyConsistent)"),
        Code("Tether/Threads/AsyncRun.swift", "func perform("),
        Code(
            "Tether/Core/Registration/Registration.swift", "func receive(", "func close(",
            "func perform("),
        Code(
            "Tether/Observing/NotificationObserver.swift", "func cancelAndWait() -> ",
            "func cancelAndWait() async",
            "atomicMemoryFence(ordering: .acquiring)"),
        Code(
            "COwnerLifetime/ThreadRecord.c", "bool tether_fence_all_threads(",
            "__atomic_thread_fence(__ATOMIC_SEQ_CST)"),
        Code(
            "COwnerLifetime/include/COwnerLifetime.h",
            "__atomic_load_n(&tether_awaited, __ATOMIC_SEQ_CST) != 0",
            "__atomic_load_n(&tether_awaited, __ATOMIC_SEQ_CST) & tether_awaited_bit(registration)",
            "__atomic_fetch_or(&tether_awaited, tether_awaited_bit(registration), __ATOMIC_SEQ_CST)"
        ),
        Code(
            "Tether/Threads/Reclamation.swift", "func setHazardPointer(", "func fenceOthers(",
            "registration.publish(0)"),
    ]

    /// `Registration.run`, in a block; a post does the same after more loads.
    func handler() {
        posting.beginBlock()
        posting.setHazardPointer()
        guard state.load(stateLoad) == 0 else { return }
        note("handler runs")
        data.store(1, .plain)
        posting.end()
    }

    /// `HandlerWait.add`.
    func enlist() {
        waiters.withLock {
            posting.beginAwaiting()
            posting.fenceOthers()
            if posting.visit() != 0, posting.registration.load(registrationLoad) == 1 {
                note("waits")
            } else {
                note("returns")
            }
        }
    }

    /// The part of `HandlerWait.add` and `HandlerWait.resumeWaiters` that finds a wait to be
    /// over, where others end the registration, as during a `finish()`.
    func look(_ fenceBetween: () -> Void) {
        var end = Value(0)
        if readsEndFirst { end = state.load(.sequentiallyConsistent) }
        fenceBetween()
        if posting.visit() != 0, posting.registration.load(registrationLoad) == 1 { return }
        if !readsEndFirst { end = state.load(.sequentiallyConsistent) }
        if end == 1 { note("returns") }
    }

    /// A handler beside a wait, where a third thread ends the registration.
    func endByAnother(besides name: String, _ wait: @escaping () -> Void) -> Scenario {
        Scenario(
            forbidden: { $0.has("handler runs") && $0.has("returns") && $0["data"] == 0 },
            .init("block") { handler() },
            .init("cancel") { state.exchange(close) { _ in 1 } },
            .init(name) {
                wait()
                note("data", data.load(.plain))
            })
    }

    static let claims: [Claim<Waiting>] = [
        Claim(
            "no handler starts once cancelAndWait() has returned",
            mutants: [
                Mutant("a fence is refused, unnoticed", breaksOn: .x86AndLanguage) {
                    $0.posting.isFenced = false
                },
                Mutant("the awaited word is loaded relaxed", breaksOn: [.armRCpc, .languageOnARM]) {
                    $0.posting.awaitedLoad = .relaxed
                },
                Mutant("a block begins with release", breaksOn: [.languageOnARM]) {
                    $0.posting.blockStore = .releasing
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("handler runs") && $0.has("returns") && $0["data"] == 0 },
                .init("block") { code.handler() },
                .init("cancelAndWait") {
                    code.state.exchange(code.close) { _ in 1 }
                    code.enlist()
                    note("data", code.data.load(.plain))
                })
        },
        Claim(
            "no handler runs once finish() has returned, though another thread ended the observer",
            mutants: [
                Mutant("the hazard pointers are read before the end", breaksOn: .all) {
                    $0.readsEndFirst = false
                }
            ]
        ) { code in
            code.endByAnother(besides: "finish") {
                code.waiters.withLock {
                    code.posting.beginAwaiting()
                    code.look { code.posting.fenceOthers() }
                }
            }
        },
        Claim(
            "a return that finds the end resumes finish() after each handler",
            mutants: [
                Mutant("the return does not fence", breaksOn: .language) {
                    $0.fencesAtReturn = false
                }
            ]
        ) { code in
            // `HandlerWait.add`, and later `HandlerWait.resumeWaiters`, for another returned
            // handler.
            code.endByAnother(besides: "another return") {
                code.waiters.withLock {
                    code.posting.beginAwaiting()
                    code.posting.fenceOthers()
                }
                code.waiters.withLock {
                    code.look {
                        if code.fencesAtReturn { fence(.sequentiallyConsistent) }
                    }
                }
            }
        },
        Claim(
            "a waiter is resumed when the handler returns",
            mutants: [
                Mutant(
                    "a fence is refused, unnoticed",
                    breaksOn: .x86.union([.language, .languageWithoutMembarrier])
                ) {
                    $0.posting.isFenced = false
                },
                Mutant("the awaited word is loaded relaxed", breaksOn: .arm.union([.languageOnARM]))
                {
                    $0.posting.awaitedLoad = .relaxed
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("waits") && $0["resumes"] == 0 },
                .init("block") {
                    code.posting.beginBlock()
                    code.posting.setHazardPointer()
                    code.posting.end()
                },
                .init("cancelAndWait") { code.enlist() })
        },
        Claim(
            "a waiter is resumed, though another handler has returned meanwhile",
            mutants: [
                Mutant(
                    "a fence is refused, unnoticed",
                    breaksOn: .x86.union([.language, .languageWithoutMembarrier])
                ) {
                    $0.posting.isFenced = false
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("still waits") && $0["resumes"] == 0 },
                .init("block") {
                    code.posting.beginBlock()
                    code.posting.setHazardPointer()
                    code.posting.end()
                },
                .init("cancelAndWait") {
                    code.waiters.withLock {
                        code.posting.beginAwaiting()
                        code.posting.fenceOthers()
                    }
                },
                // `HandlerWait.resumeWaiters`, for another returned handler.
                .init("another return") {
                    code.waiters.withLock {
                        guard code.posting.awaited.load(.relaxed) >= 2 else { return }
                        if code.posting.visit() != 0,
                            code.posting.registration.load(.acquiring) == 1
                        {
                            note("still waits")
                        }
                    }
                })
        },
        Claim(
            "a waiter is resumed when an async handler returns",
            mutants: [
                Mutant("it looks for who waits before it is taken out", breaksOn: .all) {
                    $0.looksLast = false
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0["under way"] == 1 && !$0.has("is awaited") },
                // `AsyncRun.end`
                .init("perform") {
                    if !code.looksLast { code.posting.noteAwaited() }
                    code.runs.withLock { code.underWay.store(0, .plain) }
                    if code.looksLast { code.posting.noteAwaited() }
                },
                .init("stopped") {
                    code.posting.beginAwaiting()
                    code.runs.withLock { note("under way", code.underWay.load(.plain)) }
                })
        },
        Claim(
            "what a handler stored is seen after cancelAndWait(), also where the registration has gone",
            mutants: [
                Mutant("no acquiring fence follows a failed retain", breaksOn: .weak) {
                    $0.goneFence = nil
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("gone") && $0["data"] == 0 },
                .init("once") {
                    code.posting.beginBlock()
                    code.data.store(1, .plain)
                    code.posting.end()
                },
                .init("reclaim") {
                    // The center's own reference; the runtime's release.
                    _ = code.posting.epoch.await(1, .sequentiallyConsistent)
                    if code.posting.visit() == 0 { code.references.wrappingAdd(-1, .releasing) }
                },
                .init("cancelAndWait") {
                    // The runtime's `swift_tryRetain`, where it fails.
                    guard code.references.load(.relaxed) == 0 else { return }
                    note("gone")
                    if let order = code.goneFence { fence(order) }
                    note("data", code.data.load(.plain))
                })
        },
    ]
}
