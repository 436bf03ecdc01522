/// An object that is removed during a post is kept in the garbage, with its epoch, until the end of
/// each post that began by then. For a registration this object is its memory, because posts read
/// its state there. The handler's captures are kept only while a hazard pointer names the
/// registration.
///
/// The removing thread stores that there is garbage, and then reads the guards. A post ends, and
/// then loads whether there is garbage. One of the two sees the other, and releases the object. The
/// thread's next post, or a block, uses the guard again at once, unless the thread has to collect
/// garbage, for which it needs the lock of the removing thread. So the removing thread may find the
/// epoch of a later post, and then the hazard pointer of a block.
struct Reclaiming: Modelled {
    var posting: Posting
    let epoch = Location("epoch", initially: 2)
    let newestGarbage = Location("newestGarbage")
    let slot = Location("slot", initially: 1)
    let hasSenders = Location("hasSenders")
    let lock = Lock("the center's lock")
    /// The registration's memory: the handler stores 1; 9 means released.
    let memory = Location("memory")
    /// The state of the registration.
    let state = Location("state")
    /// The handler's captures: the handler stores 1; 9 means released.
    let captures = Location("captures")

    var newestGarbageLoad = Order.sequentiallyConsistent
    var slotLoad = Order.sequentiallyConsistent
    var slotStore = Order.sequentiallyConsistent
    var stateLoad = Order.sequentiallyConsistent
    var registrationLoad = Order.acquiring
    /// Whether a post also searches for garbage of its own epoch.
    var countsOwnEpoch = true
    /// Whether the registration is closed before the look at the hazard pointers of posts.
    var closesFirst = true
    /// Whether kept captures count as garbage.
    var countsCaptures = true
    /// Whether posts count that began after the removal.
    var countsLaterPosts = false
    /// Whether blocks count as posts.
    var countsBlocks = false

    init(on machine: Machine) {
        posting = Posting(on: machine)
    }

    static let code = [
        Code(
            "Tether/Threads/Reclamation.swift", "func retire(", "func collect(", "func expired(",
            "func begin(", "func end(", "func earliest(", "func isCalled(",
            "newestGarbage.store(now, ordering: .sequentiallyConsistent)",
            "EpochGuard.fenceOthers()",
            "newestGarbage.load(ordering: .sequentiallyConsistent) >= epoch",
            "let bits = epochGuard.registration.load(ordering: .acquiring)",
            "self.epoch.store(epoch, ordering: .sequentiallyConsistent)",
            "let now = epoch.load(ordering: .relaxed)",
            // By the storing thread, and under the lock.
            "let previous = registration.load(ordering: .relaxed)",
            "newestGarbage.store(garbage.newest, ordering: .relaxed)"),
        Code(
            "Tether/Core/Matching/CenterCore+Posting.swift", "func post(",
            "if reclamation.hasGarbage(since: epoch) { reclaim(since: epoch) }"),
        Code(
            "Tether/Core/Registration/Registration.swift", "func receive(",
            "func receiveInAnyState(", "func close(",
            "let state = state.load(ordering: .sequentiallyConsistent)",
            "func receiveInAnyState("),
    ]

    /// `CenterCore.post`.
    func post() {
        let epoch = epoch.load(.acquiring)
        posting.begin(epoch: epoch)
        _ = hasSenders.load(.sequentiallyConsistent)
        let registration = slot.load(slotLoad)
        if registration == 1 {
            posting.setHazardPointer()
            note("memory", memory.load(.plain, through: registration))
            if state.load(stateLoad) == 0 {
                note("captures", captures.load(.plain))
                captures.store(1, .plain)
            }
        }
        end(epoch: epoch)
    }

    /// `CenterCore.post` that calls no handler.
    func postWithoutMatch() {
        let epoch = epoch.load(.acquiring)
        posting.begin(epoch: epoch)
        end(epoch: epoch)
    }

    /// Looks for garbage retired since an epoch.
    func end(epoch: Value) {
        posting.end()
        let newest = newestGarbage.load(newestGarbageLoad)
        note("collects", newest >= (countsOwnEpoch ? epoch : epoch + 1) ? 1 : 0)
    }

    /// `Registration.close`, `Reclamation.retire`.
    func retire() {
        if closesFirst { close() }
        slot.store(0, slotStore)
        epoch.wrappingAdd(1, .sequentiallyConsistent)
        newestGarbage.store(2, .sequentiallyConsistent)
        look {
            posting.fenceOthers()
            look {
                note("keeps")
                collectCaptures()
                if !closesFirst { close() }
            }
        }
    }

