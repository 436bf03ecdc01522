/// A few threads, and what must not come of them.
struct Scenario {
    struct Thread {
        let name: String
        let body: () -> Void

        init(_ name: String, _ body: @escaping () -> Void) {
            self.name = name
            self.body = body
        }
    }

    let threads: [Thread]
    /// What the threads noted, if it must not be.
    let forbidden: (Outcome) -> Bool
    /// What must not be in a location at the end either; only together with what is forbidden.
    var finally: (location: Location, value: Int)?

    init(
        forbidden: @escaping (Outcome) -> Bool, finally: (location: Location, value: Int)? = nil,
        _ threads: Thread...
    ) {
        self.threads = threads
        self.forbidden = forbidden
        self.finally = finally
    }
}

/// What threads noted in one execution.
struct Outcome {
    private let runs: [Run]

    init(_ runs: [Run]) {
        self.runs = runs
    }

    /// What was noted of a fact; `nil` where no thread came by.
    subscript(fact: Fact) -> Int? {
        Facts.asked.insert(fact)
        for run in runs { if let number = run.facts[fact] { return number } }
        return nil
    }

    /// Whether a fact was noted with the value 1.
    func has(_ fact: Fact) -> Bool { self[fact] == 1 }
}

/// Which facts were asked for and noted: one that is spelt in two ways would never be forbidden.
enum Facts {
    static var asked: Set<Fact> = []
    static var noted: Set<Fact> = []

    /// Facts that were asked for and never noted since the last call.
    static func takeUnknown() -> Set<Fact> {
        defer { (asked, noted) = ([], []) }
        return asked.subtracting(noted)
    }
}
