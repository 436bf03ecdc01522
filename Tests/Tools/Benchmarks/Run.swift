import Foundation

/// A run of the chosen rows.
struct Run {
    private let options: Options

    init(_ options: Options) { self.options = options }

    func all() {
        if options.drawsOnly {
            named(URL(filePath: "medians.json")) { publish(try Record.read()) }
            return
        }
        if options.records {
            let files = options.recorded.isEmpty ? runs() : options.recorded
            record(files.map { file in named(file) { try Row.read(from: file) } })
            return
        }
        let chosen = Benchmark.all.filter { benchmark in
            options.filter.map { benchmark.name.localizedCaseInsensitiveContains($0) } ?? true
        }
        guard !chosen.isEmpty else {
            Options.fail("no row's name contains '\(options.filter ?? "")'; --list lists them.")
        }
        if options.listsOnly {
            for benchmark in chosen { print(benchmark.name) }
            return
        }
        let measured = chosen.filter { !(options.isQuick && $0.isLarge) }
        guard !measured.isEmpty else {
            Options.fail(
                "every row whose name contains '\(options.filter ?? "")' is left out by --quick.")
        }
        let earlier = options.comparison.map { file in named(file) { try Row.read(from: file) } }
        let load = CoreLoad(threads: options.busyCores)
        let rows = measure(measured)
        load.stop()
        summarize(rows)
        if let earlier { Comparison(earlier: earlier, later: rows).print() }
        if let file = options.json { named(file) { try Row.write(rows, to: file) } }
    }

    /// Three full runs, each in a process of its own, as their rows in files.
    private func runs() -> [URL] {
        (1...3).map { number in
            let file = FileManager.default.temporaryDirectory.appending(
                path: "benchmarks-\(getpid())-\(number).json")
            let process = Process()
            process.executableURL = URL(filePath: CommandLine.arguments[0])
            process.arguments = ["--json", file.path]
            named(file) { try process.run() }
            process.waitUntilExit()
            return file
        }
    }

    private func record(_ runs: [[Row]]) {
        let record = Record(of: runs)
        named(URL(filePath: "medians.json")) { try record.write() }
        publish(record)
    }

    private func publish(_ record: Record) {
        let missing = named(URL(filePath: "README.md")) { try record.publish() }
        print("\(record.origin).")
        for name in missing { print("No table has the row: \(name)") }
    }

    /// Reads or writes a file; a failure ends the program with the file's name.
    private func named<Result>(_ file: URL, _ body: () throws -> Result) -> Result {
        do { return try body() } catch {
            Options.fail("\(file.path): \(error.localizedDescription)")
        }
    }

    private func measure(_ benchmarks: [Benchmark]) -> [Row] {
        let counter = options.countsInstructions ? InstructionCounter() : nil
        let progress = Progress(of: benchmarks.count)
        var rows: [Row] = []
        print(Row.heading)
        for (index, benchmark) in benchmarks.enumerated() {
            progress.show(benchmark.name, at: index)
            let row: Row?
            if let counter {
                row = counter.measure(benchmark)
            } else {
                row = Row(benchmark, rounds: options.isQuick ? 5 : 41)
            }
            progress.clear()
            guard let row else { continue }
            print(row.line)
            rows.append(row)
        }
        return rows
    }

    private func summarize(_ rows: [Row]) {
        let withGoal = rows.filter { $0.goal != nil }
        let missed = withGoal.count { !$0.isMet }
        print(
            "\(rows.count) rows; of \(withGoal.count) with a goal, \(withGoal.count - missed) meet it."
        )
    }
}
