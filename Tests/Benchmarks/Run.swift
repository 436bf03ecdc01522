import Foundation

/// A run of the chosen rows.
struct Run {
    private let options: Options

    init(_ options: Options) { self.options = options }

    func all() {
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
        if let file = options.chart { named(file) { try Chart.write(rows, to: file) } }
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
