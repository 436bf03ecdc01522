internal import Foundation

/// Gives protocols and classics to the models, prints the results, and counts surprises.
struct Checking {
    private(set) var surprises = 0
    private(set) var protocols = 0
    private(set) var claims = 0
    private(set) var mutants = 0
    private(set) var executions = 0
    private let isVerbose: Bool
    /// The lines of all protocols, by file.
    private var listed: [String: [String]] = [:]
    private static let width = 84

    init(isVerbose: Bool) {
        self.isVerbose = isVerbose
    }

    private mutating func surprise(_ sentence: String) {
        surprises += 1
        print("SURPRISE: \(sentence)")
    }

    // MARK: The checker itself

    mutating func check(_ classics: [Classic]) {
        for classic in classics {
            let search = Search(classic.scenario, models: Classic.models)
            executions += search.executions
            let allowed = Set(search.witnesses.keys)
            for model in Classic.models
            where allowed.contains(model) != classic.allowedBy.contains(model) {
                surprise(
                    "\(classic.name) is \(allowed.contains(model) ? "allowed" : "forbidden") by \(model.rawValue)."
                )
            }
        }
        print(
            "\(classics.count) classic tests with known answers, on \(Classic.models.count) models.\n"
        )
    }

    // MARK: Protocols

    mutating func check<Protocol: Modelled>(_ type: Protocol.Type) {
        protocols += 1
        print(Checking.row("\(type)", Machine.allCases.map(\.rawValue)))
        print("  in \(type.code.map(\.file).joined(separator: ", "))")
        for code in type.code { check(code) }
        for claim in type.claims { check(claim) }
        print()
    }

    /// Checks that the code still has the modelled lines, with any line breaks.
    private mutating func check(_ code: Code) {
        guard let text = source(code.file).map(ModelledOrders.withoutSpaces) else { return }
        for line in code.lines {
            if text.contains(ModelledOrders.withoutSpaces(line)) { continue }
            surprise(
                "\(code.file) does not say '\(line)' any more: does the model still stand for it?")
        }
        listed[code.file, default: []] += code.lines
    }

    /// Checks that the protocols list every memory order of the modelled functions.
    private mutating func checkOrders() {
        for (file, lines) in listed.sorted(by: { $0.key < $1.key }) {
            guard let text = source(file) else { continue }
            for step in ModelledOrders(of: text, lines: lines).unlisted {
                surprise("\(file) has an order that no protocol lists: \(step)")
            }
        }
    }

    private mutating func source(_ file: String) -> String? {
        let path = URL(filePath: #filePath).appending(path: "../../../../../Sources/\(file)")
            .standardized
        if let text = try? String(contentsOf: path, encoding: .utf8) { return text }
        surprise("There is no \(path.path).")
        return nil
    }

    private mutating func check<Protocol>(_ claim: Claim<Protocol>) {
        claims += 1
        let broken = brokenMachines { claim.scenario(Protocol(on: $0)) }
        print(
            Checking.row(
                "  \(claim.sentence)",
                Machine.allCases.map { broken[$0] == nil ? "holds" : "BROKEN" }))
        for machine in Machine.allCases {
            guard let witness = broken[machine] else { continue }
            surprise("'\(claim.sentence)' is broken on \(machine.rawValue).")
            print(witness)
        }
        if claim.mutants.isEmpty {
            surprise("'\(claim.sentence)' has no mutant, so it may say nothing.")
        }
        for mutant in claim.mutants { check(mutant, of: claim) }
        for fact in Facts.takeUnknown() {
            surprise("'\(claim.sentence)' asks for '\(fact)', which no thread notes.")
        }
    }

    private mutating func check<Protocol>(_ mutant: Mutant<Protocol>, of claim: Claim<Protocol>) {
        mutants += 1
        let broken = brokenMachines { machine in
            var changed = Protocol(on: machine)
            mutant.apply(&changed)
            return claim.scenario(changed)
        }
        print(
            Checking.row(
                "    if \(mutant.change)",
                Machine.allCases.map { broken[$0] == nil ? "." : "found" }))
        for machine in Machine.allCases
        where (broken[machine] != nil) != mutant.breaksOn.contains(machine) {
            surprise(
                "If \(mutant.change), it \(broken[machine] == nil ? "holds" : "is broken") on \(machine.rawValue)."
            )
        }
        if isVerbose, let (machine, witness) = broken.min(by: { $0.key.rawValue < $1.key.rawValue })
        {
            print("      on \(machine.rawValue):\n\(witness)")
        }
        if broken.isEmpty { surprise("If \(mutant.change), nothing is broken.") }
    }

    /// The machines on which a scenario can reach the forbidden result, each with an execution.
    private mutating func brokenMachines(_ scenario: (Machine) -> Scenario) -> [Machine: String] {
        var broken: [Machine: String] = [:]
        for machine in Machine.allCases {
            let search = Search(scenario(machine), models: [machine.model])
            executions += search.executions
            broken[machine] = search.witnesses[machine.model]
        }
        return broken
    }

    mutating func conclude(after time: Duration) {
        checkOrders()
        print(
            "\(protocols) protocols, \(claims) claims, \(mutants) mutants, \(Machine.allCases.count) machines, "
                + "\(executions) executions, \(time.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1))))."
        )
        print(surprises == 0 ? "Everything is as expected." : "\(surprises) surprises.")
    }

    private static func row(_ title: String, _ cells: [String]) -> String {
        let padded = title.padding(toLength: max(width, title.count), withPad: " ", startingAt: 0)
        let columns = zip(Machine.allCases, cells).map { machine, cell in
            cell.padding(toLength: max(7, machine.rawValue.count), withPad: " ", startingAt: 0)
        }
        return padded + " " + columns.joined(separator: " ")
    }
}
