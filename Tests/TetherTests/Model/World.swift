/// The receiver of operations: the model, or the library.
protocol World: AnyObject {
    /// Performs an operation. A new observer, object, sequence or post gets the operation's number.
    func perform(_ operation: ModelOperation, number: Int)
    func isActive(_ token: Int) -> Bool
    func picture() -> Picture
}

/// The reports of audits and tokens.
struct Picture: Equatable {
    /// Of each center.
    var rows: [[Row]]
    var centers: [Center]
    var tokens: [Token?]
    /// How many observers each object has as an owner.
    var attached: [Int]
    /// How many blocks wait on each scheduler.
    var blocks: [Int]

    struct Row: Equatable {
        let name: String?
        let sender: String?
        let owner: String?
        let target: String
        let pending: Int
        let dropped: Int
        let muted: Int
        let isOnce: Bool
        let key: String?
    }

    struct Center: Equatable {
        /// Waiting posts of posting queues.
        var asap = 0
        var whenIdle = 0
        /// The closures of a foreign center, and how often it was asked to remove one that it had
        /// not.
        var closures = 0
        var strangers = 0
    }

    struct Token: Equatable {
        let isMuted: Bool
        let target: String
        let backlog: String
        let dropped: Int
    }

    func differences(from found: Picture) -> [String] {
        let (mine, others) = (lines, found.lines)
        return mine.filter { !others.contains($0) }.map { "expected \($0)" }
            + others.filter { !mine.contains($0) }.map { "found \($0)" }
    }

    private var lines: [String] {
        var lines: [String] = []
        for (center, rows) in rows.enumerated() { lines += rows.map { "center \(center): \($0)" } }
        lines += centers.map { "\($0)" }
        lines += tokens.enumerated().map { "token \($0): \($1.debugDescription)" }
        lines += attached.enumerated().map { "attached to \($0): \($1)" }
        lines += blocks.enumerated().map { "blocks of scheduler \($0): \($1)" }
        return lines
    }
}
