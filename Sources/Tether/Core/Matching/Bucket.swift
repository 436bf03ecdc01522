internal import Foundation
internal import Synchronization

// The observers of one name, and what a post reads of them:
//
//     NameNode ──▶ Bucket of any sender, Bucket of each sender ──▶ SlotArray: the registrations
//
// A thread that adds or removes has the center's lock. A post without the lock reads the slots that
// the node has published. Such a post has a `MatchedBucket`: the slots, and their number at its
// beginning.

/// The buckets of one name, or of observers of any name.
/// SAFETY: the lock of the node's center protects all variables that are not atomic; the center
/// keeps the objects that posts may read.
@safe final class NameNode: Chained, @unchecked Sendable {
    /// The maximal number of a name's strings in the cache.
    static let mostCached = 4

    let name: Notification.Name?
    let hash: UInt
    var next: NameNode?
    /// The bucket of observers of any sender. Once made, the bucket stays, because posts may have
    /// read its slots.
    private(set) var anySender: Bucket?
    private(set) var senders: [SenderKey: Bucket] = [:]
    /// The node's entries in the cache, oldest first.
    var cached: [CachedName] = []

    // Read by posts without the lock.
    /// The slots of `anySender` while the bucket has observers.
    private let publishedSlots = unsafe Atomic<UnsafeRawPointer?>(nil)
    private let hasSenders = Atomic<Bool>(false)

    init(name: Notification.Name?, hash: UInt) {
        self.name = name
        self.hash = hash
    }

    var isObserved: Bool {
        if let anySender, anySender.count > 0 { return true }
        return hasSenders.load(ordering: .relaxed)
    }

    /// Whether a post of `sender`, or of any sender if `nil`, would reach an observer here.
    func isObserved(from sender: SenderKey?) -> Bool {
        guard let sender else { return isObserved }
        return anySender.map { $0.count > 0 } == true || senders[sender] != nil
    }

    func makeAnySender() -> Unmanaged<Bucket> {
        if let anySender { return unsafe .passUnretained(anySender) }
        let made = Bucket(node: self, sender: nil)
        anySender = made
        return unsafe .passUnretained(made)
    }

    /// Changes the bucket of a sender, and shows posts whether there is any such bucket.
    func setBucket(_ bucket: Bucket?, of sender: SenderKey) {
        senders[sender] = bucket
        hasSenders.store(!senders.isEmpty, ordering: .sequentiallyConsistent)
        senders.releaseUnusedCapacity()
    }

    func publish(_ bucket: Bucket) {
        // SAFETY: the center keeps slots for posts that may see the slots.
        unsafe publishedSlots.store(
            Unmanaged.passUnretained(bucket.slots).toOpaque(), ordering: .sequentiallyConsistent)
    }

    func unpublish() { unsafe publishedSlots.store(nil, ordering: .sequentiallyConsistent) }

    /// The bucket for any sender, as a post without the lock finds it. It is the node's only bucket
    /// unless `hasObservedSenders`, which the post asks afterwards.
    /// SAFETY: the center keeps slots for posts that may see the slots.
    @inline(__always)
    var publishedBucket: MatchedBucket? {
        guard let slots = unsafe publishedSlots.load(ordering: .sequentiallyConsistent) else {
            return nil
        }
        return unsafe MatchedBucket(Unmanaged<SlotArray>.fromOpaque(slots))
    }

    /// Whether there is an observer of any sender, for a post without the lock.
    @inline(__always)
    var hasPublishedBucket: Bool {
        unsafe publishedSlots.load(ordering: .sequentiallyConsistent) != nil
    }

    /// Whether a sender is observed here, for a post without the lock.
    @inline(__always)
    var hasObservedSenders: Bool { hasSenders.load(ordering: .sequentiallyConsistent) }

    /// All buckets, in no order.
    var buckets: [Bucket] { (anySender.map { [$0] } ?? []) + senders.values }
}

/// The registrations of one name (or any) and one sender (or any), in registration order.
///
/// A bucket appends registrations to its array of slots, and leaves a hole at each removal. A full
/// array, an array with many holes, and a much too long one are replaced by an array for twice the
/// number of registrations. A removal finds its slot by the registration's id, so holes store the
/// id too.
///
/// SAFETY: the lock of the bucket's center protects all variables; the node retains the bucket
/// while the bucket has registrations.
@safe final class Bucket: @unchecked Sendable {
    let node: Unmanaged<NameNode>
    let sender: SenderKey?
    private(set) var slots = SlotArray(capacity: 2)
    private(set) var count = 0

    private var used: Int { slots.used.load(ordering: .relaxed) }
    /// SAFETY: for calls that neither replace the slots nor call the user's code.
    private var uncountedSlots: Unmanaged<SlotArray> { unsafe .passUnretained(slots) }

    init(node: NameNode, sender: SenderKey?) {
        unsafe self.node = .passUnretained(node)
        self.sender = sender
    }

