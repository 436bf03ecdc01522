/// `stopAndWait()`, awaited or not, returns when no handler of the registration runs on another thread (R2).
///
/// The handler's thread announces the registration, and then looks at the gate; who stops closes the gate, and then looks
/// at what is announced. The handler's thread takes back what it announced, and then looks whether someone waits; who
/// waits says so, and then looks at what is announced. Both are store buffering, and the posting side is to cost nothing:
/// who waits fences all threads (`membarrier`), or the load of the attention word orders (ARM64), or posts fence.
struct Waiting: Modelled {
    var posting: Posting
    /// The gate: `Registration.state`.
    let state = Location("state")
    let waiters = Lock("Quiescence.waiters")
    /// What the handler stores for who waits for its return.
    let data = Location("data")
    /// The registration's strong references.
    let references = Location("references", initially: 1)
    let runs = Lock("AsyncRun.underWay")
    let underWay = Location("underWay", initially: 1)

    var stateLoad = Order.acquiring
    var close = Order.sequentiallyConsistent
    var goneFence: Order? = .acquiring
    var registrationLoad = Order.acquiring

    /// Whether an async handler's thread looks for who waits after the call was taken out.
    var looksLast = true

    init(on machine: Machine) {
        posting = Posting(on: machine)
    }

    static let code = [
        Code(
            "Tether/Threads/Quiescence.swift", "func handlerReturned(", "func recheck(", "func enlist(",
            "PostingThread.fenceOthers()"),
        Code("Tether/Core/Registration/Registration.swift", "func receive(", "func close(", "func run("),
        Code(
            "Tether/Observing/NotificationObserver.swift", "func stopAndWait() -> ", "func stopAndWait() async",
            "atomicMemoryFence(ordering: .acquiring)"),
        Code("Tether/Threads/AsyncRun.swift", "func perform("),
        Code(
            "COwnerLifetime/ThreadRecord.c", "bool tether_is_waited_for(", "int tether_begin_waiting(",
            "bool tether_fence_all_threads(", "__atomic_load_n(&tether_attention, __ATOMIC_SEQ_CST) <= posters_fence",
            "__atomic_store_n(&waited_for[place], registration, __ATOMIC_SEQ_CST)",
            "__atomic_fetch_add(&tether_attention, 1, __ATOMIC_SEQ_CST)"),
        Code("COwnerLifetime/include/COwnerLifetime.h", "__atomic_load_n(&tether_attention, __ATOMIC_SEQ_CST) != 0"),
        Code("Tether/Threads/PostingThread.swift", "func announce(", "func fenceOthers(", "registration.announce(0)"),
    ]

    /// `Registration.run`, in a drain; a post does the same after more loads.
    func handler() {
        posting.begin(epoch: 0)
        posting.announce()
        guard state.load(stateLoad) == 0 else { return }
        note("handler runs")
        data.store(1, .plain)
        posting.end()
    }

    /// `Quiescence.enlist`.
    func enlist() {
        waiters.withLock {
            posting.beginWaiting()
            posting.fenceOthers()
            if posting.visit() != 0, posting.registration.load(registrationLoad) == 1 {
                note("waits")
            } else {
                note("returns")
            }
        }
    }

    static let claims: [Claim<Waiting>] = [
        Claim(
            "no handler starts once stopAndWait() has returned",
            mutants: [
                Mutant("a fence is refused, unnoticed", breaksOn: .x86AndLanguage) {
                    $0.posting.isFenced = false
                },
                Mutant("attention is loaded relaxed", breaksOn: [.armRCpc, .languageOnARM]) {
                    $0.posting.attentionLoad = .relaxed
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("handler runs") && $0.has("returns") && $0["data"] == 0 },
                .init("drain") { code.handler() },
                .init("stopAndWait") {
                    code.state.exchange(code.close) { _ in 1 }
                    code.enlist()
                    note("data", code.data.load(.plain))
                })
        },
        Claim(
            "who waits for a handler is told of its return",
            mutants: [
                Mutant("a fence is refused, unnoticed", breaksOn: .x86.union([.language, .languageWithoutMembarrier])) {
                    $0.posting.isFenced = false
                },
                Mutant("attention is loaded relaxed", breaksOn: .arm.union([.languageOnARM])) {
                    $0.posting.attentionLoad = .relaxed
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("waits") && $0["tells"] == 0 },
                .init("drain") {
                    code.posting.begin(epoch: 0)
                    code.posting.announce()
                    code.posting.end()
                },
                .init("stopAndWait") { code.enlist() })
        },
        Claim(
            "who waits is told, though another thread looks for it",
            mutants: [
                Mutant("a fence is refused, unnoticed", breaksOn: .x86.union([.language, .languageWithoutMembarrier])) {
                    $0.posting.isFenced = false
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("still waits") && $0["tells"] == 0 },
                .init("drain") {
                    code.posting.begin(epoch: 0)
                    code.posting.announce()
                    code.posting.end()
                },
                .init("stopAndWait") {
                    code.waiters.withLock {
                        code.posting.beginWaiting()
                        code.posting.fenceOthers()
                    }
                },
                // `Quiescence.recheck`, for another handler that has returned.
                .init("recheck") {
                    code.waiters.withLock {
                        guard code.posting.waitedFor.load(.relaxed) == 1 else { return }
                        if code.posting.visit() != 0, code.posting.registration.load(.acquiring) == 1 {
                            note("still waits")
                        }
                    }
                })
        },
        Claim(
            "who waits is told of the return of an async handler",
            mutants: [
                Mutant("it looks for who waits before it is taken out", breaksOn: .all) { $0.looksLast = false }
            ]
        ) { code in
            Scenario(
                forbidden: { $0["under way"] == 1 && $0["is waited for"] == 0 },
                // `AsyncRun.perform`
                .init("perform") {
                    if !code.looksLast { note("is waited for", code.posting.waitedFor.load(.relaxed)) }
                    code.runs.withLock { code.underWay.store(0, .plain) }
                    if code.looksLast { note("is waited for", code.posting.waitedFor.load(.relaxed)) }
                },
                .init("stopped") {
                    code.posting.waitedFor.store(1, .sequentiallyConsistent)
                    code.runs.withLock { note("under way", code.underWay.load(.plain)) }
                })
        },
        Claim(
            "what a handler stored is seen after stopAndWait(), also where the registration has gone",
            mutants: [Mutant("no acquiring fence follows a failed retain", breaksOn: .weak) { $0.goneFence = nil }]
        ) { code in
            Scenario(
                forbidden: { $0.has("gone") && $0["data"] == 0 },
                .init("once") {
                    code.posting.center.store(1, .sequentiallyConsistent)
                    code.data.store(1, .plain)
                    code.posting.end()
                },
                .init("reclaim") {
                    // The center's own reference; the runtime's release.
                    _ = code.posting.center.await(1, .sequentiallyConsistent)
                    if code.posting.visit() == 0 { code.references.wrappingAdd(-1, .releasing) }
                },
                .init("stopAndWait") {
                    // The runtime's `swift_tryRetain`, where it fails.
                    guard code.references.load(.relaxed) == 0 else { return }
                    note("gone")
                    if let order = code.goneFence { fence(order) }
                    note("data", code.data.load(.plain))
                })
        },
    ]
}
