internal import Foundation
internal import Synchronization

/// The observers of one center, by name and sender: a value that is driven under the center's lock; tests need none.
///
///     Registry
///       names: a table of NameNodes, one for each name that is observed (or cached without observers)
///         NameNode  -> Bucket of (name, any sender), and a Bucket for each sender
///           Bucket    -> slots with the registrations, in registration order
///       anyName: the node of observers of any name
///       cache: strings to nodes, for posts that take no lock
///       senders: the buckets of each sender, for its end
///       keyed: the registrations that have a key
///
/// Posts without the lock come by the cache to a node, and by the node to the slots of its bucket for any sender. So a node,
/// its entries in the cache, and slots are not released when they are removed. A mutation appends them to `unlinked`, and
/// the center *retires* them: it releases them when no post that began before is under way.
///
/// No user code is called here but `==` and `hash(into:)` of value senders and keys. Adding and removing are O(1)
/// amortised. The table of names grows and shrinks by one chain at a time, so no call moves all names.
///
/// SAFETY: a node has each of its buckets while a registration is in it, and the registry each of its nodes.
@safe struct Registry {
    private var names = HashChains<NameNode>()
    let anyName = NameNode(name: nil, hash: 0)
    private(set) var keyed: [ObserverKey: Registration] = [:]
    let cache = NameCache()
    private var senders: [SenderKey: UnorderedList<Bucket>] = [:]
    private var lastID: UInt64 = 0
    private(set) var count = 0
    /// Objects that mutations have removed, and posts under way may still read.
    private(set) var unlinked: Unlinked = []

    typealias Unlinked = [any AnyObject & Sendable]

    /// How many names there are, with those that the cache has without observers.
    var nameCount: Int { names.count }

    // MARK: Posting

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
        /// The moment at which the post began, if it is traced. The caller ends that event, too.
        private(set) var begun: UInt64 = 0