    /// Appends a registration, with the caller's reference. Returns replaced slots, which posts may
    /// still read.
    func append(_ registration: Unmanaged<Registration>) -> SlotArray? {
        let outgrown = used == slots.capacity ? rebuild(capacity: max(4, count * 2)) : nil
        let slot = used
        // SAFETY: from here on the bucket has the reference; `remove` returns it.
        unsafe registration._withUnsafeGuaranteedRef { registration in
            unsafe registration.bucket = .passUnretained(self)
            unsafe uncountedSlots._withUnsafeGuaranteedRef { $0.set(registration, at: slot) }
        }
        slots.used.store(slot + 1, ordering: .releasing)
        if count == 0, sender == nil { unsafe node._withUnsafeGuaranteedRef { $0.publish(self) } }
        count += 1
        checkInvariants()
        return outgrown
    }

    /// Removes a registration. Returns it with the bucket's reference, which may be the last,
    /// because a post does not retain the registrations that it calls. Also returns replaced slots.
    func remove(_ registration: Registration) -> (removed: Registration, outgrown: SlotArray?) {
        unsafe uncountedSlots._withUnsafeGuaranteedRef { $0.clear(registration) }
        unsafe registration.bucket = nil
        // SAFETY: the reference that `append` took over.
        let removed = unsafe Unmanaged.passUnretained(registration).takeRetainedValue()
        count -= 1
        var outgrown: SlotArray?
        if hasTooManySlots { outgrown = rebuild(capacity: max(4, count * 2)) }
        checkInvariants()
        return (removed, outgrown)
    }

    /// Whether fewer than half of the used slots, or a quarter of all, have a registration (M9).
    private var hasTooManySlots: Bool {
        used >= 8 && count < used / 2 || slots.capacity >= 16 && count < slots.capacity / 4
    }

    /// Hides the last holes from posts: their slots stay, and count as unused. Returns the old
    /// number of used slots, for `showTrailingHoles` if a post may read.
    ///
    /// At most eight: holes that are hidden during a post are shown again. Without a limit the
    /// first removal inside each post would walk over all of them once more.
    func hideTrailingHoles() -> Int {
        let before = used
        var used = before
        while used > 0, before - used < 8, unsafe slots.registration(at: used - 1) == nil {
            used -= 1
        }
        slots.used.store(used, ordering: .sequentiallyConsistent)
        return before
    }

    func showTrailingHoles(_ used: Int) { slots.used.store(used, ordering: .releasing) }

    private func rebuild(capacity: Int) -> SlotArray {
        let old = slots
        let registrations = registrations
        slots = SlotArray(capacity: capacity)
        for (index, registration) in registrations.enumerated() {
            slots.set(registration, at: index)
        }
        slots.used.store(registrations.count, ordering: .relaxed)
        if sender == nil, count > 0 { unsafe node._withUnsafeGuaranteedRef { $0.publish(self) } }
        return old
    }

    var registrations: [Registration] {
        // SAFETY: the center retains each registration in a slot, and the caller has the center's
        // lock.
        (0..<used).compactMap { unsafe slots.registration(at: $0)?.takeUnretainedValue() }
    }

    /// Checks, in debug builds, that `count` counts the registrations, that each registration knows
    /// this bucket, and that the ids rise from slot to slot.
    func checkInvariants() {
        #if DEBUG
        guard used <= checkedSize else { return }
        let registrations = registrations
        assert(registrations.count == count, "A bucket's count differs from its registrations.")
        for registration in registrations {
            // SAFETY: only the address is compared.
            let bucket = unsafe registration.bucket?.toOpaque()
            let isKnown = unsafe bucket == Unmanaged.passUnretained(self).toOpaque()
            assert(isKnown, "A registration in a bucket's slots refers to another bucket.")
        }
        slots.checkOrder()
        #endif
    }
}

/// The array of a bucket's slots: registrations in the order of their ids, with holes in place of
/// ended registrations.
///
/// Posts read slots without a lock, and retain no registration in the slots. The center keeps
/// slots, and the memory of registrations, until the end of all posts that may have read them. A
/// post's loads, the stores of removals, and the store of a guard's center are sequentially
/// consistent: the post sees the removal, or the removing thread sees the post. On x86 such a load
/// is a plain load.
///
/// SAFETY: `slots` has `capacity` initialised atomics until `deinit`; slots are written under the
/// center's lock.
@safe final class SlotArray: @unchecked Sendable {
    /// The address of a registration. In a hole: twice the id of the ended registration, plus 1.
    typealias Slot = Atomic<UInt64>

    let capacity: Int
    /// The number of used slots, holes included. A post calls at most the number that it has read
    /// (R4).
    let used = Atomic<Int>(0)
    /// The number of routed registrations in the slots. With any, a post asks them before it calls
    /// any; see `Post`. Written under the center's lock.
    private let routedCount = Atomic<Int>(0)
    private let slots: UnsafeMutablePointer<Slot>

