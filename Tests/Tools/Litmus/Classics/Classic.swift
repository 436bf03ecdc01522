/// A test of the checker itself: a few threads, with the results that each model allows, known from
/// papers and from hardware.
struct Classic {
    let name: String
    /// The models that allow the outcome, without `coherence`, which allows all.
    let allowedBy: Set<Model>
    let scenario: Scenario

    init(_ name: String, allowedBy: Set<Model>, _ scenario: Scenario) {
        self.name = name
        self.allowedBy = allowedBy
        self.scenario = scenario
    }

    static var models: [Model] { Model.allCases.filter { $0 != .coherence } }

    static var all: [Classic] {
        storeBuffering + messagePassing + loadBuffering + independentReads + writes
    }
}

extension Set<Model> {
    static let anyARM: Self = [.arm, .armRCpc]
    /// All but sequential consistency.
    static let relaxed: Self = [.totalStoreOrder, .arm, .armRCpc, .language]
    /// ARM and the language.
    static let weak: Self = [.arm, .armRCpc, .language]
}
