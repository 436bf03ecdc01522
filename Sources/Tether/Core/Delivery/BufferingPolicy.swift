/// How much is kept of what was posted and has not been delivered, or taken, yet.
///
/// ```swift
/// token.backlog = .newest(1)    // where it is, not where it was
/// let notes = center.notifications(named: nil, buffering: .newest(100))
/// for await note in notes { … }
/// ```
///
/// For an observer it bounds what waits for it on its target (D8), for an async sequence what waits
/// to be taken (S3). What is dropped is counted in the audit. A handler that is running does not
/// count as waiting. On `.postingThread` only what a switch left there waits, and what is posted while that is being
/// delivered.
///
/// Foundation's `bufferSize` is `.newest(size)`. A number of less than 1 stops the program with a sentence (X1).
public struct BufferingPolicy: Sendable, Hashable {
    /// How much may wait.
    let limit: Int
    /// Whether what is posted beyond that is dropped, and not the oldest of what waits.
    let keepsOldest: Bool

    /// All of it. The default.
    public static let unbounded = BufferingPolicy(limit: .max, keepsOldest: false)

    /// The newest `count`: what is posted to a full buffer drops the oldest.
    /// - Parameter count: How many are kept, 1 or more. A number of less than 1 stops the program with a sentence (X1).
    public static func newest(_ count: Int) -> BufferingPolicy {
        BufferingPolicy(checking: count, keepsOldest: false, call: "BufferingPolicy.newest(_:)")
    }

    /// The oldest `count`: what is posted to a full buffer is dropped.
    /// - Parameter count: How many are kept, 1 or more. A number of less than 1 stops the program with a sentence (X1).
    public static func oldest(_ count: Int) -> BufferingPolicy {
        BufferingPolicy(checking: count, keepsOldest: true, call: "BufferingPolicy.oldest(_:)")
    }

    private init(limit: Int, keepsOldest: Bool) {
        self.limit = limit
        self.keepsOldest = keepsOldest
    }

    private init(checking count: Int, keepsOldest: Bool, call: StaticString) {
        guard count > 0 else {
            // Not covered: ends the process; BufferingPolicyMisuseTests run it apart.
            fatalError(
                "\(call): a buffer of \(count) keeps nothing that was posted; pass 1 or more, or .unbounded, or mute the "
                    + "observer.")
        }
        self.init(limit: count, keepsOldest: keepsOldest && count < .max)
    }
}

extension BufferingPolicy: CustomStringConvertible {
    /// The policy in words.
    public var description: String {
        limit == .max ? "unbounded" : "\(keepsOldest ? "oldest" : "newest") \(limit)"
    }
}
