/// A protocol of the library: the accesses that other threads can see, as a value whose orders can
/// be changed.
protocol Modelled {
    /// The protocol as the library has it.
    init(on machine: Machine)

    /// The code that the model stands for.
    static var code: [Code] { get }
    static var claims: [Claim<Self>] { get }
}

/// Something that a protocol promises, and the changes that would break it.
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

/// A change that breaks a claim on some machines, and on no others.
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

/// A place in the library that a model stands for, and lines of it that the model depends on.
struct Code {
    /// The file, from `Sources`.
    let file: String
    let lines: [String]

    init(_ file: String, _ lines: String...) {
        self.file = file
        self.lines = lines
    }
}
