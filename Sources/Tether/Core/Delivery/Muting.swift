/// The mutings of one observer, and the notification kept meanwhile (D9).
///
/// *States*: unmuted, without a kept notification; muted, dropping; muted, keeping the newest. A
/// value without a lock, which `Mailbox` protects.
struct Muting: Sendable {
    /// The token, or the owner for all its current observers.
    enum Muter: Sendable { case token, owner }

    /// What an unmuting leads to.
    enum Ending: Sendable {
        /// The muter has not muted.
        case refused
        case stillMuted
        case over(DeliveryQueue.Delivery?)
    }

    /// The mutings in force, by the token and by the owner.
    private var tokenCount: Int32 = 0
    private var ownerCount: Int32 = 0
    /// Whether a muting in force, or one that overlapped it, requested the newest notification.
    /// False again when the last muting ends.
    private(set) var keepsNewest = false
    private(set) var kept: DeliveryQueue.Delivery?

    var isMuted: Bool { count > 0 }
    var count: Int { Int(tokenCount) + Int(ownerCount) }

    mutating func begin(by muter: Muter, keepingNewest: Bool) {
        change(muter, by: 1)
        if keepingNewest {
            keepsNewest = true
        }
    }

    mutating func end(by muter: Muter) -> Ending {
        guard change(muter, by: -1) else { return .refused }
        if isMuted {
            return .stillMuted
        }
        keepsNewest = false
        return .over(takeKept())
    }

    /// Returns false, without a change, if there would be fewer mutings than none.
    @discardableResult
    private mutating func change(_ muter: Muter, by number: Int32) -> Bool {
        switch muter {
        case .token:
            guard tokenCount + number >= 0 else { return false }
            tokenCount += number
        case .owner:
            guard ownerCount + number >= 0 else { return false }
            ownerCount += number
        }
        return true
    }

    /// Keeps a notification. Returns the older one, which it displaces.
    mutating func keep(_ new: DeliveryQueue.Delivery) -> DeliveryQueue.Delivery? {
        let displaced = kept
        kept = new
        return displaced
    }

    mutating func takeKept() -> DeliveryQueue.Delivery? {
        let taken = kept
        kept = nil
        return taken
    }
}
