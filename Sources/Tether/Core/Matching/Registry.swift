internal import Foundation
internal import Synchronization

/// The observers of one center, by name and sender: a value that is driven under the center's lock; tests need none.
///
/// Mutations append what they unlink to `unlinked`, for the center to retire; nothing of the user's is called here
/// but `==` and `hash(into:)` of value senders and keys.
///
/// SAFETY: a node has each bucket of `buckets` until it is discarded.
@safe struct Registry {
    private(set) var names: [Notification.Name: NameNode] = [:]
    let anyName = NameNode(name: nil)
    private(set) var keyed: [ObserverKey: Registration] = [:]
    private(set) var cache = NameCache(capacity: NameCache.smallestCapacity)
    /// The buckets by their numbers, which registrations have in place of references, because they are half as long.
    private var buckets = unsafe NumberedTable<Unmanaged<Bucket>>()
    /// The buckets of each sender, for its end.
    private var senders: [SenderKey: UnorderedList<Bucket>] = [:]
    private var lastID: UInt64 = 0
    private(set) var count = 0
    /// How many names have observers.
    private var observedNames = 0
    /// Objects that mutations have unlinked, and posts under way may still read.
    private(set) var unlinked: Unlinked = []

    /// The slots that a post reaches: at most one each for (name, sender), (name, any), (any, sender), (any, any).
    struct Matches: Sendable {
        /// SAFETY: the center keeps `slots` until no post that may see them is under way.
        @safe struct Entry: @unchecked Sendable {
            let slots: Unmanaged<BucketSlots>
            let used: Int

            init(_ slots: Unmanaged<BucketSlots>) {
                unsafe self.slots = unsafe slots
                used = unsafe slots._withUnsafeGuaranteedRef { $0.used.load(ordering: .sequentiallyConsistent) }
            }
        }

        private(set) var entries: (Entry?, Entry?, Entry?, Entry?) = (nil, nil, nil, nil)
        private(set) var count = 0
        /// The moment at which the post began, if it is traced; who calls then ends that, too.
        private(set) var begun: UInt64 = 0

        /// Has the post traced, and called as one that reaches several, which looks whether it is.
        mutating func trace(from moment: UInt64) {
            if count == 0 { return TraceEvent.end(moment) }
            (begun, count) = (moment, max(count, 2))
        }

        fileprivate mutating func add(_ bucket: Bucket?) {
            guard let bucket, bucket.count > 0 else { return }
            // SAFETY: the center keeps slots until no post that may see them is under way.
            let entry = unsafe Entry(.passUnretained(bucket.slots))
            switch count {
            case 0: entries.0 = entry
            case 1: entries.1 = entry
            case 2: entries.2 = entry
            default: entries.3 = entry
            }
            count += 1
        }
    }

    typealias Unlinked = [any AnyObject & Sendable]

    // MARK: Posting

    /// The slots that a post reaches. Complexity: O(1). `sender` is asked for only if someone observes a sender.
    func matches(name: Notification.Name, node known: NameNode?, sender: () -> SenderKey?) -> Matches {
        var matches = Matches()
        let node = known ?? names[name]
        let hasSenders = node?.senders.isEmpty == false || !anyName.senders.isEmpty
        if hasSenders, let sender = sender() {
            matches.add(node?.senders[sender])
            matches.add(anyName.senders[sender])
        }
        matches.add(node?.anySender)
        matches.add(anyName.anySender)
        return matches
    }

    // MARK: Adding and removing

    /// Adds a registration, and takes out the one with the same key. Complexity: O(1) amortised.
    mutating func add(_ registration: Registration, name: Notification.Name?, sender: SenderKey?) -> Registration? {
        var replaced: Registration?
        if let key = registration.details?.key {
            // The dictionary's key is always the live registration's own, so that no other outlives its owner here.
            replaced = keyed.removeValue(forKey: key)
            keyed[key] = registration
        }
        // SAFETY: the bucket's own reference.
        unsafe addNew(.passRetained(registration), name: name, sender: sender)
        return replaced
    }

