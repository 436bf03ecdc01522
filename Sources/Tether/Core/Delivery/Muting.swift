/// How often something is muted, and whether the newest of what is posted meanwhile is kept (D9).
struct Muting: Sendable {
    private(set) var count = 0
    private(set) var keepsNewest = false

    mutating func begin(keepingNewest: Bool) {
        count += 1
        if keepingNewest { keepsNewest = true }
    }

    /// False if it is not muted.
    mutating func end() -> Bool {
        guard count > 0 else { return false }
        count -= 1
        if count == 0 { keepsNewest = false }
        return true
    }
}
