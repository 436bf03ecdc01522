/// A few threads, and the forbidden result.
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
    /// The forbidden notes of the threads.
    let forbidden: (Outcome) -> Bool
    /// A forbidden last value of a location, only together with the forbidden notes.
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

/// The notes of the threads in one execution.
struct Outcome {
    private let runs: [Run]

    init(_ runs: [Run]) {
        self.runs = runs
    }

    /// The value of a note; `nil` if no thread made the note.
    subscript(fact: Fact) -> Int? {
        Facts.asked.insert(fact)
        for run in runs { if let number = run.facts[fact] { return number } }
        return nil
    }

    /// Whether a fact was noted with the value 1.
    func has(_ fact: Fact) -> Bool { self[fact] == 1 }
}

/// The requested facts and the noted facts: a fact with two spellings would never be forbidden.
enum Facts {
    static var asked: Set<Fact> = []
    static var noted: Set<Fact> = []

    /// The facts that were requested and never noted since the last call.
    static func takeUnknown() -> Set<Fact> {
        defer { (asked, noted) = ([], []) }
        return asked.subtracting(noted)
    }
}
