/// The state of a registration, `Registration.state`: which post may call the handler.
struct RegistrationState: Modelled {
    let state = Location("state")
    /// 1 for a registration in the center, 2 for a registration that must never be added.
    let bucket = Location("bucket")
    let lock = Lock("the center's lock")
    let payload = Location("what the handler captured", initially: 1)

    /// Whether a claim is a single step.
    var claimsInOneStep = true
    /// Whether the lock protects the check for a registration that must never be added.
    var looksUnderLock = true
    /// Whether a registration that is removed before its addition is marked.
    var marks = true

    init(on machine: Machine) {}

    static let code = [
        Code(
            "Tether/Core/Registration/Registration.swift", "func claim(", "func close(",
            "var seen = state.load(ordering: .acquiring)",
            "expected: seen, desired: new, ordering: .acquiringAndReleasing",
            "state.bitwiseOr(StateBits.ended, ordering: .sequentiallyConsistent)"),
        Code(
            "Tether/Core/Matching/CenterCore.swift", "func add(", "func unlink(",
            "registration.id == Registration.endedBeforeAddition",
            "registration.id = Registration.endedBeforeAddition"),
    ]

    /// `Registration.claim`
    func claim() -> Bool {
        if claimsInOneStep {
            return state.compareExchange(expected: 0, desired: 4, .acquiringAndReleasing)
        }
        guard state.load(.acquiring) == 0 else { return false }
        state.store(4, .releasing)
        return true
    }

    static let claims: [Claim<RegistrationState>] = [
        Claim(
            "of two posts one claims a once observer (R7)",
            mutants: [
                Mutant("a claim is a load and a store", breaksOn: .all) {
                    $0.claimsInOneStep = false
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("one runs") && $0.has("other runs") },
                .init("one") { if code.claim() { note("one runs") } },
                .init("other") { if code.claim() { note("other runs") } })
        },
        Claim(
            "a registration that ends while it is added is not added, or is taken out",
            mutants: [
                Mutant(
                    "whether it is never to be added is looked for before the lock is taken",
                    breaksOn: .all
                ) {
                    $0.looksUnderLock = false
                },
                Mutant("what is taken out before it was added has no mark", breaksOn: .all) {
                    $0.marks = false
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("added") && $0["taken out"] == 0 },
                // `CenterCore.add`
                .init("add") {
                    let before = code.looksUnderLock ? 0 : code.bucket.load(.relaxed)
                    code.lock.withLock {
                        let bucket = code.looksUnderLock ? code.bucket.load(.plain) : before
                        guard bucket != 2 else { return }
                        code.bucket.store(1, .plain)
                        note("added")
                    }
                },
                // `Registration.end`: `close`, and then `CenterCore.unlink`.
                .init("end") {
                    code.state.exchange(.sequentiallyConsistent) { _ in 1 }
                    code.lock.withLock {
                        let bucket = code.bucket.load(.plain)
                        note("taken out", bucket)
                        if bucket == 0, code.marks { code.bucket.store(2, .plain) }
                    }
                })
        },
    ]
}
