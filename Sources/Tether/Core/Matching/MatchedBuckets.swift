// Several buckets that one post has matched: at most one each for (name, sender), (name, any),
// (any, sender), (any, any). Nearly all posts match one bucket, and use nothing of this file. With
// an observer of any name, such as a logger, a post matches two, and finds both without a lock.

/// One or two buckets, and the last registration that a post of both calls.
///
/// A post without the lock reads the two buckets one after the other. Registrations that were added
/// meanwhile have ids above `last`, and are left out. So the post calls an observer only if it also
/// finds each observer that was added earlier.
struct MatchedPair: Sendable {
    private let first: MatchedBucket
    private let second: MatchedBucket?
    private let last: UInt64

    init(_ first: MatchedBucket, _ second: MatchedBucket?, upTo last: UInt64 = .max) {
        self.first = first
        self.second = second
        self.last = last
    }

    var hasRouted: Bool { first.hasRouted || second?.hasRouted == true }

    /// Calls `body` with the registrations of both buckets, merged by id, not retained. In that
    /// order the first id above `last` is the end.
    @inline(__always)
    func forEachRegistration(_ body: (Unmanaged<Registration>) -> Void) {
        var one = MatchCursor(first)
        var other = MatchCursor(second)
        while true {
            if one.id < other.id {
                guard one.id <= last, let head = unsafe one.head else { return }
                one.advance()
                unsafe body(head)
            } else {
                guard other.id <= last, let head = unsafe other.head else { return }
                other.advance()
                unsafe body(head)
            }
        }
    }
}

/// Up to four buckets, found under the center's lock.
struct MatchedBuckets: Sendable {
    private(set) var entries: (MatchedBucket?, MatchedBucket?, MatchedBucket?, MatchedBucket?) =
        (nil, nil, nil, nil)
    private(set) var count = 0

    mutating func add(_ bucket: Bucket?) {
        guard let bucket, bucket.count > 0 else { return }
        // SAFETY: the center keeps slots until the end of all posts that may see the slots.
        let entry = unsafe MatchedBucket(.passUnretained(bucket.slots))
        switch count {
        case 0: entries.0 = entry
        case 1: entries.1 = entry
        case 2: entries.2 = entry
        default: entries.3 = entry
        }
        count += 1
    }

    /// Calls `body` with the registrations of all buckets, merged by id, not retained.
    func forEachRegistration(_ body: (Unmanaged<Registration>) -> Void) {
        let (a, b, c, d) = entries
        var cursors = [a, b, c, d].compactMap { $0 }.map { MatchCursor($0) }
        while let next = cursors.indices.min(by: { cursors[$0].id < cursors[$1].id }),
            let registration = unsafe cursors[next].head
        {
            cursors[next].advance()
            unsafe body(registration)
        }
    }
}

/// A position in the slots of one bucket.
/// SAFETY: the cursor lives no longer than the post, and slots and the memory of registrations
/// outlive the post.
@safe private struct MatchCursor {
    private let bucket: MatchedBucket?
    private var index = 0
    /// The registration at the position; `nil` at the end.
    private(set) var head: Unmanaged<Registration>?
    /// The id of `head`; `UInt64.max` at the end.
    private(set) var id = UInt64.max

    @inline(__always)
    init(_ bucket: MatchedBucket?) {
        self.bucket = bucket
        advance()
    }

    @inline(__always)
    mutating func advance() {
        unsafe head = nil
        id = .max
        guard let bucket else { return }
        while index < bucket.used {
            // SAFETY: the slots outlive the post.
            let found = unsafe bucket.slots._withUnsafeGuaranteedRef {
                unsafe $0.registration(at: index)
            }
            index += 1
            guard let found = unsafe found else { continue }
            unsafe head = unsafe found
            id = unsafe found._withUnsafeGuaranteedRef { $0.id }
            return
        }
    }
}
