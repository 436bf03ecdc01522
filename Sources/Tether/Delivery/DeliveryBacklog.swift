/// How many deliveries may wait for one observer on its target.
///
/// ```swift
/// token.backlog = .newestOnly       // a slow observer of progress sees where it is, not where it was
/// token.backlog = .newest(100)
/// ```
///
/// When one more comes than may wait, the oldest is dropped, and counted in the audit (contract D8). A handler that is
/// running does not count as waiting. On `.poster` only what a switch left there waits, and what is posted while that is
/// being delivered.
public struct DeliveryBacklog: Sendable, Hashable {
    let limit: Int

    /// Everything waits until it is delivered. The default.
    public static let unbounded = DeliveryBacklog(limit: .max)

    /// Only the newest delivery waits.
    public static let newestOnly = DeliveryBacklog(limit: 1)

    /// The newest deliveries wait, at most so many. A number that is not positive stops the program with a sentence.
    public static func newest(_ count: Int) -> DeliveryBacklog {
        guard count > 0 else {
            // Not covered: ends the process; FlowControlMisuseTests run it apart.
            fatalError(
                "DeliveryBacklog.newest(_:): with a backlog of \(count) nothing could ever be delivered; pass 1 or more, "
                    + "or mute the observer.")
        }
        return DeliveryBacklog(limit: count)
    }
}

extension DeliveryBacklog: CustomStringConvertible {
    /// What may wait, in words.
    public var description: String {
        switch limit {
        case .max: "unbounded"
        case 1: "newest only"
        default: "newest \(limit)"
        }
    }
}
