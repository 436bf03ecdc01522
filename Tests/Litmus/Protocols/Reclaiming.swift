/// What is taken out while a post is under way is kept in `retired`, with the epoch in which it was, until no post that
/// began by then is under way. Of a registration that is its memory, in which posts look at the gate: what its handler
/// captured is kept only as long as a post announces it.
///
/// Who takes out says that something is kept, and then looks for posts; a post ends, and then looks whether something is
/// kept: one of the two sees the other, and releases it. A pin is used again at once by the next post of its thread,
/// so who looks may find one post's center with the next one's epoch.
struct Reclaiming: Modelled {
    var posting: Posting
    let epoch = Location("epoch", initially: 1)
    let newestRetired = Location("newestRetired")
    let slot = Location("slot", initially: 1)
    let hasSenders = Location("hasSenders")
    let lock = Lock("the center's lock")
    /// The registration's memory: 1 is what its handler stores, 9 that it was released.
    let memory = Location("memory")
    /// The gate: `Registration.state`.
    let gate = Location("gate")
    /// What the handler captured: 1 is what the handler stores, 9 that it was released.
    let captures = Location("captures")

    var newestRetiredLoad = Order.sequentiallyConsistent
    var slotLoad = Order.sequentiallyConsistent
    var slotStore = Order.sequentiallyConsistent
    var gateLoad = Order.sequentiallyConsistent
    var registrationLoad = Order.acquiring
    /// Whether a post looks for what was retired in the epoch in which it began, too.
    var countsOwnEpoch = true
    /// Whether the gate is closed before who retires looks at what posts announce.
    var closesFirst = true

    init(on machine: Machine) {
        posting = Posting(on: machine)
    }

    static let code = [
        Code(
            "Tether/Core/Matching/CenterCore+Reclaiming.swift", "func retire(", "func reclaimable(", "func reclaim(",
            "func takeUncalled(",
            "newestRetired.store(now, ordering: .sequentiallyConsistent)", "PostingThread.fenceOthers()"),
        Code(
            "Tether/Core/Matching/CenterCore+Posting.swift", "func deliver(",
            "if newestRetired.load(ordering: .sequentiallyConsistent) >= epoch { reclaim() }",
            "if newestRetired.load(ordering: .sequentiallyConsistent) > 0 { reclaim() }"),
        Code(
            "Tether/Core/Registration/Registration.swift", "func receive(", "func receiveSpecially(", "func close(",
            "let state = state.load(ordering: .sequentiallyConsistent)",
            "state.load(ordering: .sequentiallyConsistent) & ~State.owned == State.routed"),
        Code(
            "Tether/Threads/PostingThread.swift", "func pin(", "func unpin(", "func oldestPin(",
            "func calledRegistrations(", "called.append(pin.registration.load(ordering: .acquiring))",
            "pin.pointee.epoch.store(epoch, ordering: .releasing)", "pin.epoch.load(ordering: .acquiring)"),
    ]

    /// `CenterCore.post`.
    func post(isForeign: Bool = false) {
        let epoch = epoch.load(.acquiring)
        posting.begin(epoch: epoch)
        // A foreign center's delivery looks at no sender.
        if !isForeign { _ = hasSenders.load(.sequentiallyConsistent) }
        let registration = slot.load(slotLoad)
        if registration == 1 {
            posting.announce()
            note("memory", memory.load(.plain, through: registration))
            if gate.load(gateLoad) == 0 {
                note("captures", captures.load(.plain))
                captures.store(1, .plain)
            }
        }
        end(epoch: isForeign ? 1 : epoch)
    }

    /// Looks for what was retired since an epoch; what a foreign center calls, since the first.
    func end(epoch: Value) {
        posting.end()
        let newest = newestRetired.load(newestRetiredLoad)
        note("is told", newest >= (countsOwnEpoch ? epoch : epoch + 1) ? 1 : 0)
    }

    /// `Registration.close`, `CenterCore.retire` and `reclaimable`.
    func retire() {
        if closesFirst { close() }
        slot.store(0, slotStore)
        epoch.wrappingAdd(1, .sequentiallyConsistent)
        newestRetired.store(1, .sequentiallyConsistent)
        look {
            posting.fenceOthers()
            look {
                note("keeps")
                takeUncalled()
                if !closesFirst { close() }
            }
        }
    }

    private func close() { gate.exchange(.sequentiallyConsistent) { _ in 1 } }

