internal import Foundation
internal import Synchronization

/// The observers of one center, by name and sender: a value under the center's lock. Tests need no
/// lock.
///
///     Registry
///       names: a table of NameNodes, one for each name that is observed (or cached without observers)
///         NameNode  -> Bucket of (name, any sender), and a Bucket for each sender
///           Bucket    -> slots with the registrations, in registration order
///       anyName: the node of observers of any name
///       cache: strings to nodes, for posts that take no lock; made by the first post
///       senders: the buckets of each sender, for its end
///       keyed: the registrations that have a key
///
/// Lock-free posts find a node in the cache, and the slots of the bucket for any sender in the
/// node. So removed nodes, cache entries and slots are not released at once. A mutation appends
/// removed objects to `unlinked`. The center *retires* the objects: releases them after the end of
/// all posts that began before.
///
/// The registry calls no user code but `==` and `hash(into:)` of value senders and keys. Adding is
/// O(1) amortised, and removing O(log n) for n observers of the name and sender. The table of names
/// grows and shrinks by one chain at a time, so no call moves all names.
///
/// SAFETY: the registry retains its nodes, and a node retains each of its buckets with
/// registrations.
@safe struct Registry {
    private var names = HashChains<NameNode>()
    let anyName = NameNode(name: nil, hash: 0)
    private(set) var keyed: [ObserverKey: Registration] = [:]
    private(set) var cache: NameCache?
    private var senders: [SenderKey: [ObjectIdentifier: Bucket]] = [:]
    private var lastID: UInt64 = 0
    private(set) var count = 0
    /// Objects removed by mutations, perhaps still read by posts under way.
    private(set) var unlinked: Unlinked = []

    typealias Unlinked = [any AnyObject & Sendable]

    /// The number of names, including cached names without observers. For tests.
    var nameCount: Int { names.count }

    // MARK: Posting

