internal import Foundation
internal import Synchronization

/// What a post reads of a center without the lock, and the match that it makes of it.
///
/// A post matches here if its name is in the cache, and no sender of the name or of any name is
/// observed: one bucket, or, with observers of any name, a pair. All writes are made under the
/// center's lock. Tests/Tools/Litmus has the protocols: `Publication`, `KeyedReplacement`,
/// `Unlinking`.
///
/// SAFETY: the registry retains the node of any name, and the cache, as long as the core lives.
@safe struct QuickMatching: ~Copyable, Sendable {
    /// Odd during the replacement of a keyed registration, which is one step for posts (M7).
    let replacements = Atomic<UInt>(0)
    /// The id of the last added registration, for posts that read two buckets. Written after the
    /// registration's bucket.
    let lastAdded = Atomic<UInt64>(0)
    /// The names' cache for posts; 0 before the first post, and during a trace. The registry
    /// retains the cache.
    let cache = Atomic<UInt>(0)
    /// The node of observers of any name. The registry retains the node.
    private let anyName: Unmanaged<NameNode>

    init(anyName: NameNode) { unsafe self.anyName = .passUnretained(anyName) }

    // MARK: Publishing, under the lock

    /// Lets posts that read two buckets find a registration, which is in its bucket.
    func publishAdded(_ registration: Registration) {
        lastAdded.store(registration.id, ordering: .releasing)
    }

    /// Called before and after the replacement of a keyed registration.
    func countReplacement() { replacements.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    /// Makes the registry's cache, if there is one, visible to posts; during a trace hides it, so
    /// that no post takes the untraced path.
    func publishOrHideCache(of registry: borrowing Registry) {
        guard let made = registry.cache else { return }
        // SAFETY: the registry retains the cache as long as the core lives.
        let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(made).toOpaque())
        cache.store(Events.areTraced ? 0 : address, ordering: .sequentiallyConsistent)
    }

    // MARK: Matching

    @safe enum Match {
        case nothing
        case one(MatchedBucket, Unmanaged<CachedName>)
        case pair(MatchedPair, Unmanaged<CachedName>)
        case unknown
    }

    /// Matches a cached name without the lock, if no sender of the name or of any name is observed.
    ///
    /// Nearly always no observer of any name exists, and the name's bucket is all. Observers of any
    /// name and of senders are looked for after the bucket was read: a post that calls an observer
    /// finds each observer that was added earlier.
    @inline(__always)
    func match(_ name: Notification.Name) -> Match {
        let replacement = replacements.load(ordering: .acquiring)
        guard replacement & 1 == 0, let cached = unsafe findCached(name) else { return .unknown }
        // SAFETY: nodes and slots outlive every post that may see them; see `Reclamation`.
        return unsafe cached._withUnsafeGuaranteedRef { entry in
            unsafe entry.node._withUnsafeGuaranteedRef { node in
                let bucket = node.publishedBucket
                let (hasOthers, hasSenders) = unsafe anyName._withUnsafeGuaranteedRef {
                    ($0.hasPublishedBucket, $0.hasObservedSenders)
                }
                if hasSenders || node.hasObservedSenders { return .unknown }
                if hasOthers {
                    guard let pair = pairOfMatches(node) else { return .unknown }
                    return replacements.load(ordering: .acquiring) == replacement
                        ? unsafe .pair(pair, cached) : .unknown
                }
                // Without a bucket `replacements` is not read again: a post under way may call
                // neither of the two registrations of a replacement (M7).
                guard let bucket else { return .nothing }
                return replacements.load(ordering: .acquiring) == replacement
                    ? unsafe .one(bucket, cached) : .unknown
            }
        }
    }

    @inline(__always)
    private func findCached(_ name: Notification.Name) -> Unmanaged<CachedName>? {
        // SAFETY: the cache outlives every post that may see it.
        guard
            let cache = unsafe UnsafeRawPointer(
                bitPattern: cache.load(ordering: .sequentiallyConsistent))
        else {
            return nil
        }
        return unsafe Unmanaged<NameCache>.fromOpaque(cache)._withUnsafeGuaranteedRef {
            unsafe $0.find(StringBits(name.rawValue))
        }
    }

    /// The buckets of a name and of any name, with the registrations of one moment. `nil` without a
    /// match, or if a sender is observed.
    @inline(__always)
    private func pairOfMatches(_ node: NameNode) -> MatchedPair? {
        // First: later registrations of either bucket have later ids.
        let last = lastAdded.load(ordering: .acquiring)
        let named = node.publishedBucket
        // SAFETY: the registry retains the node.
        let (others, hasSenders) = unsafe anyName._withUnsafeGuaranteedRef {
            ($0.publishedBucket, $0.hasObservedSenders)
        }
        guard !hasSenders, !node.hasObservedSenders, let first = named ?? others else {
            return nil
        }
        return MatchedPair(first, named == nil ? nil : others, upTo: last)
    }
}
