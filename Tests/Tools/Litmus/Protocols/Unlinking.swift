/// A post reads slots without a lock, and retains no registration. A removing thread releases the
/// registration at once if no post is under way.
///
/// The post stores that it is under way, and then reads the slots. The removing thread clears the
/// slot, and then searches for posts. At least one of the two must see the other: store buffering,
/// around sequentially consistent words.
struct Unlinking: Modelled {
    var posting: Posting
    let epoch = Location("epoch", initially: 2)
    let hasSenders = Location("hasSenders")
    let publishedSlots = Location("publishedSlots", initially: 1)
    let used = Location("used", initially: 1)
    let slot = Location("slot", initially: 1)
    let centersLock = Lock("the center's lock")

    var epochLoad = Order.acquiring
    var hasSendersLoad = Order.sequentiallyConsistent
    var publishedSlotsLoad = Order.sequentiallyConsistent
    var publishedSlotsStore = Order.sequentiallyConsistent
    var usedLoad = Order.sequentiallyConsistent
    var slotLoad = Order.sequentiallyConsistent
    var slotStore = Order.sequentiallyConsistent
    var trimStore = Order.sequentiallyConsistent

    init(on machine: Machine) {
        posting = Posting(on: machine)
    }

    static let code = [
        Code(
            "Tether/Core/Matching/CenterCore+Posting.swift", "func post(",
            "let epoch = reclamation.epoch.load(ordering: .acquiring)"),
        Code(
            "Tether/Core/Matching/QuickMatching.swift", "func match(", "func pairOfMatches("),
        Code(
            "Tether/Core/Matching/CenterCore.swift", "func unlink(",
            "if !reclamation.hasPosts {"),
        Code(
            "Tether/Threads/Reclamation.swift", "func retire(",
            "epoch.wrappingAdd(1, ordering: .sequentiallyConsistent)"),
        Code(
            "Tether/Core/Matching/Bucket.swift", "func hideTrailingHoles(",
            "func showTrailingHoles(",
            "slots.used.store(used, ordering: .sequentiallyConsistent)",
            "slots.used.store(used, ordering: .releasing)", "func forEach(",
            "slot.pointee.load(ordering: .sequentiallyConsistent)",
            "slots[low].store(id * 2 + 1, ordering: .sequentiallyConsistent)"),
        Code(
            "Tether/Core/Matching/NameCache.swift", "func remove(",
            // Under the lock.
            "slots[first ^ way].load(ordering: .relaxed)",
            "slots[first ^ way].store(nil, ordering: .sequentiallyConsistent)"),
        Code(
            "Tether/Core/Matching/Bucket.swift",
            "hasSenders.load(ordering: .sequentiallyConsistent)",
            "publishedSlots.load(ordering: .sequentiallyConsistent)",
            "$0.used.load(ordering: .sequentiallyConsistent)"),
        Code(
            "Tether/Threads/Reclamation.swift",
            "self.epoch.store(epoch, ordering: .sequentiallyConsistent)"
        ),
    ]

    /// `CenterCore.post`, as far as the slot.
    func post() {
        let epoch = epoch.load(epochLoad)
        note("epoch", epoch)
        posting.begin(epoch: epoch)
        // `NameNode.publishedBucket`, of the posted name and of any name; each bucket is one such
        // walk.
        let slots = publishedSlots.load(publishedSlotsLoad)
        note("slots", slots)
        note("used", used.load(usedLoad, through: slots))
        // `NameNode.hasSenders`, of both.
        _ = hasSenders.load(hasSendersLoad)
        // `SlotArray.forEach`
        note("registration", slot.load(slotLoad, through: slots))
    }

    /// `CenterCore.unlink`: `Bucket.remove`, `Bucket.hideTrailingHoles`, `EpochGuard.earliest`.
    func unlink() {
        slot.store(0, slotStore)
        used.store(0, trimStore)
        note("releases at once", lookForPosts() == 0 ? 1 : 0)
    }

    /// The same where a post is under way: `Bucket.remove`, `CenterCore.retire`.
    func retire() {
        slot.store(0, slotStore)
        epoch.wrappingAdd(1, .sequentiallyConsistent)
    }

    /// `EpochGuard.earliest`, for the guard of one thread.
    func lookForPosts() -> Value {
        posting.visit()
    }

    static let claims: [Claim<Unlinking>] = [
        Claim(
            "a post that sees a registration is seen by who takes it out",
            mutants: [
                Mutant("the epoch is stored with release", breaksOn: .x86AndLanguage) {
                    $0.posting.epochStore = .releasing
                },
                Mutant(
                    "slots are released and acquired only, and what is loaded before them too",
                    breaksOn: .language.union([.armRCpc])
                ) {
                    $0.hasSendersLoad = .acquiring
                    $0.publishedSlotsLoad = .acquiring
                    $0.usedLoad = .acquiring
                    $0.slotLoad = .acquiring
                },
                Mutant("slots and their number are released and acquired only", breaksOn: .language)
                {
                    $0.usedLoad = .acquiring
                    $0.slotStore = .releasing
                    $0.slotLoad = .acquiring
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0["registration"] == 1 && $0.has("releases at once") },
                .init("post") { code.post() },
                .init("unlink") { code.unlink() })
        },
        Claim(
            "a post that sees a number of slots in use is seen by who makes it smaller",
            mutants: [
                Mutant("the epoch is stored with release", breaksOn: .x86AndLanguage) {
                    $0.posting.epochStore = .releasing
                },
                Mutant("the number is acquired only", breaksOn: .language) {
                    $0.usedLoad = .acquiring
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0["used"] == 1 && $0.has("releases at once") },
                .init("post") { code.post() },
                .init("unlink") { code.unlink() })
        },
        Claim(
            "a post that sees slots, or an entry of the cache, is seen by the thread that replaces or removes them",
            mutants: [
                Mutant(
                    "the new ones are stored with release, and loaded so",
                    breaksOn: .x86AndLanguage.union([.armRCpc])
                ) {
                    $0.publishedSlotsStore = .releasing
                    $0.publishedSlotsLoad = .acquiring
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0["slots"] == 1 && $0.has("releases at once") },
                .init("post") { code.post() },
                .init("replace") {
                    code.publishedSlots.store(2, code.publishedSlotsStore)
                    note("releases at once", code.lookForPosts() == 0 ? 1 : 0)
                })
        },
        Claim(
            "a post that begins in the epoch after a removal does not see what was removed",
            mutants: [
                Mutant("the epoch is loaded relaxed", breaksOn: .language) {
                    $0.epochLoad = .relaxed
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0["epoch"] == 3 && $0["registration"] == 1 },
                .init("post") { code.post() },
                .init("retire") { code.retire() })
        },
        Claim(
            "a post does not call what its own handlers add, in a slot that is used again (R4)",
            mutants: [
                Mutant("the epoch is stored with release", breaksOn: .x86AndLanguage) {
                    $0.posting.epochStore = .releasing
                }
            ]
        ) { code in
            Scenario(
                // The new registration is put into the first slot, by the bucket.
                forbidden: { $0["used"] == 1 && $0["used under the lock"] == 0 },
                .init("post") {
                    code.post()
                    // A handler that adds an observer: `Bucket.append`.
                    code.centersLock.withLock {
                        note("used under the lock", code.used.load(.relaxed))
                    }
                },
                .init("unlink") {
                    code.centersLock.withLock {
                        code.slot.store(0, code.slotStore)
                        code.used.store(0, code.trimStore)
                        // `Bucket.showTrailingHoles`
                        if code.lookForPosts() != 0 { code.used.store(1, .releasing) }
                    }
                })
        },
    ]
}
