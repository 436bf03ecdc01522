internal import Synchronization

/// The registrations of one name (or any) and one sender (or any), in registration order.
///
/// A bucket appends registrations to its slots, and leaves a hole at each removal. Full slots, or slots with many
/// holes, are replaced by slots for twice the number of registrations. A registration stores its bucket and its slot.
/// Adding and removing are O(1) amortised.
///
/// SAFETY: the lock of the bucket's center protects all variables; the node retains the bucket while the bucket has
/// registrations.
@safe final class Bucket: @unchecked Sendable {
    let node: Unmanaged<NameNode>
    let sender: SenderKey?
    private(set) var slots = BucketSlots(capacity: 2)
    private(set) var count = 0

    private var used: Int { slots.used.load(ordering: .relaxed) }

    init(node: NameNode, sender: SenderKey?) {
        unsafe self.node = .passUnretained(node)
        self.sender = sender
    }

    /// Appends a registration, with the caller's reference. Returns replaced slots, which posts may still read.
    func append(_ registration: Unmanaged<Registration>) -> BucketSlots? {
        let outgrown = used == slots.capacity ? rebuild(capacity: max(4, count * 2)) : nil
        let slot = used
        // SAFETY: from here on the bucket has the reference; `remove` returns it.
        unsafe registration._withUnsafeGuaranteedRef {
            slots.set($0, at: slot)
            unsafe $0.bucket = .passUnretained(self)
            $0.slot = UInt32(slot)
        }
        slots.used.store(slot + 1, ordering: .releasing)
        if count == 0, sender == nil { unsafe node._withUnsafeGuaranteedRef { $0.publish(self) } }
        count += 1
        return outgrown
    }

    /// Removes a registration. Returns the bucket's reference, which may be the last, because a post does not retain
    /// the registrations that it calls. Also returns replaced slots.
    func remove(_ registration: Registration) -> (kept: Registration, outgrown: BucketSlots?) {
        slots.clear(at: Int(registration.slot))
        unsafe registration.bucket = nil
        // SAFETY: the reference that `append` took over.
        let kept = unsafe Unmanaged.passUnretained(registration).takeRetainedValue()
        count -= 1
        return (kept, used >= 8 && count < used / 2 ? rebuild(capacity: max(4, count * 2)) : nil)
    }

    /// Frees the holes in the last slots. Returns the old number of used slots, for `restore` if a post may read.
    func trim() -> Int {
        let before = used
        var used = before
        while used > 0, unsafe slots.registration(at: used - 1) == nil { used -= 1 }
        slots.used.store(used, ordering: .sequentiallyConsistent)
        return before
    }

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
        // SAFETY: the center retains each registration in a slot, and the caller has the center's lock.
        (0..<used).compactMap { unsafe slots.registration(at: $0)?.takeUnretainedValue() }
    }
}

/// The slots of a bucket: registrations in the order of their ids, with holes in place of ended registrations.
///
/// Posts read slots without a lock, and retain no registration in the slots. The center keeps slots, and the memory of
/// registrations, until the end of all posts that may have read them. A post's loads, the stores of removals, and the
/// store of a guard's center are sequentially consistent: the post sees the removal, or the removing thread sees the
/// post. On x86 such a load is a plain load.
///
/// SAFETY: `slots` has `capacity` initialised atomics until `deinit`; slots are written under the center's lock.
@safe final class BucketSlots: @unchecked Sendable {
    typealias Slot = Atomic<UnsafeRawPointer?>

    let capacity: Int
    /// The number of used slots, holes included. A post calls at most the number that it has read (R4).
    let used = Atomic<Int>(0)
    /// Whether a registration of the slots has, or had, pending deliveries. Posts then call the slots in two parts.
    let hasRouted = Atomic<Bool>(false)
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

    @inline(__always)
    func registration(at index: Int) -> Unmanaged<Registration>? {
        // SAFETY: the center keeps the memory of a registration in a slot.
        guard let address = unsafe slots[index].load(ordering: .sequentiallyConsistent) else { return nil }
        return unsafe Unmanaged.fromOpaque(address)
    }

    /// Calls `body` with the registrations in the first slots, in order, not retained.
    @inline(__always)
    func forEach(ofFirst count: Int, _ body: (Unmanaged<Registration>) -> Void) {
        var slot = unsafe slots
        let end = unsafe slots + count
        while unsafe slot != end {
            // SAFETY: the center keeps the memory of a registration in a slot.
            if let address = unsafe slot.pointee.load(ordering: .sequentiallyConsistent) {
                unsafe body(.fromOpaque(address))
            }
            unsafe slot += 1
        }
    }

    func set(_ registration: Registration, at index: Int) {
        // SAFETY: the center keeps the memory of a registration in a slot.
        unsafe slots[index].store(Unmanaged.passUnretained(registration).toOpaque(), ordering: .releasing)
        if registration.isRouted { hasRouted.store(true, ordering: .releasing) }
    }

    func clear(at index: Int) { unsafe slots[index].store(nil, ordering: .sequentiallyConsistent) }
}
