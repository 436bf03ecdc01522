/// A bound on the notifications that wait for an observer or in an async sequence.
///
/// ```swift
/// token.backlog = .newest(1)    // only the newest position matters
/// let notes = center.notifications(named: nil, buffering: .newest(100))
/// for await note in notes { … }
/// ```
///
/// An observer's policy bounds the pending deliveries, a sequence's policy the elements that no
/// loop has taken. The audit counts the dropped notifications. The notification of a running
/// handler does not count. On `.postingThread` no delivery is ever pending, so the policy has no
/// effect.
///
/// Foundation's `bufferSize` is `.newest(size)`. A number of less than 1 stops the program with a
/// sentence.
public struct BufferingPolicy: Sendable, Hashable, CustomStringConvertible {
    let limit: Int
    /// Whether a post beyond the limit drops its own notification, and not the oldest.
    let keepsOldest: Bool

    /// No bound. The default.
    public static let unbounded = newest(.max)

    /// Keeps the newest `count`, 1 or more: a post to a full buffer drops the oldest.
    public static func newest(_ count: Int, fileID: StaticString = #fileID, line: UInt = #line)
        -> BufferingPolicy
    {
        BufferingPolicy(count, keepsOldest: false, at: CallSite(fileID, line))
    }

    /// Keeps the oldest `count`, 1 or more: a post to a full buffer is dropped.
    public static func oldest(_ count: Int, fileID: StaticString = #fileID, line: UInt = #line)
        -> BufferingPolicy
    {
        BufferingPolicy(count, keepsOldest: true, at: CallSite(fileID, line))
    }

    private init(_ count: Int, keepsOldest: Bool, at site: CallSite) {
        guard count > 0 else {
            site.refuse(
                "a buffer of \(count) keeps nothing; pass 1 or more, or .unbounded, or mute the observer."
            )
        }
        limit = count
        self.keepsOldest = keepsOldest && count < .max
    }

    /// The policy in words.
    public var description: String {
        limit == .max ? "unbounded" : "\(keepsOldest ? "oldest" : "newest") \(limit)"
    }
}
