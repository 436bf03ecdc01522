/// A row of the table before the measurement: Tether's work, a reference's, and the goal for their
/// ratio.
struct Benchmark: Sendable {
    /// Both sides of a row, ready to run.
    enum Sides {
        case timed(Subject, Subject)
        /// Figures other than times, equal in every round.
        case counted(Double, Double, unit: String)
        /// The reason, if the platform cannot measure the row.
        case unavailable(String)
    }

    let work: String
    let size: String
    let reference: String
    /// The highest ratio that meets the goal. `nil` for a row without a goal.
    let goal: Double?
    let clock: Clock
    /// Left out of a quick run, because the set-up takes seconds.
    let isLarge: Bool
    /// Whether the number of instructions does not hang on how threads meet.
    let hasStableInstructions: Bool
    /// Sets the row up. The closures of its subjects retain the objects they use.
    let sides: @Sendable () -> Sides

    init(
        _ work: String, size: String = "", reference: String = "Foundation", goal: Double?,
        clock: Clock = .processor,
        isLarge: Bool = false, hasStableInstructions: Bool = true,
        sides: @escaping @Sendable () -> Sides
    ) {
        self.work = work
        self.size = size
        self.reference = reference
        self.goal = goal
        self.clock = clock
        self.isLarge = isLarge
        self.hasStableInstructions = hasStableInstructions
        self.sides = sides
    }

    /// The printed name of the row, searched by `--filter`.
    var name: String { size.isEmpty ? work : "\(work), \(size)" }

    static var all: [Benchmark] {
        posting + threads + registering + owning + memory + delivering + growing + queueing + peers
            + storages + holding
    }
}
