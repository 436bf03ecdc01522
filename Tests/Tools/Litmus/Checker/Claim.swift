/// A protocol of the library: the accesses visible to other threads, as a value with variable
/// orders.
protocol Modelled {
    /// The library's protocol.
    init(on machine: Machine)

    /// The modelled code.
    static var code: [Code] { get }
    static var claims: [Claim<Self>] { get }
}

/// A promise of a protocol, and the changes that would break the promise.
struct Claim<Protocol: Modelled> {
    let sentence: String
    let scenario: (Protocol) -> Scenario
    let mutants: [Mutant<Protocol>]

    init(
        _ sentence: String, mutants: [Mutant<Protocol>],
        _ scenario: @escaping (Protocol) -> Scenario
    ) {
        self.sentence = sentence
        self.mutants = mutants
        self.scenario = scenario
    }
}

/// A change that breaks a claim on some machines, and on no other machine.
struct Mutant<Protocol: Modelled> {
    let change: String
    let breaksOn: Set<Machine>
    let apply: (inout Protocol) -> Void

    init(_ change: String, breaksOn: Set<Machine>, _ apply: @escaping (inout Protocol) -> Void) {
        self.change = change
        self.breaksOn = breaksOn
        self.apply = apply
    }
}

/// A modelled place of the library, and the lines that the model depends on.
struct Code {
    /// The file, from `Sources`.
    let file: String
    let lines: [String]

    init(_ file: String, _ lines: String...) {
        self.file = file
        self.lines = lines
    }
}
