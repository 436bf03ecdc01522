internal import Foundation
internal import Synchronization

/// The slots of a bucket: registrations in the order of their ids, with holes where some have ended.
///
/// Posts read it without a lock and without retaining what is in it: the center keeps slots and registrations until
/// no post that may have seen them is under way.
///
/// SAFETY: `slots` has `capacity` initialised atomics until `deinit`; slots are written under the center's lock.
@safe final class BucketSlots: @unchecked Sendable {
    typealias Slot = Atomic<UnsafeRawPointer?>

    let capacity: Int
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
        unsafe slots[index].load(ordering: .acquiring).map { unsafe Unmanaged.fromOpaque($0) }
    }

    func set(_ registration: Registration?, at index: Int) {
        let address = unsafe registration.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
        unsafe slots[index].store(address, ordering: .releasing)
    }
}

/// The registrations of one name (or any) and one sender (or any), in registration order.
///
/// SAFETY: everything that varies is only touched under the lock of the center that has the bucket.
final class Bucket: @unchecked Sendable {
    let node: NameNode
    let sender: SenderKey?
    private(set) var slots = BucketSlots(capacity: 2)
    /// How many slots have been used, holes included.
    private(set) var used = 0
    private(set) var count = 0

    init(node: NameNode, sender: SenderKey?) {
        self.node = node
        self.sender = sender
    }

    /// Appends a registration; returns the slots that this replaced, for which posts may still have a use.
    func append(_ registration: Registration) -> BucketSlots? {
        let outgrown = used == slots.capacity ? rebuild(capacity: max(4, count * 2)) : nil
        // SAFETY: the bucket's own reference; `remove` gives it back.
        _ = unsafe Unmanaged.passRetained(registration)
        slots.set(registration, at: used)
        registration.slot = UInt32(used)
        used += 1
        count += 1
        return outgrown
    }

    /// Takes out a registration that the caller keeps for the posts that may see it; returns the slots that this
    /// replaced.
    func remove(_ registration: Registration) -> BucketSlots? {
        slots.set(nil, at: Int(registration.slot))
        // SAFETY: pairs with the retain in `append`.
        unsafe Unmanaged.passUnretained(registration).release()
        count -= 1
        return used >= 8 && count < used / 2 ? rebuild(capacity: max(4, count * 2)) : nil
    }

    private func rebuild(capacity: Int) -> BucketSlots {
        let old = slots
        let registrations = registrations
        slots = BucketSlots(capacity: capacity)
        for (index, registration) in registrations.enumerated() {
            slots.set(registration, at: index)
            registration.slot = UInt32(index)
        }
        used = registrations.count
        return old
    }

    var registrations: [Registration] {
        // SAFETY: a registration that is in a slot is kept by the center, whose lock the caller has.
        (0..<used).compactMap { unsafe slots.registration(at: $0)?.takeUnretainedValue() }
    }
}

/// The buckets of one name, or those of observers of any name.
///
/// SAFETY: everything that varies is only touched under the lock of the center that has the node.
final class NameNode: @unchecked Sendable {
    let name: Notification.Name?
    var anySender: Bucket?
    var senders: [SenderKey: Bucket] = [:]
    /// How many channels hold the node.
    var channels = 0

    init(name: Notification.Name?) {
        self.name = name
    }

    var isUnused: Bool { anySender == nil && senders.isEmpty && channels == 0 }

    /// All buckets, in no order.
    var buckets: [Bucket] { (anySender.map { [$0] } ?? []) + senders.values }
}