    /// The slots matched by a post. `sender` is only called if a sender is observed. Without
    /// `admitsEighthMiss`, only an observed name without an entry gets one, in a free place of the
    /// cache.
    mutating func matches(
        name: Notification.Name, admitsEighthMiss: Bool = true, sender: () -> SenderKey?
    ) -> MatchedBuckets {
        // A center of one document may have no post in its life, so its memory stays small.
        if cache == nil {
            cache = NameCache()
        }
        var matches = MatchedBuckets()
        // SAFETY: the registry retains the node.
        let node = unsafe nodeToPost(name, admitsEighthMiss: admitsEighthMiss)?
            .takeUnretainedValue()
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

    /// Adds a registration, which takes over its key. Returns the registration that had the key;
    /// the caller ends it.
    mutating func add(_ registration: Registration, name: Notification.Name?, sender: SenderKey?)
        -> Registration?
    {
        var replaced: Registration?
        if let key = registration.details?.key {
            // The dictionary's key is always the live registration's key, so no other key outlives
            // its owner here.
            replaced = keyed.removeValue(forKey: key)
            keyed[key] = registration
        }
        // SAFETY: the bucket takes over the retained reference.
        unsafe addNew(.passRetained(registration), name: name, sender: sender)
        return replaced
    }

    /// Adds a registration without a look at its details; takes over the caller's reference.
    mutating func addNew(
        _ registration: Unmanaged<Registration>, name: Notification.Name?, sender: SenderKey?
    ) {
        lastID += 1
        unsafe registration._withUnsafeGuaranteedRef { $0.id = lastID }
        // SAFETY: the registry retains the bucket, and the caller's reference the registration.
        let outgrown = unsafe bucket(name: name, sender: sender)._withUnsafeGuaranteedRef {
            unsafe $0.append(registration)
        }
        if let outgrown { unlinked.append(outgrown) }
        count += 1
    }

    /// Removes a registration, if the registry has it. The caller keeps the returned registration
    /// for posts that may see it. The returned bucket is not retained: the registry or `unlinked`
    /// retains the bucket.
    mutating func remove(_ registration: Registration) -> (
        removed: Registration, bucket: Unmanaged<Bucket>
    )? {
        guard let bucket = unsafe registration.bucket else { return nil }
        if let key = registration.details?.key, keyed[key] === registration {
            keyed[key] = nil
            keyed.releaseUnusedCapacity()
        }
        // SAFETY: a node retains a bucket with registrations.
        let (removed, outgrown, isEmpty) = unsafe bucket._withUnsafeGuaranteedRef {
            let (removed, outgrown) = $0.remove(registration)
            return (removed, outgrown, $0.count == 0)
        }
        if let outgrown { unlinked.append(outgrown) }
        if isEmpty { unsafe discard(bucket.takeUnretainedValue()) }
        count -= 1
        return unsafe (removed, bucket)
    }

    /// The bucket for a registration, not retained: the registry retains the bucket.
    private mutating func bucket(name: Notification.Name?, sender: SenderKey?) -> Unmanaged<Bucket>
    {
        // SAFETY: the registry retains both nodes.
        let node =
            unsafe name.map { unsafe nodeToObserve($0) }
            ?? Unmanaged.passUnretained(anyName)
        // SAFETY: the registry retains the node, and the node its bucket for any sender.
        return unsafe node._withUnsafeGuaranteedRef { node in
            guard let sender else { return unsafe node.makeAnySender() }
            if let known = node.senders[sender] { return unsafe .passUnretained(known) }
            let bucket = Bucket(node: node, sender: sender)
            node.setBucket(bucket, of: sender)
            senders[sender, default: [:]][ObjectIdentifier(bucket)] = bucket
            return unsafe .passUnretained(bucket)
        }
    }

    /// Removes a bucket without registrations; one for any sender stays, hidden from posts. Removes
    /// its node, too, if the node has no other bucket with registrations.
    private mutating func discard(_ bucket: Bucket) {
        let node = unsafe bucket.node.takeUnretainedValue()
        if let sender = bucket.sender {
            unlinked.append(bucket)
            node.setBucket(nil, of: sender)
            if let index = senders.index(forKey: sender) {
                senders.values[index][ObjectIdentifier(bucket)] = nil
                senders.values[index].releaseUnusedCapacity()
                if senders.values[index].isEmpty {
                    unlinked.append(KeptKey(key: senders.remove(at: index).key))
                    senders.releaseUnusedCapacity()
                }
            }
        } else {
            node.unpublish()
        }
        if !node.isObserved { discard(node) }
    }

    /// A removed key of a sender: a value sender must not be released under a lock (R6).
    /// SAFETY: the key is only released.
    private final class KeptKey: @unchecked Sendable {
        let key: SenderKey

        init(key: SenderKey) { self.key = key }
    }

    // MARK: Names

    /// The node of a name that gets an observer, not retained: the registry retains the node.
    /// Complexity: O(1) amortised.
    private mutating func nodeToObserve(_ name: Notification.Name) -> Unmanaged<NameNode> {
        let bits = StringBits(name.rawValue)
        if let cached = unsafe cachedNode(of: bits) { return unsafe cached }
        let hash = UInt(bitPattern: name.rawValue.hashValue)
        guard let known = unsafe names.find(hash, where: { $0.name == name }) else {
            return unsafe names.insert(NameNode(name: name, hash: hash))
        }
        if unsafe admitsOrCountsMiss(bits, of: known, admitsEighthMiss: true) {
            unsafe insertIntoCache(CachedName(name: name, node: known.takeUnretainedValue()))
        }
        return unsafe known
    }

    /// The node of a posted name, not retained; `nil` for a name without observers that the cache
    /// does not admit. Complexity: O(1) amortised.
    private mutating func nodeToPost(
        _ name: Notification.Name, admitsEighthMiss: Bool
    ) -> Unmanaged<NameNode>? {
        let bits = StringBits(name.rawValue)
        if let cached = unsafe cachedNode(of: bits) { return unsafe cached }
        let hash = UInt(bitPattern: name.rawValue.hashValue)
        let known = unsafe names.find(hash) { $0.name == name }
        guard unsafe admitsOrCountsMiss(bits, of: known, admitsEighthMiss: admitsEighthMiss) else {
            return unsafe known
        }
        let node = unsafe known ?? names.insert(NameNode(name: name, hash: hash))
        unsafe insertIntoCache(CachedName(name: name, node: node.takeUnretainedValue()))
        return unsafe node
    }

    private func cachedNode(of bits: StringBits) -> Unmanaged<NameNode>? {
        // SAFETY: the cache only changes under the lock that the caller has; `names` retains the
        // nodes of its entries.
        unsafe cache?.find(bits)?._withUnsafeGuaranteedRef { unsafe $0.node }
    }

    /// Whether a string that the cache does not have gets an entry there: at once, if its name is
    /// observed, has no entry, and a place is free; otherwise at every eighth miss.
    private func admitsOrCountsMiss(
        _ bits: StringBits, of known: Unmanaged<NameNode>?, admitsEighthMiss: Bool
    ) -> Bool {
        guard let cache else { return false }
        // SAFETY: the registry retains the node.
        let hasPlace = unsafe known?._withUnsafeGuaranteedRef {
            $0.isObserved && $0.cached.isEmpty && cache.hasPlace(for: bits)
        }
        if hasPlace == true { return true }
        let isEighthMiss = cache.countMiss()
        return isEighthMiss && admitsEighthMiss
    }

    private mutating func insertIntoCache(_ cached: CachedName) {
        let node = unsafe cached.node.takeUnretainedValue()
        node.cached.append(cached)
        if let displaced = cache?.insert(cached) { forget(displaced) }
        if node.cached.count > NameNode.mostCached {
            let oldest = node.cached[0]
            cache?.remove(oldest)
            forget(oldest)
        }
    }

    /// Unlinks an entry removed from the cache, and its node if the node has neither entries nor
    /// observers.
    private mutating func forget(_ cached: CachedName) {
        let node = unsafe cached.node.takeUnretainedValue()
        node.cached.removeAll { $0 === cached }
        unlinked.append(cached)
        if !node.isObserved, node.cached.isEmpty { discard(node) }
    }

    /// Unlinks a node without observers, with its entries in the cache.
    private mutating func discard(_ node: NameNode) {
        for cached in node.cached { cache?.remove(cached) }
        // The node retains its entries, and its bucket for any sender.
        if let removed = names.remove(node) { unlinked.append(removed) }
    }

    // MARK: Queries

    /// The added registrations of a name, a sender, both or neither, in registration order.
    func registrations(named name: Notification.Name? = nil, from sender: SenderKey? = nil)
        -> [Registration]
    {
        buckets(named: name, from: sender).flatMap(\.registrations).sorted { $0.id < $1.id }
    }

    private func buckets(named name: Notification.Name?, from sender: SenderKey?) -> [Bucket] {
        if let name {
            guard let node = find(name) else { return [] }
            guard let sender else { return node.buckets }
            guard let bucket = node.senders[sender] else { return [] }
            return [bucket]
        }
        if let sender {
            guard let buckets = senders[sender] else { return [] }
            return Array(buckets.values)
        }
        return names.elements.flatMap(\.buckets) + anyName.buckets
    }

    func hasObservers(of name: Notification.Name, from sender: SenderKey?) -> Bool {
        anyName.isObserved(from: sender) || find(name)?.isObserved(from: sender) == true
    }

    private func find(_ name: Notification.Name) -> NameNode? {
        unsafe names.find(UInt(bitPattern: name.rawValue.hashValue)) { $0.name == name }?
            .takeUnretainedValue()
    }

    /// Whether the registry has no sender, key or registration, and no name except cached names
    /// without observers (M9).
    var isEmpty: Bool {
        count == 0 && senders.isEmpty && keyed.isEmpty && !anyName.isObserved
            && names.count <= NameCache.capacity
            && names.elements.allSatisfy { !$0.isObserved && !$0.cached.isEmpty }
    }

    mutating func takeUnlinked() -> Unlinked {
        let taken = unlinked
        unlinked = []
        return taken
    }
}
