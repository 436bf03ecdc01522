/// A thread makes an object, and publishes it through one word. A thread that finds the word finds
/// the earlier stores.
///
/// Message passing, at each place where posts find an object that was made under a lock, without
/// taking the lock.
struct Publication: Modelled {
    let object = Location("the object's fields")
    let word = Location("the word that leads there")
    let flag = Location("the flag that says so")
    let ofName = Location("slots of the name")
    let ofAnyName = Location("slots of any name")
    let last = Location("lastAdded")

    /// A slot's; a cached name is stored sequentially consistent.
    var wordStore = Order.releasing
    var wordLoad = Order.sequentiallyConsistent
    var flagStore = Order.acquiringAndReleasing
    var flagLoad = Order.acquiring
    /// `Registration.isRouted`, after an earlier read of the state.
    var secondFlagLoad = Order.acquiring
    /// `QuickMatching.lastAdded`.
    var lastStore = Order.releasing
    var lastLoad = Order.acquiring
    var isLimited = true
    /// The number of used slots, which a post loads before it looks for observers of any name.
    var usedStore = Order.releasing
    var usedLoad = Order.sequentiallyConsistent
    var looksForAnyNameLast = true

    init(on machine: Machine) {}

    static let code = [
        Code(
            "Tether/Core/Matching/QuickMatching.swift", "func publishAdded(",
            "func pairOfMatches(", "lastAdded.store(registration.id, ordering: .releasing)",
            "lastAdded.load(ordering: .acquiring)"),
        Code(
            "Tether/Core/Matching/Bucket.swift", "func append(", "func set(", "func registration(",
            "slots[index].store(UInt64(registration.address.bits), ordering: .releasing)",
            "slots[index].load(ordering: .sequentiallyConsistent)"),
        Code(
            "Tether/Core/Matching/NameCache.swift",
            "func find(", "func insert(", ".load(ordering: .sequentiallyConsistent)",
            // Under the lock.
            "slots[slot].load(ordering: .relaxed)",
            "Unmanaged.passUnretained(cached).toOpaque(), ordering: .sequentiallyConsistent)"
        ),
        Code(
            "Tether/Core/Registration/Registration.swift", "func makeMailbox(",
            "func storeMailbox(", "func receive(",
            "func receiveInAnyState(", "func askMailbox(", "func claim(",
            "var isRouted: Bool { state.load(ordering: .acquiring)",
            "mailboxSlot.load(ordering: .acquiring)",
            "state.bitwiseOr(StateBits.routed, ordering: .acquiringAndReleasing)",
            "desired: UnsafeRawPointer(made.toOpaque()), ordering: .acquiringAndReleasing"),
    ]

