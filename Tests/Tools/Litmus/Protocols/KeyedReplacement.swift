/// A new observer with a key replaces the old observer with the key, in one step for posts (M7): a
/// post that begins calls exactly one of the two. The two may be in different buckets: of a name,
/// and of any name.
///
/// A sequence lock: the counter is odd during the exchange. A post that finds an odd or changed
/// counter takes the lock instead.
struct KeyedReplacement: Modelled {
    let replacements = Location("replacements")
    let publishedSlots = Location("publishedSlots", initially: 1)
    let used = Location("used", initially: 1)
    let newSlot = Location("slot of the new one")
    let oldState = Location("state of the old one")
    let otherSlots = Location("publishedSlots of any name")

    var count = Order.sequentiallyConsistent
    var look = Order.acquiring
    var looksAgain = true
    var slotOrders = (store: Order.releasing, load: Order.sequentiallyConsistent)

    init(on machine: Machine) {}

    static let code = [
        Code(
            "Tether/Core/Matching/CenterCore.swift", "func add(",
            "quickMatching.countReplacement()"),
        Code(
            "Tether/Core/Matching/QuickMatching.swift", "func countReplacement(", "func match(",
            "replacements.wrappingAdd(1, ordering: .sequentiallyConsistent)",
            "let replacement = replacements.load(ordering: .acquiring)",
            "cache.load(ordering: .sequentiallyConsistent)",
            "replacements.load(ordering: .acquiring) == replacement"),
        Code(
            "Tether/Core/Matching/Bucket.swift", "func append(",
            "slots.used.store(slot + 1, ordering: .releasing)"),
        Code("Tether/Core/Registration/Registration.swift", "func close("),
    ]

    /// `CenterCore.add`, with the lock.
    func add() {
        replacements.wrappingAdd(1, count)
        // `Bucket.append`
        newSlot.store(1, slotOrders.store)
        used.store(2, .releasing)
        // `Registration.close`
        oldState.exchange(.acquiringAndReleasing) { _ in 1 }
        replacements.wrappingAdd(1, count)
    }

    /// `CenterCore.add` of the first observer of any name, in place of an observer of a name.
    func addToOtherBucket() {
        replacements.wrappingAdd(1, count)
        // `Bucket.append`, `NameNode.publish`
        newSlot.store(1, slotOrders.store)
        otherSlots.store(1, .sequentiallyConsistent)
        // `Registration.close`
        oldState.exchange(.acquiringAndReleasing) { _ in 1 }
        replacements.wrappingAdd(1, count)
    }

    /// `QuickMatching.match` and `pairOfMatches`, and the calls.
    func postToBothBuckets() {
        let first = replacements.load(look)
        guard first != 1 else { return }
        let slots = publishedSlots.load(.sequentiallyConsistent)
        _ = used.load(slotOrders.load, through: slots)
        let others = otherSlots.load(.sequentiallyConsistent)
        if looksAgain {
            let second = replacements.load(look)
            assume(second.number == first.number)
            _ = second == first.number
        }
        note("began after", first.number == 2 ? 1 : 0)
        if others == 1 {
            note("calls the new one", newSlot.load(slotOrders.load))
        } else {
            note("calls the new one", 0)
        }
        note("calls the old one", oldState.load(.acquiring).number == 0 ? 1 : 0)
    }

    /// `QuickMatching.match`, and the calls.
    func post() {
        let first = replacements.load(look)
        guard first != 1 else { return }
        let slots = publishedSlots.load(.sequentiallyConsistent)
        let used = used.load(slotOrders.load, through: slots)
        if looksAgain {
            let second = replacements.load(look)
            assume(second.number == first.number)
            _ = second == first.number
        }
        note("began after", first.number == 2 ? 1 : 0)
        if used == 2 {
            note("calls the new one", newSlot.load(slotOrders.load))
        } else {
            note("calls the new one", 0)
        }
        note("calls the old one", oldState.load(.acquiring).number == 0 ? 1 : 0)
    }

    static let claims: [Claim<KeyedReplacement>] = [
        Claim(
            "a post does not call both of two observers with one key",
            mutants: [
                Mutant("a post does not look at the counter again", breaksOn: .all) {
                    $0.looksAgain = false
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("calls the new one") && $0.has("calls the old one") },
                .init("add") { code.add() },
                .init("post") { code.post() })
        },
        Claim(
            "a post that begins after a replacement calls the new one",
            mutants: [
                Mutant("the counter is loaded relaxed", breaksOn: .weak) { $0.look = .relaxed },
                Mutant("the counter, slots and their number are relaxed", breaksOn: .weak) {
                    $0.look = .relaxed
                    $0.slotOrders = (.relaxed, .relaxed)
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("began after") && $0["calls the new one"] == 0 },
                .init("add") { code.add() },
                .init("post") { code.post() })
        },
        Claim(
            "a post to two buckets does not call both of two observers with one key",
            mutants: [
                Mutant("a post does not look at the counter again", breaksOn: .all) {
                    $0.looksAgain = false
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("calls the new one") && $0.has("calls the old one") },
                .init("add") { code.addToOtherBucket() },
                .init("post") { code.postToBothBuckets() })
        },
        Claim(
            "a post to two buckets that begins after a replacement calls the new one",
            mutants: [
                Mutant("the counter and the slots are loaded relaxed", breaksOn: .weak) {
                    $0.look = .relaxed
                    $0.slotOrders = (.relaxed, .relaxed)
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("began after") && $0["calls the new one"] == 0 },
                .init("add") { code.addToOtherBucket() },
                .init("post") { code.postToBothBuckets() })
        },
    ]
}
