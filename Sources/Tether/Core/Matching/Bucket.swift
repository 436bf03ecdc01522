internal import Foundation
internal import Synchronization

/// The slots of a bucket: registrations in the order of their ids, with holes where some have ended.
///
/// Posts read it without a lock and without retaining what is in it: the center keeps slots and registrations until
/// no post that may have seen them is under way. Slots and `used` are sequentially consistent, as is what a post announces
/// before it reads them: either it sees what was taken out, or who took it out sees the post. On x86 such a load is a
/// plain one.
///
/// SAFETY: `slots` has `capacity` initialised atomics until `deinit`; slots are written under the center's lock.
@safe final class BucketSlots: @unchecked Sendable {
    typealias Slot = Atomic<UnsafeRawPointer?>

    let capacity: Int
    /// How many slots have been used, holes included; what a post sees of it is what it calls (R4).
    let used = Atomic<Int>(0)
    private let slots: UnsafeMutablePointer<Slot>

    init(capacity: Int) {
        self.capacity = capacity
        unsafe slots = .allocate(capacity: capacity)
        for index in 0..<capacity { unsafe (slots + index).initialize(to: Slot(nil)) }
    }

    deinit {
        unsafe slots.deinitialize(count: capacity)
        unsafe slots.deallocate()
    }

    /// The registration in a slot, not retained.
    @inline(__always)
    func registration(at index: Int) -> Unmanaged<Registration>? {
        // SAFETY: a slot holds a registration that the center keeps (see above), or nothing.
        guard let address = unsafe slots[index].load(ordering: .sequentiallyConsistent) else { return nil }
        return unsafe Unmanaged.fromOpaque(address)
    }

    /// Calls `body` with what is in the first slots, in order, not retained.
    @inline(__always)
    func forEach(ofFirst count: Int, _ body: (Unmanaged<Registration>) -> Void) {
        var slot = unsafe slots
        let end = unsafe slots + count
        while unsafe slot != end {
            // SAFETY: as above.
            if let address = unsafe slot.pointee.load(ordering: .sequentiallyConsistent) {
                unsafe body(.fromOpaque(address))
            }
            unsafe slot += 1
        }
    }

    /// Puts a registration into a slot that is empty.
    func set(_ registration: Registration, at index: Int) {
        // SAFETY: the center keeps what is in a slot (see above).
        unsafe slots[index].store(Unmanaged.passUnretained(registration).toOpaque(), ordering: .releasing)
    }

    func clear(at index: Int) { unsafe slots[index].store(nil, ordering: .sequentiallyConsistent) }
}

/// The registrations of one name (or any) and one sender (or any), in registration order.
///
/// SAFETY: everything that varies is only touched under the lock of the center that has the bucket; the registry has
/// the node for as long as the bucket is in use.
@safe final class Bucket: UnorderedListElement, @unchecked Sendable {
    let node: Unmanaged<NameNode>
    let sender: SenderKey?
    /// Its place among the buckets of its sender.
    var place = 0
    private(set) var slots = BucketSlots(capacity: 2)
    private(set) var count = 0

    private var used: Int { slots.used.load(ordering: .relaxed) }

    init(node: NameNode, sender: SenderKey?) {
        unsafe self.node = .passUnretained(node)
        self.sender = sender
    }

    /// Appends a registration; returns the slots that this replaced, for which posts may still have a use.
    func append(_ registration: Registration) -> BucketSlots? {
        let outgrown = used == slots.capacity ? rebuild(capacity: max(4, count * 2)) : nil
        // SAFETY: the bucket's own reference; `remove` gives it back.
        _ = unsafe Unmanaged.passRetained(registration)
        let slot = used
        slots.set(registration, at: slot)
        registration.slot = UInt32(slot)
        slots.used.store(slot + 1, ordering: .releasing)
        if count == 0, sender == nil { unsafe node._withUnsafeGuaranteedRef { $0.publish(self) } }
        count += 1
        return outgrown
    }

    /// Takes out a registration, and hands over the bucket's reference to it, which may be the only one: a post calls
    /// registrations without holding them. Also returns the slots that this replaced.
    func remove(_ registration: Registration) -> (kept: Registration, outgrown: BucketSlots?) {
        slots.clear(at: Int(registration.slot))
        // SAFETY: pairs with the retain in `append`.
        let kept = unsafe Unmanaged.passUnretained(registration).takeRetainedValue()
        count -= 1
        return (kept, used >= 8 && count < used / 2 ? rebuild(capacity: max(4, count * 2)) : nil)
    }

    /// Uses the last slots again, if they are holes; returns how many were in use. For when no post may see them: see
    /// `restore`.
    func trim() -> Int {
        let before = used
        var used = before
        while used > 0, unsafe slots.registration(at: used - 1) == nil { used -= 1 }
        slots.used.store(used, ordering: .sequentiallyConsistent)
        return before
    }

    /// Takes a `trim` back.
    func restore(_ used: Int) { slots.used.store(used, ordering: .releasing) }

    private func rebuild(capacity: Int) -> BucketSlots {
        let old = slots
        let registrations = registrations
        slots = BucketSlots(capacity: capacity)
        for (index, registration) in registrations.enumerated() {
            slots.set(registration, at: index)
            registration.slot = UInt32(index)
        }
        slots.used.store(registrations.count, ordering: .relaxed)
        if sender == nil, count > 0 { unsafe node._withUnsafeGuaranteedRef { $0.publish(self) } }
        return old
    }

    var registrations: [Registration] {
        // SAFETY: a registration that is in a slot is kept by the center, whose lock the caller has.
        (0..<used).compactMap { unsafe slots.registration(at: $0)?.takeUnretainedValue() }
    }
}

/// The buckets of one name, or those of observers of any name.
///
/// SAFETY: everything that varies and is not atomic is only touched under the lock of the center that has the node;
/// the center keeps what posts may see.
@safe final class NameNode: @unchecked Sendable {
    let name: Notification.Name?
    private(set) var anySender: Bucket?
    private(set) var senders: [SenderKey: Bucket] = [:]
    /// How many cached names hold the node.
    var cachings = 0

    // What posts read without the lock.
    private let openSlots = unsafe Atomic<UnsafeRawPointer?>(nil)
    private let hasSenders = Atomic<Bool>(false)

    init(name: Notification.Name?) {
        self.name = name
    }

    /// Whether it has observers.
    var isObserved: Bool {
        if let anySender, anySender.count > 0 { return true }
        return hasSenders.load(ordering: .relaxed)
    }

    var isUnused: Bool { !isObserved && cachings == 0 }

    /// The bucket of observers of any sender, which stays as long as the node does.
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

    /// What a post reaches here, seen without the lock: the slots that are open to any sender, if that is all there
    /// is, or nothing.
    ///
    /// SAFETY: as the slots of a bucket.
    @safe enum Outlook {
        case nothing
        case only(Unmanaged<BucketSlots>)
        case more
    }

    @inline(__always)
    var outlook: Outlook {
        if hasSenders.load(ordering: .sequentiallyConsistent) { return .more }
        guard let slots = unsafe openSlots.load(ordering: .sequentiallyConsistent) else { return .nothing }
        return unsafe .only(Unmanaged<BucketSlots>.fromOpaque(slots))
    }

    /// All buckets, in no order.
    var buckets: [Bucket] { (anySender.map { [$0] } ?? []) + senders.values }
}