    /// `CenterCore.takeUncalled`, with `PostingThread.calledRegistrations`: the captures alone are released.
    func takeUncalled() {
        if posting.visit() != 0, posting.center.load(.acquiring) == 1, posting.registration.load(registrationLoad) == 1
        {
            return note("keeps the captures")
        }
        captures.store(9, .plain)
        note("releases the captures")
    }

    /// `PostingThread.oldestPin`, for what was retired in epoch 1; releases it, unless a post that may see it is under way.
    func look(orElse keep: () -> Void) {
        if posting.visit() != 0, posting.center.load(.acquiring) == 1 {
            let begin = posting.epoch.load(posting.epochLoad)
            if begin == 1 { return keep() }
        }
        memory.store(9, .plain)
        note("releases")
    }

    static let claims: [Claim<Reclaiming>] = [
        Claim(
            "what a post reads has not been released",
            mutants: [
                Mutant("the center is stored with release", breaksOn: .x86AndLanguage) {
                    $0.posting.centerStore = .releasing
                },
                Mutant("slots are released and acquired only", breaksOn: .language) {
                    $0.slotStore = .releasing
                    $0.slotLoad = .acquiring
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0["memory"] == 9 },
                .init("post") { code.post() },
                .init("retire") { code.retire() })
        },
        Claim(
            "what a handler that runs has captured has not been released",
            mutants: [
                Mutant("a fence is refused, unnoticed", breaksOn: .x86AndLanguage) { $0.posting.isFenced = false },
                Mutant("the gate is acquired only", breaksOn: [.languageOnARM]) { $0.gateLoad = .acquiring },
                Mutant("the gate is closed after the look", breaksOn: .all) { $0.closesFirst = false },
            ]
        ) { code in
            Scenario(
                forbidden: { $0["captures"] == 9 },
                .init("post") { code.post() },
                .init("retire") { code.retire() })
        },
        Claim(
            "what a handler stores in what it captured is stored before that is released",
            mutants: [
                Mutant("the registration is loaded relaxed", breaksOn: .language) { $0.registrationLoad = .relaxed }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("releases the captures") }, finally: (code.captures, 1),
                .init("post") { code.post() },
                .init("retire") { code.retire() })
        },
        Claim(
            "what is kept for a post is released at its end",
            mutants: [
                Mutant("what is retired in the post's own epoch is left out", breaksOn: .all) {
                    $0.countsOwnEpoch = false
                },
                Mutant("a fence is refused, unnoticed", breaksOn: .x86.union([.language, .languageWithoutMembarrier])) {
                    $0.posting.isFenced = false
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("keeps") && $0["is told"] == 0 },
                .init("post") { code.post() },
                .init("retire") { code.retire() })
        },
        Claim(
            "what is kept for a foreign center's delivery is released at its end",
            mutants: [
                Mutant(
                    "newestRetired and attention are loaded relaxed", breaksOn: .arm.union([.language, .languageOnARM])
                ) {
                    $0.newestRetiredLoad = .relaxed
                    $0.posting.attentionLoad = .relaxed
                },
                Mutant("newestRetired and attention are acquired", breaksOn: [.armRCpc, .language, .languageOnARM]) {
                    $0.newestRetiredLoad = .acquiring
                    $0.posting.attentionLoad = .acquiring
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("keeps it") && $0["is told"] == 0 },
                .init("deliver") { code.post(isForeign: true) },
                .init("retire, in a post of its own") {
                    code.newestRetired.store(1, .sequentiallyConsistent)
                    // No fence is made where no other post is seen; its own post keeps what it retires.
                    if code.posting.visit() == 1 { code.posting.fenceOthers() }
                    // `CenterCore.reclaim`, at the end of its own post.
                    if code.posting.visit() == 1 { note("keeps it") }
                })
        },
        Claim(
            "what a handler stores is stored before it is released, though the pin is used again at once",
            mutants: [
                Mutant("begin is stored and loaded relaxed", breaksOn: .language) {
                    $0.posting.epochStore = .relaxed
                    $0.posting.epochLoad = .relaxed
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("releases") }, finally: (code.memory, 1),
                .init("post") {
                    code.posting.begin(epoch: 1)
                    code.memory.store(1, .plain)
                    code.end(epoch: 1)
                    code.posting.begin(epoch: code.epoch.load(.acquiring))
                },
                .init("reclaim") {
                    // The post was seen when this was retired.
                    _ = code.posting.center.await(1, .sequentiallyConsistent)
                    code.epoch.wrappingAdd(1, .sequentiallyConsistent)
                    code.look {}
                })
        },
    ]
}