    static let claims: [Claim<Publication>] = [
        Claim(
            "a registration that is found in a slot, or a name in the cache, is complete",
            mutants: [
                // A read through an address follows the read of the address on every processor, not
                // in the language.
                Mutant("the slot is loaded relaxed", breaksOn: .language) {
                    $0.wordLoad = .relaxed
                },
                Mutant("the slot is stored relaxed", breaksOn: .weak) { $0.wordStore = .relaxed },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("found") && $0["fields"] == 0 },
                .init("add") {
                    code.object.store(1, .plain)
                    code.word.store(1, code.wordStore)
                },
                .init("post") {
                    let found = code.word.load(code.wordLoad)
                    note("found", found)
                    note("fields", code.object.load(.plain, through: found))
                })
        },
        Claim(
            "who sees that a number of slots is in use sees what is in them",
            mutants: [
                Mutant("the number is stored relaxed, and slots too", breaksOn: .weak) {
                    $0.flagStore = .relaxed
                    $0.wordStore = .relaxed
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("in use") && $0["found"] == 0 },
                .init("append") {
                    code.word.store(1, code.wordStore)
                    code.flag.store(1, code.flagStore == .relaxed ? .relaxed : .releasing)
                },
                .init("post") {
                    note("in use", code.flag.load(.sequentiallyConsistent))
                    note("found", code.word.load(code.wordLoad))
                })
        },
        Claim(
            "a post that finds the state of pending deliveries finds them, and finds them complete",
            mutants: [
                Mutant("the state is loaded relaxed", breaksOn: .weak) { $0.flagLoad = .relaxed },
                Mutant("the state is changed relaxed", breaksOn: .weak) { $0.flagStore = .relaxed },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("routed") && ($0["pending"] == 0 || $0["fields"] == 0) },
                // `Registration.makeMailbox`; the fields are the target, the backlog and the muting
                .init("redirect") {
                    code.object.store(1, .plain)
                    _ = code.word.compareExchange(expected: 0, desired: 1, .acquiringAndReleasing)
                    code.flag.exchange(code.flagStore) { $0 + 1 }
                },
                // `Registration.receive`, `Registration.askMailbox`
                .init("post") {
                    note("routed", code.flag.load(code.flagLoad))
                    let pending = code.word.load(code.flagLoad)
                    note("pending", pending)
                    note("fields", code.object.load(.plain, through: pending))
                })
        },
        Claim(
            "a post that reads the state twice finds the pending deliveries, if only the second says so",
            mutants: [
                Mutant("the second load is relaxed", breaksOn: .weak) {
                    $0.secondFlagLoad = .relaxed
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0["first"] == 0 && $0.has("routed") && $0["pending"] == 0 },
                // `Registration.makeMailbox`
                .init("redirect") {
                    code.object.store(1, .plain)
                    _ = code.word.compareExchange(expected: 0, desired: 1, .acquiringAndReleasing)
                    code.flag.exchange(code.flagStore) { $0 + 1 }
                },
                // `Registration.receiveInAnyState`: `hasEnded`, `isRouted`, `unretainedMailbox`
                .init("post") {
                    note("first", code.flag.load(.sequentiallyConsistent))
                    let routed = code.flag.load(code.secondFlagLoad)
                    note("routed", routed)
                    guard routed == 1 else { return }
                    note("pending", code.word.load(.acquiring))
                })
        },
        Claim(
            "a post to two buckets that calls a registration finds every earlier one of the other",
            mutants: [
                Mutant("the last number is stored relaxed", breaksOn: .weak) {
                    $0.lastStore = .relaxed
                    $0.usedStore = .relaxed
                },
                Mutant("the last number is loaded relaxed", breaksOn: .weak) {
                    $0.lastLoad = .relaxed
                    $0.usedLoad = .relaxed
                },
                Mutant("later registrations are called, too", breaksOn: .all) {
                    $0.isLimited = false
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0["calls the second"] == 1 && $0["finds the first"] == 0 },
                // Two times `CenterCore.add`, of one thread.
                .init("add to both") {
                    code.ofName.store(1, code.usedStore)
                    code.last.store(1, code.lastStore)
                    code.ofAnyName.store(1, code.usedStore)
                    code.last.store(2, code.lastStore)
                },
                // `CenterCore.pairOfMatches`
                .init("post") {
                    let last = code.last.load(code.lastLoad)
                    note("finds the first", code.ofName.load(code.usedLoad))
                    let second = code.ofAnyName.load(code.usedLoad)
                    let isCalled = second == 1 && (!code.isLimited || last == 2)
                    note("calls the second", isCalled ? 1 : 0)
                })
        },
        Claim(
            "a post that calls a registration of its name finds an earlier one of any name",
            mutants: [
                Mutant("the number of used slots is loaded relaxed", breaksOn: .weak) {
                    $0.usedLoad = .relaxed
                },
                Mutant("the post looks for any name first", breaksOn: .all) {
                    $0.looksForAnyNameLast = false
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("calls of the name") && $0["finds any name"] == 0 },
                // Two times `CenterCore.add`, of one thread: first of any name.
                .init("add to both") {
                    code.ofAnyName.store(1, .sequentiallyConsistent)
                    code.ofName.store(1, code.usedStore)
                },
                // `QuickMatching.match`; `hasSenders` is loaded as the slots of any name are.
                .init("post") {
                    if code.looksForAnyNameLast {
                        note("calls of the name", code.ofName.load(code.usedLoad))
                        note("finds any name", code.ofAnyName.load(.sequentiallyConsistent))
                    } else {
                        note("finds any name", code.ofAnyName.load(.sequentiallyConsistent))
                        note("calls of the name", code.ofName.load(code.usedLoad))
                    }
                })
        },
    ]
}
