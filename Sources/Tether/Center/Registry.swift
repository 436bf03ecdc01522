internal import Foundation

/// Who observes what in one center: a value that is driven under the center's lock, and by tests without one.
///
/// A mutation returns what must be released when no post may see it any more; nothing of the user's is called here
/// but `==` and `hash(into:)` of value senders and keys.
struct Registry {
    private(set) var names: [Notification.Name: NameNode] = [:]
    private(set) var anyName = NameNode(name: nil)
    private(set) var keyed: [ObserverKey: Registration] = [:]
    /// The buckets of each sender, for its end.
    private var senders: [SenderKey: [Bucket]] = [:]
    private var lastID: UInt64 = 0
    private(set) var count = 0

    /// The slots that a post reaches: at most one each for (name, sender), (name, any), (any, sender), (any, any).
    struct Matches: Sendable {
        /// SAFETY: the center keeps `slots` until no post that may see them is under way.
        @safe struct Entry: @unchecked Sendable {
            let slots: Unmanaged<BucketSlots>
            let used: Int
        }

        private(set) var entries: (Entry?, Entry?, Entry?, Entry?) = (nil, nil, nil, nil)
        private(set) var count = 0

        fileprivate mutating func add(_ bucket: Bucket?) {
            guard let bucket, bucket.count > 0 else { return }
            // SAFETY: the center keeps slots until no post that may see them is under way.
            let entry = unsafe Entry(slots: .passUnretained(bucket.slots), used: bucket.used)
            switch count {
            case 0: entries.0 = entry
            case 1: entries.1 = entry
            case 2: entries.2 = entry
            default: entries.3 = entry
            }
            count += 1
        }
    }

    /// What a mutation leaves for posts under way, to be released after them.
    typealias Leftovers = [any AnyObject & Sendable]

    // MARK: Posting

    /// What a post reaches. Complexity: O(1). `sender` is asked for only if someone observes a sender.
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
    mutating func add(
        _ registration: Registration, name: Notification.Name?, sender: SenderKey?
    ) -> (replaced: Registration?, leftovers: Leftovers) {
        var leftovers: Leftovers = []
        var replaced: Registration?
        if let key = registration.details.key {
            // The dictionary's key is always the live registration's own, so that no other outlives its owner here.
            replaced = keyed.removeValue(forKey: key)
            keyed[key] = registration
        }
        lastID += 1
        registration.id = lastID
        let bucket = bucket(name: name, sender: sender)
        registration.bucket = bucket
        if let outgrown = bucket.append(registration) { leftovers.append(outgrown) }
        count += 1
        return (replaced, leftovers)
    }

    /// Takes a registration out, if it is in. Complexity: O(1) amortised.
    mutating func remove(_ registration: Registration) -> Leftovers {
        guard let bucket = registration.bucket else { return [] }
        registration.bucket = nil
        var leftovers: Leftovers = [registration]
        if let key = registration.details.key, keyed[key] === registration { keyed[key] = nil }
        if let outgrown = bucket.remove(registration) { leftovers.append(outgrown) }
        if bucket.count == 0 {
            leftovers += discard(bucket)
        }
        count -= 1
        return leftovers
    }

    private mutating func bucket(name: Notification.Name?, sender: SenderKey?) -> Bucket {
        let node = node(name)
        guard let sender else {
            let bucket = node.anySender ?? Bucket(node: node, sender: nil)
            node.anySender = bucket
            return bucket
        }
        if let known = node.senders[sender] { return known }
        let bucket = Bucket(node: node, sender: sender)
        node.senders[sender] = bucket
        senders[sender, default: []].append(bucket)
        return bucket
    }

    private mutating func discard(_ bucket: Bucket) -> Leftovers {
        var leftovers: Leftovers = [bucket]
        let node = bucket.node
        if let sender = bucket.sender {
            node.senders[sender] = nil
            senders[sender]?.removeAll { $0 === bucket }
            if let index = senders.index(forKey: sender), senders[index].value.isEmpty {
                leftovers.append(KeptKey(key: senders.remove(at: index).key))
            }
        } else {
            node.anySender = nil
        }
        discardIfUnused(node)
        return leftovers
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

    /// The node of a name, made if need be. Complexity: O(1).
    mutating func node(_ name: Notification.Name?) -> NameNode {
        guard let name else { return anyName }
        if let known = names[name] { return known }
        let made = NameNode(name: name)
        names[name] = made
        return made
    }

    mutating func discardIfUnused(_ node: NameNode) {
        if node.isUnused, let name = node.name { names[name] = nil }
    }

    // MARK: Looking

    /// The live registrations that match what is given, in registration order.
    ///
    /// Complexity: O(1) to find a name or a sender, then O(found log found).
    func registrations(named name: Notification.Name? = nil, from sender: SenderKey? = nil) -> [Registration] {
        let buckets: [Bucket] =
            if let sender {
                (senders[sender] ?? []).filter { name == nil || $0.node.name == name }
            } else if let name {
                names[name]?.buckets ?? []
            } else {
                names.values.flatMap(\.buckets) + anyName.buckets
            }
        return buckets.flatMap(\.registrations).sorted { $0.id < $1.id }
    }

    /// Whether no name, sender, key or registration is kept (M9).
    var isEmpty: Bool {
        count == 0 && names.isEmpty && senders.isEmpty && keyed.isEmpty && anyName.isUnused
    }
}