    /// `Reclamation.retire` where a post may be calling the registration, with `expired`: the
    /// captures may be kept, though the post has ended when the memory is looked at.
    func retireCalled() {
        close()
        slot.store(0, slotStore)
        epoch.wrappingAdd(1, .sequentiallyConsistent)
        newestGarbage.store(2, .sequentiallyConsistent)
        if isPost(posting.visit()) { posting.fenceOthers() }
        let isCalled = isCalled()
        let isSeen = isPost(posting.visit())
        newestGarbage.store(isSeen || (isCalled && countsCaptures) ? 2 : 0, .relaxed)
        if isCalled { note("keeps the captures") }
    }

    /// `Reclamation.isEpoch`, for an object that was removed in epoch 2.
    private func isPost(_ begun: Value) -> Bool {
        begun == 2 || (begun == 3 && countsLaterPosts) || (begun == 1 && countsBlocks)
    }

    /// `EpochGuard.isCalled`
    private func isCalled() -> Bool {
        isPost(posting.visit()) && posting.registration.load(registrationLoad) == 1
    }

    private func close() { state.exchange(.sequentiallyConsistent) { _ in 1 } }

    /// `Reclamation.collect`: the captures alone are released.
    func collectCaptures() {
        if isCalled() { return note("keeps the captures") }
        captures.store(9, .plain)
        note("releases the captures")
    }

    /// `Reclamation.expired`, with `EpochGuard.earliest`, for garbage of epoch 2. Releases the
    /// garbage, unless a post that may see it is under way.
    func look(orElse keep: () -> Void) {
        if isPost(posting.visit()) { return keep() }
        memory.store(9, .plain)
        note("releases")
    }

    static let claims: [Claim<Reclaiming>] = [
        Claim(
            "what a post reads has not been released",
            mutants: [
                Mutant("the epoch is stored with release", breaksOn: .x86AndLanguage) {
                    $0.posting.epochStore = .releasing
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
                Mutant("a fence is refused, unnoticed", breaksOn: .x86AndLanguage) {
                    $0.posting.isFenced = false
                },
                Mutant("the state is acquired only", breaksOn: [.languageOnARM]) {
                    $0.stateLoad = .acquiring
                },
                Mutant("the registration is closed after the look", breaksOn: .all) {
                    $0.closesFirst = false
                },
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
                Mutant("the registration is loaded relaxed", breaksOn: .language) {
                    $0.registrationLoad = .relaxed
                }
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
                Mutant(
                    "a fence is refused, unnoticed",
                    breaksOn: .x86.union([.language, .languageWithoutMembarrier])
                ) {
                    $0.posting.isFenced = false
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("keeps") && $0["collects"] == 0 },
                .init("post") { code.post() },
                .init("retire") { code.retire() })
        },
        Claim(
            "captures that are kept for a post are released at its end",
            mutants: [
                Mutant("captures do not count when the memory is released", breaksOn: .all) {
                    $0.countsCaptures = false
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("keeps the captures") && $0["collects"] == 0 },
                .init("post") { code.post() },
                .init("retire") { code.retireCalled() })
        },
        Claim(
            "captures are not kept for a block in the guard of an ended post",
            mutants: [
                Mutant("a post that began after the removal counts", breaksOn: .all) {
                    $0.countsLaterPosts = true
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("keeps the captures") && $0["collects"] == 0 },
                .init("post and block") {
                    code.postWithoutMatch()
                    code.posting.beginBlock()
                    code.posting.setHazardPointer()
                    code.posting.end()
                },
                .init("retire") { code.retireCalled() })
        },
        Claim(
            "memory is not kept for a block in the guard of an ended post",
            mutants: [
                Mutant("blocks count as posts", breaksOn: .all) { $0.countsBlocks = true }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("keeps") && $0["collects"] == 0 },
                .init("post and block") {
                    code.postWithoutMatch()
                    code.posting.beginBlock()
                    code.posting.end()
                },
                .init("retire") { code.retire() })
        },
        Claim(
            "what a handler stores is stored before it is released, though the hazard pointer is used again at once",
            mutants: [
                Mutant("the epoch is stored and loaded relaxed", breaksOn: .language) {
                    $0.posting.epochStore = .relaxed
                    $0.posting.epochLoad = .relaxed
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("releases") }, finally: (code.memory, 1),
                .init("post") {
                    code.posting.begin(epoch: 2)
                    code.memory.store(1, .plain)
                    code.end(epoch: 2)
                    code.posting.begin(epoch: code.epoch.load(.acquiring))
                },
                .init("reclaim") {
                    // The post was found when the object was retired.
                    _ = code.posting.epoch.await(2, .sequentiallyConsistent)
                    code.epoch.wrappingAdd(1, .sequentiallyConsistent)
                    code.look {}
                })
        },
    ]
}