    init(capacity: Int) {
        self.capacity = capacity
        unsafe slots = .allocate(capacity: capacity)
        for index in 0..<capacity { unsafe (slots + index).initialize(to: Slot(0)) }
    }

    deinit {
        unsafe slots.deinitialize(count: capacity)
        unsafe slots.deallocate()
    }

    @inline(__always)
    func registration(at index: Int) -> Unmanaged<Registration>? {
        unsafe SlotArray.registration(in: slots[index].load(ordering: .sequentiallyConsistent))
    }

    @inline(__always)
    private static func registration(in content: UInt64) -> Unmanaged<Registration>? {
        if content & 1 == 1 { return nil }
        // SAFETY: the center keeps the memory of a registration in a slot, and no used slot has 0.
        return unsafe .fromOpaque(UnsafeRawPointer(bitPattern: UInt(content)).unsafelyUnwrapped)
    }

    /// Calls `body` with the registrations in the first slots, in order, not retained.
    @inline(__always)
    func forEach(ofFirst count: Int, _ body: (Unmanaged<Registration>) -> Void) {
        var slot = unsafe slots
        let end = unsafe slots + count
        while unsafe slot != end {
            if let found = unsafe SlotArray.registration(
                in: slot.pointee.load(ordering: .sequentiallyConsistent))
            {
                unsafe body(found)
            }
            unsafe slot += 1
        }
    }

    func set(_ registration: Registration, at index: Int) {
        unsafe slots[index].store(UInt64(registration.address.bits), ordering: .releasing)
        if registration.isRouted {
            registration.noteCountedAsRouted()
            changeRoutedCount(by: 1)
        }
    }

    @inline(__always)
    var hasRouted: Bool { routedCount.load(ordering: .acquiring) > 0 }

    /// Counts a registration in the slots that has got a mailbox.
    func countRouted(_ registration: Registration) {
        if registration.isCountedAsRouted { return }
        registration.noteCountedAsRouted()
        changeRoutedCount(by: 1)
    }

    private func changeRoutedCount(by number: Int) {
        routedCount.store(
            routedCount.load(ordering: .relaxed) + number, ordering: .releasing)
    }

    /// Makes a hole in place of a registration, found by its id, which rises by at least 1 from
    /// slot to slot.
    func clear(_ registration: Registration) {
        if registration.isCountedAsRouted { changeRoutedCount(by: -1) }
        let id = registration.id
        let slots = unsafe slots
        let last = used.load(ordering: .relaxed) - 1
        // Each step to a later slot adds at least 1 to the id, so the distance of two ids bounds
        // the distance of their slots.
        var low = unsafe max(0, last - Int(clamping: SlotArray.id(in: slots[last]) - id))
        var high = unsafe min(last, Int(clamping: id - SlotArray.id(in: slots[0])))
        while low < high {
            let middle = (low + high) / 2
            if unsafe SlotArray.id(in: slots[middle]) < id {
                low = middle + 1
            } else {
                high = middle
            }
        }
        unsafe slots[low].store(id * 2 + 1, ordering: .sequentiallyConsistent)
    }

    #if DEBUG
    /// Checks that the ids of registrations and holes rise from slot to slot.
    func checkOrder() {
        var previous: UInt64 = 0
        for index in 0..<used.load(ordering: .relaxed) {
            let id = unsafe SlotArray.id(in: slots[index])
            assert(id > previous, "The ids of a bucket's slots do not rise.")
            previous = id
        }
    }
    #endif

    @inline(__always)
    private static func id(in slot: borrowing Slot) -> UInt64 {
        let content = slot.load(ordering: .relaxed)
        return unsafe registration(in: content)?._withUnsafeGuaranteedRef { $0.id } ?? content / 2
    }
}

/// The slots of one bucket, with the number of slots in use at the beginning of a post (R4).
/// SAFETY: the center keeps `slots` until the end of all posts that may see the slots.
@safe struct MatchedBucket: @unchecked Sendable {
    let slots: Unmanaged<SlotArray>
    let used: Int

    /// Whether a registration of the slots is routed.
    var hasRouted: Bool {
        unsafe slots._withUnsafeGuaranteedRef(\.hasRouted)
    }

    @inline(__always)
    init(_ slots: Unmanaged<SlotArray>) {
        unsafe self.slots = unsafe slots
        used = unsafe slots._withUnsafeGuaranteedRef {
            $0.used.load(ordering: .sequentiallyConsistent)
        }
    }

    /// Calls `body` with the registrations, in order, not retained.
    @inline(__always)
    func forEachRegistration(_ body: (Unmanaged<Registration>) -> Void) {
        // SAFETY: the slots outlive the post.
        unsafe slots._withUnsafeGuaranteedRef { unsafe $0.forEach(ofFirst: used, body) }
    }
}