    /// Adds a registration without a look at its details; takes the caller's reference over.
    mutating func addNew(_ registration: Unmanaged<Registration>, name: Notification.Name?, sender: SenderKey?) {
        lastID += 1
        // SAFETY: the registry has the bucket, and that the registration, by the caller's reference.
        let outgrown = unsafe bucket(name: name, sender: sender)._withUnsafeGuaranteedRef { bucket in
            if bucket.number == .max { bucket.number = unsafe buckets.insert(.passUnretained(bucket)) }
            unsafe registration._withUnsafeGuaranteedRef {
                $0.id = lastID
                $0.bucket = bucket.number
            }
            return unsafe bucket.append(registration)
        }
        if let outgrown { unlinked.append(outgrown) }
        count += 1
    }

    /// Takes a registration out, if it is in. Complexity: O(1) amortised.
    ///
    /// The caller keeps the registration that this returns for posts that may see it. The bucket is not held: the registry
    /// has it, unless it is among what this leaves in `unlinked`.
    mutating func remove(_ registration: Registration) -> (kept: Registration, bucket: Unmanaged<Bucket>)? {
        guard let bucket = unsafe bucket(of: registration) else { return nil }
        registration.bucket = Registration.inNoBucket
        if let key = registration.details?.key, keyed[key] === registration { keyed[key] = nil }
        // SAFETY: the registry has the bucket while a registration is in it.
        let (kept, outgrown, isEmpty) = unsafe bucket._withUnsafeGuaranteedRef {
            let (kept, outgrown) = $0.remove(registration)
            return (kept, outgrown, $0.count == 0)
        }
        if let outgrown { unlinked.append(outgrown) }
        if isEmpty {
            unsafe discard(bucket.takeUnretainedValue())
            fitCache()
        }
        count -= 1
        return unsafe (kept, bucket)
    }

    /// Where a registration is, not retained: the registry has it.
    func bucket(of registration: Registration) -> Unmanaged<Bucket>? {
        registration.bucket < Registration.neverInABucket ? unsafe buckets[registration.bucket] : nil
    }

    /// Where a registration goes, not retained: the registry has it.
    private mutating func bucket(name: Notification.Name?, sender: SenderKey?) -> Unmanaged<Bucket> {
        let node = unsafe name.map { unsafe cachedNode($0, willBeObserved: true)! } ?? .passUnretained(anyName)
        // SAFETY: the registry has the node, and that its bucket for any sender.
        return unsafe node._withUnsafeGuaranteedRef { node in
            if name != nil, !node.isObserved { observedNames += 1 }
            guard let sender else { return unsafe node.makeAnySender() }
            if let known = node.senders[sender] { return unsafe .passUnretained(known) }
            let bucket = Bucket(node: node, sender: sender)
            node.setBucket(bucket, of: sender)
            senders[sender, default: UnorderedList()].append(bucket)
            return unsafe .passUnretained(bucket)
        }
    }

    private mutating func discard(_ bucket: Bucket) {
        let node = unsafe bucket.node.takeUnretainedValue()
        if let sender = bucket.sender {
            unsafe buckets.remove(bucket.number)
            unlinked.append(bucket)
            node.setBucket(nil, of: sender)
            if let index = senders.index(forKey: sender) {
                senders.values[index].remove(bucket)
                if senders.values[index].isEmpty { unlinked.append(KeptKey(key: senders.remove(at: index).key)) }
            }
        } else {
            node.unpublish()
        }
        if node.name != nil, !node.isObserved { observedNames -= 1 }
        discardIfUnused(node)
    }

    /// A sender's key on its way out: what a value sender holds is not released under a lock (R6).
    ///
    /// SAFETY: only released.
    private final class KeptKey: @unchecked Sendable {
        let key: SenderKey

        init(key: SenderKey) {
            self.key = key
        }
    }

    // MARK: Names

