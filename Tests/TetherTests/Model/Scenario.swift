import Testing

/// Operations, and the results that they must have: a row of the files of scenarios.
///
///     `D8 a bound of the oldest drops new notifications`
///         observe a on each; bound a oldest-3; post 5 -> pending 3 dropped 2; run each -> a1 a2 a3
///
/// The name begins with lines of the contract. `ModelSpelling.swift` has the words of operations.
/// Results are behind arrows:
///
/// | Result | Means |
/// |---|---|
/// | `a1 b3 a2` | the calls since the last arrow with calls: of the observer `a` with the first post, … |
/// | `s0.2`, `s0.end` | a task got the second post, or the end, from a sequence |
/// | `a1 b1 ...` | further calls do not matter |
/// | `none` | no call |
/// | `pending 2`, `dropped 1`, `observers 3` | sums over the rows of the audits |
/// | `active a`, `ended a` | the state of a token |
/// | `holds a`, `released a` | the captures of the handler |
/// | `holds A`, `released A`, `holds 2`, `released 2` | an object, or the notification of a post |
///
/// A call that no arrow has is a failure. `each` stands for each kind of target whose jobs wait. A
/// row without `in c0` or another center is also performed over foreign centers.
struct Scenario: Sendable, CustomTestStringConvertible {
    private(set) var name: String
    private(set) var text: String
    let sourceLocation: SourceLocation
    /// The center of operations that choose none.
    private(set) var center = 0

    static let all = found + delivery

    var testDescription: String { name }

    /// The rows of a text that begins in the line behind the call.
    static func rows(
        _ text: String, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line
    ) -> [Scenario] {
        var rows: [Scenario] = []
        for (index, words) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            if words.hasPrefix("`") {
                let location = SourceLocation(
                    fileID: fileID, filePath: filePath, line: line + index + 2, column: 1)
                let name = String(words.trimmingPrefix("`").prefix { $0 != "`" })
                rows.append(Scenario(name: name, text: "", sourceLocation: location))
            } else if !words.isEmpty {
                rows[rows.count - 1].text += words
            }
        }
        return rows.flatMap(\.variants)
    }

    /// The row on each kind of target. Also over a foreign center, if the row names no center and
    /// foreign centers keep all of the cited lines (F1).
    private var variants: [Scenario] {
        let kinds = text.contains("each") ? ["serial", "batching", "concurrent"] : ["each"]
        let ofEachKind = kinds.map { kind in
            var row = self
            row.text = text.replacing("each", with: kind)
            if kind != "each" { row.name += " (\(kind))" }
            return row
        }
        guard !text.contains(" in "), lines.allSatisfy(Scenario.foreignLines.contains) else {
            return ofEachKind
        }
        return ofEachKind
            + ofEachKind.map { row in
                var row = row
                row.name += " (foreign center)"
                row.center = Places.foreign
                return row
            }
    }

    /// Whether the row has one observer, so that an order of observers, which Foundation's center
    /// does not keep, has no effect.
    var isOfOneObserver: Bool { text.split(separator: "observe ").count == 2 }

    /// The cited lines of the contract.
    private var lines: [String] {
        name.split(separator: " ").prefix { Int($0.dropFirst()) != nil }.map { String($0) }
    }

    private static let foreignLines = Set(
        [1, 2, 3, 5, 6, 7, 8, 11].map { "R\($0)" }
            + [1, 2, 3, 4, 5, 6, 7, 8, 9, 11].map { "O\($0)" }
            + (1...9).map { "D\($0)" } + ["M1", "M2", "F1"]
    )

    /// Operations, and the results behind their arrow.
    struct Step {
        let operations: [ModelOperation]
        /// `nil` without a word about calls.
        var calls: [String]?
        var facts: [(word: Substring, argument: Substring)] = []
    }

    func steps() throws -> [Step] {
        var reader = ModelReader(text, center: center)
        var steps: [Step] = []
        while reader.word != nil {
            var step = Step(operations: try reader.operations())
            if reader.word == "->" {
                try reader.skip("->")
                while let word = reader.word, word != ";" { step.add(word, from: &reader) }
                if reader.word == ";" { try reader.skip(";") }
            } else if let word = reader.word {
                throw reader.misspelling(word)
            }
            steps.append(step)
        }
        return steps
    }
}

