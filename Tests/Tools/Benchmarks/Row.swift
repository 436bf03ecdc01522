import Foundation

/// A line of the table: Tether beside a reference from the same run.
struct Row: Codable {
    let work: String
    let size: String
    let unit: String
    let value: Double
    /// From the tenth to the ninetieth percentile, as a part of the median; likewise the
    /// reference's.
    let spread: Double
    let reference: String
    let referenceValue: Double
    let referenceSpread: Double
    let goal: Double?

    init(
        _ benchmark: Benchmark, unit: String, value: Double, spread: Double = 0,
        referenceValue: Double,
        referenceSpread: Double = 0, goal: Double?
    ) {
        work = benchmark.work
        size = benchmark.size
        reference = benchmark.reference
        self.unit = unit
        self.value = value
        self.spread = spread
        self.referenceValue = referenceValue
        self.referenceSpread = referenceSpread
        self.goal = goal
    }

    /// Measures a row. Prints the reason and returns `nil` where the platform cannot.
    init?(_ benchmark: Benchmark, rounds: Int) {
        switch benchmark.sides() {
        case .timed(let subject, let reference):
            let timings = Timing.interleaved(
                [subject, reference], rounds: rounds, clock: benchmark.clock)
            self.init(
                benchmark, unit: "ns", value: timings[0].median, spread: timings[0].spread,
                referenceValue: timings[1].median, referenceSpread: timings[1].spread,
                goal: benchmark.goal)
        case .counted(let value, let reference, let unit):
            self.init(
                benchmark, unit: unit, value: value, referenceValue: reference, goal: benchmark.goal
            )
        case .unavailable(let reason):
            print("\(benchmark.name): \(reason)")
            return nil
        }
    }

    var name: String { size.isEmpty ? work : "\(work), \(size)" }
    var ratio: Double { value / referenceValue }
    var isMet: Bool { goal.map { ratio <= $0 } ?? true }

    /// Half of the ratio's range, as a fraction: the possible difference between two runs of the
    /// same code.
    var noise: Double { max(0.01, (spread + referenceSpread) / 2) }

    static let heading = columns("work", "size", "Tether", "", "reference", "", "ratio", "goal", "")

    var line: String {
        Row.columns(
            work, size, "\(Row.short(value)) \(unit)", Row.percent(spread),
            "\(reference) \(Row.short(referenceValue))", Row.percent(referenceSpread),
            String(format: "%.3f", ratio), goal.map { "<= " + String(format: "%g", $0) } ?? "",
            goal == nil ? "" : isMet ? "met" : "missed")
    }

    static func short(_ value: Double) -> String {
        String(format: value < 100 ? "%.1f" : "%.0f", value)
    }

    private static func percent(_ spread: Double) -> String {
        spread == 0 ? "" : "±" + String(format: "%.0f%%", spread * 50)
    }

    private static func columns(_ texts: String...) -> String {
        zip(texts, [48, 12, 14, 6, 32, 6, 8, 9, 0]).map { $0.padded($1) }.joined(separator: " ")
    }

    static func read(from file: URL) throws -> [Row] {
        try JSONDecoder().decode([Row].self, from: Data(contentsOf: file))
    }

    static func write(_ rows: [Row], to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(rows).write(to: file)
    }
}

extension String {
    func padded(_ width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }
}
