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
/// | `~a`, `~A`, `~2` among calls | the release of the captures of `a`, of an object, of a post's notification |
/// | `/a` among calls | the return of a handler with actions |
/// | `pending 2`, `dropped 1`, `muted 1`, `observers 3` | sums over the rows of the audits |
/// | `jobs 2` | how many jobs wait on the serial and the concurrent scheduler |
/// | `active ab`, `ended c` | the state of tokens |
/// | `holds aA`, `released b`, `holds 2`, `released 3` | captures, objects, notifications |
///
/// A call that no arrow has is a failure. `[x | y]` stands for a row with each of the texts, and
/// `each` for a row with each kind of target whose jobs wait, also with operation and dispatch
/// queues. A row without `in c0` or another center is also performed over foreign centers.
struct Scenario: Sendable, CustomTestStringConvertible {
    private(set) var name: String
    private(set) var text: String
    let sourceLocation: SourceLocation
    /// The center of operations that choose none.
    private(set) var center = 0
    /// Whether a queue can take the place of the serial or the batching scheduler.
    private(set) var fitsQueues = false

    static let all = found + matching + lives + delivery

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

    /// The row with each of its alternatives. Also over a foreign center, if the row names no center,
    /// and cites F1 or only lines that foreign centers keep (F1).
    private var variants: [Scenario] {
        var alternatives: [Substring] = []
        var brackets = text[...]
        if text.contains("each") {
            brackets = "each"
            alternatives = ["serial", "batching", "concurrent"]
        } else if let start = text.firstIndex(of: "["), let end = text.firstIndex(of: "]") {
            brackets = text[start...end]
            alternatives = brackets.dropFirst().dropLast().split(separator: "|")
        }
        if !alternatives.isEmpty {
            return alternatives.flatMap { alternative in
                var row = self
                row.text = text.replacing(brackets, with: alternative)
                row.name += " (\(alternative.trimmingPrefix(" ")))"
                if brackets == "each" { row.fitsQueues = alternative != "concurrent" }
                return row.variants
            }
        }
        guard !text.contains(" in "),
            lines.contains("F1") || Scenario.linesOfForeignCenters.isSuperset(of: lines)
        else {
            return [self]
        }
        var foreign = self
        foreign.name += " (foreign center)"
        foreign.center = Places.foreign
        return [self, foreign]
    }

    /// Whether the calls of each observer do not depend on the order of observers, which
    /// Foundation's center does not keep.
    var isIndependentOfOrder: Bool {
        let hasOneObserver = text.split(separator: "observe ").count == 2
        return hasOneObserver || ["{", " oldest", " newest;"].allSatisfy { !text.contains($0) }
    }

    /// The cited lines of the contract.
    private var lines: [String] {
        name.split(separator: " ").prefix { Int($0.dropFirst()) != nil }.map { String($0) }
    }

    private static let linesOfForeignCenters = Set(
        [1, 2, 3, 5, 6, 7, 8, 11].map { "R\($0)" }
            + [1, 2, 3, 4, 5, 6, 7, 8, 9, 11].map { "O\($0)" }
            + (1...9).map { "D\($0)" } + ["M1", "M2"])

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
        "pending", "dropped", "muted", "observers", "jobs", "active", "ended", "holds", "released",
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
        of world: any World, _ player: Player, byObserver: Bool = false,
        performing perform: (ModelOperation) -> [String]
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
                if !Scenario.matches(calls, heard, byObserver: byObserver) {
                    failures.insert("expected the calls \(calls)", at: 0)
                }
                if failures.isEmpty { heard = [] }
            }
            if let last, !failures.isEmpty { return report(failures, behind: last, heard: heard) }
        }
        let unnamed = heard.filter { $0.first!.isLetter }
        return unnamed.isEmpty ? nil : "no arrow has the calls \(unnamed)"
    }

    /// Whether the calls are those that were heard, and releases and returns as far as named.
    /// `byObserver`: without an order of observers.
    private static func matches(_ calls: [String], _ heard: [String], byObserver: Bool) -> Bool {
        let heard = heard.filter { $0.first!.isLetter || calls.contains($0) }
        if calls.last == "..." { return heard.starts(with: calls.dropLast()) }
        guard byObserver else { return heard == calls }
        func observer(_ word: String) -> Character? { word.first(where: \.isLetter) }
        return Dictionary(grouping: heard, by: observer)
            == Dictionary(grouping: calls, by: observer)
    }

    private func report(
        _ failures: [String], behind operation: ModelOperation, heard: [String]
    ) -> String {
        "behind \"\(operation)\", which heard \(heard):\n" + failures.joined(separator: "\n")
    }

    private func failure(
        of fact: (word: Substring, argument: Substring), _ world: any World, _ player: Player
    ) -> String? {
        let picture = world.picture()
        let rows = picture.rows.joined()
        let found: Int
        switch fact.word {
        case "pending": found = rows.reduce(0) { $0 + $1.pending }
        case "dropped": found = rows.reduce(0) { $0 + $1.dropped }
        case "observers": found = rows.count
        case "muted": found = rows.reduce(0) { $0 + $1.muted }
        case "jobs": found = picture.blocks.reduce(0, +)
        case "active", "ended":
            let isTrue = fact.argument.allSatisfy { letter in
                let isActive = player.place(ofToken: letter).map(world.isActive) ?? false
                return isActive == (fact.word == "active")
            }
            return isTrue ? nil : "not \(fact.word): \(fact.argument)"
        default:
            let numbers = player.numbers(of: fact.argument)
            let isTrue = numbers.allSatisfy {
                player.released.contains($0) == (fact.word == "released")
            }
            return isTrue ? nil : "not \(fact.word): \(fact.argument)"
        }
        return String(found) == fact.argument ? nil : "\(fact.word) \(found)"
    }
}

extension Player {
    /// The numbers of the posts.
    private var posts: [Int] {
        operations.indices.filter { index in
            switch operations[index] {
            case .post, .enqueue: true
            default: false
            }
        }
        .map { $0 + 1 }
    }

    /// The letter of the observer, sequence or object with a number.
    private func letter(_ number: Int) -> String {
        switch operations[number - 1] {
        case .observe(let asked): SpelledOperation.tokens[asked.token]
        case .sequence(let asked): "s\(asked.place)."
        case .make(let object, _): SpelledOperation.objects[object]
        default: ""
        }
    }

    /// The calls, releases and returns of the last step, as a scenario has them.
    fileprivate var calls: [String] {
        let posts = posts
        func post(_ number: Int?) -> String {
            number.flatMap(posts.firstIndex).map { "\($0 + 1)" } ?? "?"
        }
        return history.events.compactMap { event in
            switch event {
            case .called(let observer, let number, _, _): letter(observer) + post(number)
            case .taken(let sequence, _, nil): letter(sequence) + "end"
            case .taken(let sequence, let number, _): letter(sequence) + post(number)
            case .returned(let observer): "/" + letter(observer)
            case .released(let number), .ended(let number), .deinitBegan(let number):
                "~" + letter(number)
            case .payloadReleased(let number): "~" + post(number)
            case .done: nil
            }
        }
    }

    fileprivate func place(ofToken letter: Character) -> Int? {
        SpelledOperation.tokens.firstIndex(of: String(letter))
    }

    /// The numbers of the newest observers and objects with letters, or of a post.
    fileprivate func numbers(of word: Substring) -> [Int] {
        if let post = Int(word) { return [posts[post - 1]] }
        return word.map { letter in
            1 + operations.indices.last { self.letter($0 + 1) == String(letter) }!
        }
    }
}
