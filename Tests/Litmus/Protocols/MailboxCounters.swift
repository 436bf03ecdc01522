/// A post made on its target delivers inline if nothing is pending there (D3): all turns that were ever added are over.
///
/// Two counters, `nextTicket` under the mailbox's lock and `finished` without; both only grow, so the one that may lag is
/// looked at first.
struct MailboxCounters: Modelled {
    let nextTicket = Location("nextTicket")
    let finished = Location("finished")
    let lock = Lock("Mailbox.state")

    var looksAtFinishedFirst = true

    init(on machine: Machine) {}

    static let code = [
        Code(
            "Tether/Core/Delivery/Mailbox.swift", "var isOpenInline", "func finish(", "func append(",
            "finished.load(ordering: .acquiring)", "ordering: .releasing")
    ]

    /// `Mailbox.append`
    func append(_ name: String) {
        lock.withLock { note(name, nextTicket.exchange(.relaxed) { $0 + 1 }) }
    }

    /// `Mailbox.isOpenInline`
    func look(at name: String) {
        if looksAtFinishedFirst { note("finished", finished.load(.acquiring)) }
        lock.withLock { note(name, nextTicket.load(.relaxed)) }
        if !looksAtFinishedFirst { note("finished", finished.load(.acquiring)) }
    }

    static let claims: [Claim<MailboxCounters>] = [
        Claim(
            "a post is not delivered inline while an older one is pending",
            mutants: [
                Mutant("nextTicket is looked at first", breaksOn: .all) { $0.looksAtFinishedFirst = false }
            ]
        ) { code in
            Scenario(
                // It finds as many over as added, but the older turn is not over, or not yet added as far as it sees.
                forbidden: { $0["finished"] == 1 && $0["added"] == 1 && $0["older"] == 0 && $0["younger"] == 1 },
                .init("poster, whose turn is pending") { code.append("older") },
                .init("poster, whose turn is over") {
                    code.append("younger")
                    code.finished.wrappingAdd(1, .releasing)
                },
                .init("poster on the target") { code.look(at: "added") })
        }
    ]
}
