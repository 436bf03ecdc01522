/// A handler receives its owner, which is retained for the call unless its last strong reference
/// has been released (O4).
///
/// The references are the Swift runtime's: a retain that may fail is a relaxed compare-exchange, a
/// release releases, and the last release acquires before the object is deinitialised.
struct TryRetain: Modelled {
    let references = Location("the owner's strong references", initially: 1)
    let unowned = Location("the owner's unowned references", initially: 2)
    let field = Location("the owner's field")
    let memory = Location("the owner's memory")

    var retainsInOneStep = true
    var release = Order.releasing
    var lastRelease: Order? = .acquiring
    var holdsMemory = true

    init(on machine: Machine) {}

    static let code = [
        Code(
            "Tether/Support/Unowned.swift", "var retained: Object?", "tether_try_retain(pointer)",
            "private unowned let object"),
        Code("Tether/Core/Registration/Registration.swift", "func callHandler("),
        Code("COwnerLifetime/include/COwnerLifetime.h", "tether_try_retain("),
    ]

    /// `tether_try_retain`
    func tryRetain() -> Bool {
        if retainsInOneStep {
            // After a lost race the runtime tries again, which other runs model.
            let old = references.exchange(.relaxed) { $0.number == 0 ? $0 : $0 + 1 }
            return old != 0
        }
        let old = references.load(.relaxed)
        guard old != 0 else { return false }
        references.store(old + 1, .relaxed)
        return true
    }

    /// The runtime's release. True for the last release.
    func letGo() -> Bool {
        guard references.wrappingAdd(-1, release) == 1 else { return false }
        if let lastRelease { fence(lastRelease) }
        return true
    }

    static let claims: [Claim<TryRetain>] = [
        Claim(
            "no handler runs with an owner whose deinit has begun",
            mutants: [
                Mutant("the retain is a load and a store", breaksOn: .all) {
                    $0.retainsInOneStep = false
                }
            ]
        ) { code in
            Scenario(
                // The deinit begins on the owner's thread, though the handler has the owner.
                forbidden: {
                    $0.has("handler runs") && $0.has("deinit began") && $0["deinit saw"] == 0
                },
                .init("post") {
                    guard code.tryRetain() else { return }
                    note("handler runs")
                    code.field.store(1, .plain)
                    if code.letGo() { note("deinit follows") }
                },
                .init("owner") {
                    guard code.letGo() else { return }
                    note("deinit began")
                    note("deinit saw", code.field.load(.plain))
                })
        },
        Claim(
            "the deinit sees what a handler stored in its owner",
            mutants: [
                Mutant("a release is relaxed", breaksOn: .weak) { $0.release = .relaxed },
                Mutant("the last release does not acquire", breaksOn: .weak) {
                    $0.lastRelease = nil
                },
            ]
        ) { code in
            Scenario(
                forbidden: { $0.has("handler ran") && $0["deinit saw"] == 0 },
                .init("post") {
                    guard code.tryRetain() else { return }
                    code.field.store(1, .plain)
                    note("handler ran")
                    _ = code.letGo()
                },
                .init("owner") {
                    guard code.letGo() else { return }
                    note("deinit saw", code.field.load(.plain))
                })
        },
        Claim(
            "a retain that fails has looked at the owner's own memory",
            mutants: [
                Mutant("the record holds no unowned reference", breaksOn: .all) {
                    $0.holdsMemory = false
                }
            ]
        ) { code in
            Scenario(
                forbidden: { $0["memory"] == 9 },
                .init("post") {
                    note("memory", code.memory.load(.plain))
                    // The record is released with the registration, after the post.
                    if code.holdsMemory { code.letGoOfMemory() }
                },
                .init("owner") {
                    // All strong references together have one unowned reference.
                    if code.letGo() { code.letGoOfMemory() }
                })
        },
    ]

    /// The runtime's release of an unowned reference. The last release frees the memory.
    func letGoOfMemory() {
        if unowned.wrappingAdd(-1, .acquiringAndReleasing) == 1 || !holdsMemory {
            memory.store(9, .plain)
        }
    }
}