extension Scenario.Step {
    private static let words: Set<Substring> = [
        "pending", "dropped", "observers", "active", "ended", "holds", "released",
    ]

    fileprivate mutating func add(_ word: Substring, from reader: inout ModelReader) {
        _ = reader.take()
        if Scenario.Step.words.contains(word) {
            facts.append((word, reader.take()))
        } else if word == "none" {
            calls = calls ?? []
        } else {
            calls = (calls ?? []) + [String(word)]
        }
    }
}

// MARK: Running

extension Scenario {
    /// Performs the operations one by one, each with a call of `perform`, which returns what else
    /// is wrong. Returns the first failure.
    func failure(
        of world: any World, _ player: Player, performing perform: (ModelOperation) -> [String]
    ) throws -> String? {
        var heard: [String] = []
        for step in try steps() {
            var last: ModelOperation?
            for operation in step.operations {
                last = operation
                let differences = perform(operation)
                heard += player.calls
                if !differences.isEmpty {
                    return report(differences, behind: operation, heard: heard)
                }
            }
            var failures = step.facts.compactMap { failure(of: $0, world, player) }
            if let calls = step.calls {
                if !Scenario.matches(calls, heard) {
                    failures.insert("expected the calls \(calls)", at: 0)
                }
                if failures.isEmpty { heard = [] }
            }
            if let last, !failures.isEmpty { return report(failures, behind: last, heard: heard) }
        }
        return heard.isEmpty ? nil : "the row has no calls behind its last arrow, but \(heard)"
    }

    private static func matches(_ calls: [String], _ heard: [String]) -> Bool {
        calls.last == "..." ? heard.starts(with: calls.dropLast()) : heard == calls
    }

    private func report(
        _ failures: [String], behind operation: ModelOperation, heard: [String]
    ) -> String {
        "behind \"\(operation)\", which heard \(heard):\n" + failures.joined(separator: "\n")
    }

    private func failure(
        of fact: (word: Substring, argument: Substring), _ world: any World, _ player: Player
    ) -> String? {
        let rows = world.picture().rows.joined()
        let found: Int
        switch fact.word {
        case "pending": found = rows.reduce(0) { $0 + $1.pending }
        case "dropped": found = rows.reduce(0) { $0 + $1.dropped }
        case "observers": found = rows.count
        case "active", "ended":
            let isActive = player.place(ofToken: fact.argument).map(world.isActive) ?? false
            return isActive == (fact.word == "active") ? nil : "not \(fact.word): \(fact.argument)"
        default:
            let isReleased = player.number(of: fact.argument).map(player.released.contains)
            return isReleased == (fact.word == "released")
                ? nil : "not \(fact.word): \(fact.argument)"
        }
        return String(found) == fact.argument ? nil : "\(fact.word) \(found)"
    }
}

extension Player {
    private static func letter(_ place: Int) -> String { SpelledOperation.tokens[place] }

    private var posts: [Int] {
        operations.indices.filter { index in
            switch operations[index] {
            case .post, .enqueue: true
            default: false
            }
        }
        .map { $0 + 1 }
    }

    /// The calls of the last step, as a scenario has them.
    fileprivate var calls: [String] {
        let posts = posts
        func post(_ number: Int?) -> String {
            number.flatMap(posts.firstIndex).map { "\($0 + 1)" } ?? "?"
        }
        return history.events.compactMap { event in
            switch event {
            case .called(let observer, let number, _, _):
                guard case .observe(let asked) = operations[observer - 1] else { return nil }
                return Player.letter(asked.token) + post(number)
            case .taken(let sequence, let number, let sender):
                guard case .sequence(let asked) = operations[sequence - 1] else { return nil }
                return "s\(asked.place)." + (sender == nil ? "end" : post(number))
            default: return nil
            }
        }
    }

    fileprivate func place(ofToken word: Substring) -> Int? {
        SpelledOperation.tokens.firstIndex(of: String(word))
    }

    /// The number of the newest observer or object with a letter, or of a post.
    fileprivate func number(of word: Substring) -> Int? {
        if let post = Int(word) { return post <= posts.count ? posts[post - 1] : nil }
        let last = operations.lastIndex { operation in
            switch operation {
            case .observe(let asked): Player.letter(asked.token) == word
            case .make(let object, _): SpelledOperation.objects[object] == word
            default: false
            }
        }
        return last.map { $0 + 1 }
    }
}
