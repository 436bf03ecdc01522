/// Who looks at a registration holds it for the look; who ends it is the last to hold it all the same (R8).
///
/// Who looks counts itself, and then looks at the gate; who ends closes the gate, and then looks at the count, and waits for
/// the lock of the look if that is not zero.
struct Looking: Modelled {
    let count = Location("underWay")
    let lock = Lock("the lock of the look")
    let state = Location("state")
    /// 1 as soon as the registration was let go of.
    let isReleased = Location("isReleased")

    var countUp = Order.sequentiallyConsistent
    var stateLoad = Order.sequentiallyConsistent
    var countDown = Order.releasing
    var close = Order.sequentiallyConsistent
    var countLoad = Order.sequentiallyConsistent
    /// Whether who ends waits where somebody looks.
    var waits = true
    /// Whether the gate is looked at in the look.
    var looksAtGate = true

    init(on machine: Machine) {}

    static let code = [
        Code(
            "Tether/Core/Registration/Looks.swift", "func look<",
            "underWay.wrappingAdd(1, ordering: .sequentiallyConsistent)",
            "underWay.wrappingSubtract(1, ordering: .releasing)",
            "underWay.load(ordering: .sequentiallyConsistent) != 0",
            "stripe(of: registration.address).lock.withLock { _ in }"),
        Code("Tether/Core/Registration/RegistrationMemory.swift", "func look<", "hasEnded ? nil : held"),
        Code(
            "Tether/Core/Registration/Registration.swift", "func close(", "func finish(", "Looks.wait(for: self)",
            "state.load(ordering: .sequentiallyConsistent) & State.ended",
            "state.bitwiseOr(State.ended, ordering: .sequentiallyConsistent)"),
    ]

    /// `RegistrationMemory.look`
    func look() {
        count.wrappingAdd(1, countUp)
        lock.withLock {
            if looksAtGate, state.load(stateLoad) != 0 { return }
            note("looks")
            note("released", isReleased.load(.plain))
        }
        count.exchange(countDown) { Value($0.number - 1) }
    }

    /// `Registration.finish`, after `close`
    func end() {
        state.exchange(close) { _ in 1 }
        if count.load(countLoad) != 0, waits { lock.withLock {} }
        isReleased.store(1, .plain)
    }

    static let claims: [Claim<Looking>] = [
        Claim(
            "nobody looks at a registration that who has ended it has let go of",
            mutants: [
                Mutant("who looks counts itself with release", breaksOn: .language) {
                    $0.countUp = .acquiringAndReleasing
                },
                Mutant("the gate is loaded with acquire", breaksOn: .language) { $0.stateLoad = .acquiring },
                Mutant("who has looked says so relaxed", breaksOn: .arm) { $0.countDown = .relaxed },
                Mutant("the gate is closed with release", breaksOn: .language) { $0.close = .acquiringAndReleasing },
                Mutant("the count is loaded with acquire", breaksOn: .language.union([.armRCpc])) {
                    $0.countLoad = .acquiring
                },
                Mutant("nobody waits for a look", breaksOn: .all) { $0.waits = false },
                Mutant("nobody looks at the gate", breaksOn: .all) { $0.looksAtGate = false },
            ]
        ) { code in
            Scenario(
                forbidden: { $0["released"] == 1 }, .init("look") { code.look() },
                .init("end") { code.end() })
        }
    ]
}
