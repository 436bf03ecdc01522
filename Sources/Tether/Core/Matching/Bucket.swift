internal import Synchronization

/// The registrations of one name (or any) and one sender (or any), in registration order.
///
/// SAFETY: everything that varies is only touched under the lock of the center that has the bucket; the registry has
/// the node for as long as the bucket is in use.
@safe final class Bucket: UnorderedListElement, @unchecked Sendable {
    let node: Unmanaged<NameNode>
    let sender: SenderKey?
    /// Its number in the registry; `.max` until it has one.
    var number = UInt32.max
    /// Its place among the buckets of its sender.
    var place = 0
    private(set) var slots = BucketSlots(capacity: 2)
    private(set) var count = 0

    private var used: Int { slots.used.load(ordering: .relaxed) }

    init(node: NameNode, sender: SenderKey?) {
        unsafe self.node = .passUnretained(node)
        self.sender = sender
    }

    /// Appends a registration, and takes the caller's reference over; returns the slots that this replaced, for which posts may
    /// still have a use.
    func append(_ registration: Unmanaged<Registration>) -> BucketSlots? {
        let outgrown = used == slots.capacity ? rebuild(capacity: max(4, count * 2)) : nil
        let slot = used
        // SAFETY: the reference is the bucket's own now; `remove` gives it back.
        unsafe registration._withUnsafeGuaranteedRef {
            slots.set($0, at: slot)
            $0.slot = UInt32(slot)
        }
        slots.used.store(slot + 1, ordering: .releasing)
        if count == 0, sender == nil { unsafe node._withUnsafeGuaranteedRef { $0.publish(self) } }
        count += 1
        checkInvariants()
        return outgrown
    }

    /// Takes out a registration, and hands over the bucket's reference to it, which may be the only one: a post calls
    /// registrations without holding them. Also returns the slots that this replaced.
    func remove(_ registration: Registration) -> (kept: Registration, outgrown: BucketSlots?) {
        slots.clear(at: Int(registration.slot))
        // SAFETY: the reference that `append` took over.
        let kept = unsafe Unmanaged.passUnretained(registration).takeRetainedValue()
        count -= 1
        checkInvariants()
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

    /// Whether every registration knows its slot, and is counted, where there are few.
    private func checkInvariants() {
        #if DEBUG
        guard used <= checkedSize else { return }
        let registrations = registrations
        assert(registrations.count == count)
        for registration in registrations {
            // SAFETY: only the address is compared.
            let address = unsafe slots.registration(at: Int(registration.slot))?.toOpaque()
            assert(unsafe address == Unmanaged.passUnretained(registration).toOpaque())
        }
        #endif
    }

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
