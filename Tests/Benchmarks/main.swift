import Foundation

/// `swift run -c release Benchmarks [--filter TEXT] [--json FILE] [--quick]`
final class Benchmarks {
    private let filter: String?
    private let file: String?
    private let isQuick: Bool
    private(set) var rows: [Row] = []

    /// How many rounds each subject is timed in.
    var rounds: Int { isQuick ? 5 : 41 }

    init(_ arguments: [String]) {
        var arguments = arguments[...]
        var (filter, file, isQuick): (String?, String?, Bool) = (nil, nil, false)
        while let argument = arguments.popFirst() {
            switch argument {
            case "--filter" where !arguments.isEmpty: filter = arguments.removeFirst()
            case "--json" where !arguments.isEmpty: file = arguments.removeFirst()
            case "--quick": isQuick = true
            default:
                FileHandle.standardError.write(
                    Data(
                        "Benchmarks: '\(argument)' is not an option; use [--filter TEXT] [--json FILE] [--quick].\n"
                            .utf8))
                exit(2)
            }
        }
        (self.filter, self.file, self.isQuick) = (filter, file, isQuick)
    }

    /// The sizes to measure: not the largest in a quick run.
    func sizes(_ all: [Int]) -> [Int] { isQuick ? all.filter { $0 <= 10_000 } : all }

    func compare(
        _ work: String, size: String = "", reference: String? = nil, goal: Double, clock: Clock = .processor,
        _ subject: Subject, _ other: Subject
    ) {
        let timings = Timing.interleaved([subject, other], rounds: rounds, clock: clock)
        add(Row(work, size: size, timings[0], to: timings[1], reference ?? other.name, goal: goal))
    }

    func add(_ row: Row) {
        rows.append(row)
        print(row.line)
    }

    func note(_ text: String) { print(text) }

    func run() throws {
        let all: [(String, () -> Void)] = [
            ("post none", postNone), ("post one channel", postOne), ("post many", postMany),
            ("post owners", postOwners),
            ("post senders", postSenders), ("post among others", postAmongOthers), ("threads", postOnThreads),
            ("add remove", addAndRemove), ("attach end owner", attachAndEnd), ("hooked class", hookedClass),
            ("bytes", bytes),
            ("burst dispatch", burst), ("burst operation", burstToOperationQueue), ("posting queue", postingQueue),
            ("storages", storages),
        ]
        for (name, body) in all where filter.map({ name.contains($0) }) ?? true { body() }
        let missed = rows.count { !$0.met }
        print("\(rows.count) rows, \(rows.count - missed) met, \(missed) missed.")
        if let file {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(rows).write(to: URL(filePath: file))
        }
    }
}

try Benchmarks(Array(CommandLine.arguments.dropFirst())).run()
