/// How much an async sequence keeps of what was posted and has not been taken from it yet.
///
/// ```swift
/// for await note in center.notifications(named: .modelDidChange, bufferSize: .newest(1)) { … }
/// ```
///
/// An integer literal is the newest so many, as Foundation's `bufferSize` means it. A size of less than 1 stops the
/// program: such a sequence would deliver nothing but what is awaited already (S3, X1).
public struct BufferSize: Sendable, ExpressibleByIntegerLiteral {
    enum Limit: Sendable, Equatable {
        case unbounded
        case newest(Int)
        case oldest(Int)
    }

    let limit: Limit

    /// All of it.
    public static let unbounded = BufferSize(limit: .unbounded)

    /// The newest `count`: what is posted to a full buffer drops the oldest.
    public static func newest(_ count: Int) -> BufferSize {
        BufferSize(limit: .newest(checked(count, call: "BufferSize.newest(_:)")))
    }

    /// The oldest `count`: what is posted to a full buffer is dropped.
    public static func oldest(_ count: Int) -> BufferSize {
        BufferSize(limit: .oldest(checked(count, call: "BufferSize.oldest(_:)")))
    }

    private init(limit: Limit) {
        self.limit = limit
    }

    /// The newest `value`.
    public init(integerLiteral value: Int) {
        limit = .newest(BufferSize.checked(value, call: "BufferSize(integerLiteral:)"))
    }

    private static func checked(_ count: Int, call: StaticString) -> Int {
        guard count > 0 else {
            // Not covered: ends the process; BufferSizeMisuseTests run it apart.
            fatalError("\(call): a buffer of \(count) keeps nothing that was posted; pass 1 or more, or .unbounded.")
        }
        return count
    }
}