    /// Makes the node of a name that has none. Complexity: O(1).
    private mutating func makeNode(_ name: Notification.Name) -> NameNode {
        let made = NameNode(name: name)
        names[name] = made
        return made
    }

    /// The node of a name that is posted or is going to be observed, from the cache or put into it; `nil` for a name
    /// without observers that is not worth remembering, and for one that may not take another's place and would have to.
    /// Not retained: the registry has it. Complexity: O(1) amortised.
    mutating func cachedNode(
        _ name: Notification.Name, willBeObserved: Bool, mayDisplace: Bool = true
    ) -> Unmanaged<NameNode>? {
        let bits = StringBits(name.rawValue)
        // SAFETY: the cache keeps what it knows, and is only changed under the lock that the caller has.
        if let known = unsafe cache.find(bits) {
            return unsafe known._withUnsafeGuaranteedRef { unsafe $0.node }
        }
        let known = names[name]
        let isObserved = willBeObserved || known?.isObserved == true
        guard cache.isWorthwhile(bits, hasObservers: isObserved), mayDisplace || cache.freeSlot(for: bits) != nil else {
            return nil
        }
        let node = known ?? makeNode(name)
        node.cachings += 1
        fitCache(isCrowded: isObserved && cache.isCrowded(for: bits))
        if let old = cache.insert(CachedName(name: name, node: node)) { forget(old) }
        return unsafe .passUnretained(node)
    }

    private mutating func forget(_ cached: CachedName) {
        unlinked.append(cached)
        let node = unsafe cached.node.takeUnretainedValue()
        node.cachings -= 1
        discardIfUnused(node)
    }

    /// Keeps the cache at two to 32 times as many slots as names have observers: more than twice as many where those would
    /// drive each other out. One that has just grown shrinks when half of the names are gone, and no sooner.
    @inline(__always)
    private mutating func fitCache(isCrowded: Bool = false) {
        if observedNames > cache.capacity / 2 || (isCrowded && observedNames >= cache.capacity / 4) {
            replaceCache(capacity: cache.capacity * 4)
        } else if cache.capacity > NameCache.smallestCapacity, observedNames < cache.capacity / 32 {
            replaceCache(capacity: cache.capacity / 4)
        }
    }

    @inline(never)
    private mutating func replaceCache(capacity: Int) {
        let old = cache
        cache = NameCache(capacity: capacity)
        unlinked.append(old)
        for cached in old.all { forget(cached) }
    }

    mutating func discardIfUnused(_ node: NameNode) {
        guard node.isUnused, let name = node.name else { return }
        names[name] = nil
        if let bucket = node.anySender { unsafe buckets.remove(bucket.number) }
        unlinked.append(node)
    }

    // MARK: Looking

    /// The live registrations that match what is given, in registration order.
    ///
    /// Complexity: O(1) to find a name or a sender or both, then O(found log found).
    func registrations(named name: Notification.Name? = nil, from sender: SenderKey? = nil) -> [Registration] {
        let buckets: [Bucket] =
            if let name, let sender {
                (names[name]?.senders[sender]).map { [$0] } ?? []
            } else if let sender {
                senders[sender]?.elements ?? []
            } else if let name {
                names[name]?.buckets ?? []
            } else {
                names.values.flatMap(\.buckets) + anyName.buckets
            }
        return buckets.flatMap(\.registrations).sorted { $0.id < $1.id }
    }

    /// Whether no sender, key or registration is kept, and no name but the few of the smallest cache (M9).
    var isEmpty: Bool {
        count == 0 && senders.isEmpty && keyed.isEmpty && anyName.isUnused
            && names.count <= NameCache.smallestCapacity
            && names.values.allSatisfy { !$0.isObserved }
    }

    /// Forgets the cache, and with it every name that nobody observes.
    mutating func forgetCache() { replaceCache(capacity: NameCache.smallestCapacity) }

    /// Hands over what mutations have unlinked.
    mutating func takeUnlinked() -> Unlinked {
        let taken = unlinked
        unlinked = []
        return taken
    }
}