        /// Has the post traced, and called as one that reaches several, which looks whether it is.
        mutating func trace(from moment: UInt64) {
            if count == 0 { return Events.end(moment) }
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

    /// The slots that a post reaches. Complexity: O(1). `sender` is only called if a sender is observed.
    ///
    /// `mayDisplace`: whether the name may be inserted into the cache in another one's place.
    mutating func matches(
        name: Notification.Name, mayDisplace: Bool = true, sender: () -> SenderKey?
    ) -> Matches {
        var matches = Matches()
        // SAFETY: the registry has the node.
        let node = unsafe node(of: name, willBeObserved: false, mayDisplace: mayDisplace)?.takeUnretainedValue()
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

    /// Adds a registration, and removes the one with the same key. Complexity: O(1) amortised.
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
        unsafe registration._withUnsafeGuaranteedRef { $0.id = lastID }
        // SAFETY: the registry has the bucket, and that the registration, by the caller's reference.
        let outgrown = unsafe bucket(name: name, sender: sender)._withUnsafeGuaranteedRef {
            unsafe $0.append(registration)
        }
        if let outgrown { unlinked.append(outgrown) }
        count += 1
    }

    /// Removes a registration, if it is in. Complexity: O(1) amortised.
    ///
    /// The caller keeps the registration that this returns for posts that may see it. The bucket is not held: the registry
    /// has it, or `unlinked`.
    mutating func remove(_ registration: Registration) -> (kept: Registration, bucket: Unmanaged<Bucket>)? {
        guard let bucket = unsafe registration.bucket else { return nil }
        if let key = registration.details?.key, keyed[key] === registration {
            keyed[key] = nil
            keyed.releaseUnusedCapacity()
        }
        // SAFETY: a node has the bucket while a registration is in it.
        let (kept, outgrown, isEmpty) = unsafe bucket._withUnsafeGuaranteedRef {
            let (kept, outgrown) = $0.remove(registration)
            return (kept, outgrown, $0.count == 0)
        }
        if let outgrown { unlinked.append(outgrown) }
        if isEmpty { unsafe discard(bucket.takeUnretainedValue()) }
        count -= 1
        return unsafe (kept, bucket)
    }

    /// The bucket for a registration, not retained: the registry has it.
    private mutating func bucket(name: Notification.Name?, sender: SenderKey?) -> Unmanaged<Bucket> {
        let node =
            unsafe name.flatMap { unsafe self.node(of: $0, willBeObserved: true) } ?? Unmanaged.passUnretained(anyName)
        // SAFETY: the registry has the node, and that its bucket for any sender.
        return unsafe node._withUnsafeGuaranteedRef { node in
            guard let sender else { return unsafe node.makeAnySender() }
            if let known = node.senders[sender] { return unsafe .passUnretained(known) }
            let bucket = Bucket(node: node, sender: sender)
            node.setBucket(bucket, of: sender)
            senders[sender, default: UnorderedList()].append(bucket)
            return unsafe .passUnretained(bucket)
        }
    }

    /// Removes a bucket without registrations, and its node if that has no others.
    private mutating func discard(_ bucket: Bucket) {
        let node = unsafe bucket.node.takeUnretainedValue()
        if let sender = bucket.sender {
            unlinked.append(bucket)
            node.setBucket(nil, of: sender)
            if let index = senders.index(forKey: sender) {
                senders.values[index].remove(bucket)
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

    /// A sender's key that was removed: a value sender is not released under a lock (R6).
    ///
    /// SAFETY: only released.
    private final class KeptKey: @unchecked Sendable {
        let key: SenderKey

        init(key: SenderKey) {
            self.key = key
        }
    }

    // MARK: Names

    /// The node of a name that is posted, or is going to be observed; `nil` for one without observers that the cache does not
    /// take. Not retained: the registry has it. Complexity: O(1) amortised.
    private mutating func node(
        of name: Notification.Name, willBeObserved: Bool, mayDisplace: Bool = true
    ) -> Unmanaged<NameNode>? {
        let bits = StringBits(name.rawValue)
        // SAFETY: the cache is only changed under the lock that the caller has, and its entries' nodes are in `names`.
        if let cached = unsafe cache.find(bits) { return unsafe cached._withUnsafeGuaranteedRef { unsafe $0.node } }
        let hash = UInt(bitPattern: name.rawValue.hashValue)
        let known = unsafe names.find(hash) { $0.name == name }
        let hasPlace = unsafe known?._withUnsafeGuaranteedRef {
            $0.isObserved && $0.cached.isEmpty && cache.hasPlace(for: bits)
        }
        let isNew = unsafe known == nil && willBeObserved
        let isCached = hasPlace == true || (!isNew && cache.admits() && mayDisplace)
        guard unsafe known != nil || isNew || isCached else { return nil }
        let node = unsafe known ?? names.insert(NameNode(name: name, hash: hash))
        if isCached { unsafe insertIntoCache(CachedName(name: name, node: node.takeUnretainedValue())) }
        return unsafe node
    }

    private mutating func insertIntoCache(_ cached: CachedName) {
        let node = unsafe cached.node.takeUnretainedValue()
        node.cached.append(cached)
        if let displaced = cache.insert(cached) { forget(displaced) }
        if node.cached.count > NameNode.mostCached {
            let oldest = node.cached[0]
            cache.remove(oldest)
            forget(oldest)
        }
    }

    /// Unlinks an entry that was removed from the cache, and its node if that has neither others nor observers.
    private mutating func forget(_ cached: CachedName) {
        let node = unsafe cached.node.takeUnretainedValue()
        node.cached.removeAll { $0 === cached }
        unlinked.append(cached)
        if !node.isObserved, node.cached.isEmpty { discard(node) }
    }

    /// Unlinks a node without observers, with its entries in the cache.
    private mutating func discard(_ node: NameNode) {
        for cached in node.cached { cache.remove(cached) }
        // The node holds its entries, and its bucket for any sender.
        if let removed = names.remove(node) { unlinked.append(removed) }
    }

    // MARK: Looking

    /// The live registrations of a name, a sender, both or neither, in registration order.
    ///
    /// Complexity: O(1) to find a name or a sender or both, then O(found log found).
    func registrations(named name: Notification.Name? = nil, from sender: SenderKey? = nil) -> [Registration] {
        let buckets: [Bucket] =
            if let name {
                find(name).flatMap { node in sender.map { node.senders[$0].map { [$0] } ?? [] } ?? node.buckets } ?? []
            } else if let sender {
                senders[sender]?.elements ?? []
            } else {
                names.elements.flatMap(\.buckets) + anyName.buckets
            }
        return buckets.flatMap(\.registrations).sorted { $0.id < $1.id }
    }

    /// Whether a post of a name and a sender would reach an observer; without a sender, whether one of any sender would.
    /// Complexity: O(1).
    func hasObservers(of name: Notification.Name, from sender: SenderKey?) -> Bool {
        anyName.isObserved(from: sender) || find(name)?.isObserved(from: sender) == true
    }

    private func find(_ name: Notification.Name) -> NameNode? {
        unsafe names.find(UInt(bitPattern: name.rawValue.hashValue)) { $0.name == name }?.takeUnretainedValue()
    }

    /// Whether no sender, key or registration is kept, and no name but those that the cache has without observers (M9).
    var isEmpty: Bool {
        count == 0 && senders.isEmpty && keyed.isEmpty && !anyName.isObserved && names.count <= NameCache.capacity
            && names.elements.allSatisfy { !$0.isObserved }
    }

    /// Returns the objects that mutations have unlinked, and forgets them.
    mutating func takeUnlinked() -> Unlinked {
        let taken = unlinked
        unlinked = []
        return taken
    }
}

extension Dictionary {
    /// Rebuilds a dictionary that was much larger, so that its memory follows its count. Complexity: O(1) amortised.
    fileprivate mutating func releaseUnusedCapacity() {
        guard capacity > 64, count < capacity / 8 else { return }
        var smaller = Dictionary(minimumCapacity: count * 2)
        for (key, value) in self { smaller[key] = value }
        self = smaller
    }
}

/// The buckets of one name, or those of observers of any name.
///
/// SAFETY: everything that varies and is not atomic is protected by the lock of the center that has the node; the center keeps
/// the objects that posts may read.
@safe final class NameNode: Chained, @unchecked Sendable {
    /// As how many strings a name may be in the cache.
    static let mostCached = 4

    let name: Notification.Name?
    let hash: UInt
    var next: NameNode?
    /// The bucket of observers of any sender. Once made, it stays, so that posts may have read it.
    private(set) var anySender: Bucket?
    private(set) var senders: [SenderKey: Bucket] = [:]
    /// Its entries in the cache, oldest first.
    var cached: [CachedName] = []

    // Read by posts without the lock.
    /// The slots of `anySender` while that has observers.
    private let openSlots = unsafe Atomic<UnsafeRawPointer?>(nil)
    private let hasSenders = Atomic<Bool>(false)

    init(name: Notification.Name?, hash: UInt) {
        self.name = name
        self.hash = hash
    }

    var isObserved: Bool {
        if let anySender, anySender.count > 0 { return true }
        return hasSenders.load(ordering: .relaxed)
    }

    /// The same, for a post of one sender, if it is given.
    func isObserved(from sender: SenderKey?) -> Bool {
        guard let sender else { return isObserved }
        return anySender.map { $0.count > 0 } == true || senders[sender] != nil
    }

    /// The bucket of observers of any sender, made if there is none.
    func makeAnySender() -> Unmanaged<Bucket> {
        if let anySender { return unsafe .passUnretained(anySender) }
        let made = Bucket(node: self, sender: nil)
        anySender = made
        return unsafe .passUnretained(made)
    }

    /// Changes the bucket of a sender, and lets posts see whether there is any.
    func setBucket(_ bucket: Bucket?, of sender: SenderKey) {
        senders[sender] = bucket
        hasSenders.store(!senders.isEmpty, ordering: .sequentiallyConsistent)
        senders.releaseUnusedCapacity()
    }

    /// Lets posts see a bucket's new slots.
    func publish(_ bucket: Bucket) {
        // SAFETY: the center keeps slots for posts that may see them.
        unsafe openSlots.store(Unmanaged.passUnretained(bucket.slots).toOpaque(), ordering: .sequentiallyConsistent)
    }

    /// Lets posts see that no observer of any sender is left.
    func unpublish() {
        unsafe openSlots.store(nil, ordering: .sequentiallyConsistent)
    }

    /// The slots that a post reaches here, read without the lock: those of observers of any sender, if there are no others.
    ///
    /// SAFETY: as the slots of a bucket.
    @safe enum FastMatch {
        case nothing
        case only(Unmanaged<BucketSlots>)
        case more
    }

    @inline(__always)
    var fastMatch: FastMatch {
        if hasSenders.load(ordering: .sequentiallyConsistent) { return .more }
        guard let slots = unsafe openSlots.load(ordering: .sequentiallyConsistent) else { return .nothing }
        return unsafe .only(Unmanaged<BucketSlots>.fromOpaque(slots))
    }

    /// All buckets, in no order.
    var buckets: [Bucket] { (anySender.map { [$0] } ?? []) + senders.values }
}
