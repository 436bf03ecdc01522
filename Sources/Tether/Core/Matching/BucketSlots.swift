internal import Synchronization

/// The slots of a bucket: registrations in the order of their ids, with holes where some have ended.
///
/// Posts read it without a lock and without retaining what is in it: the center keeps slots, and the memory
/// of registrations, until no post that may have seen them is under way. Slots and `used` are sequentially consistent, as
/// is what a post announces before it reads them: either it sees what was taken out, or who took it out sees the post. On
/// x86 such a load is a plain one.
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
        // SAFETY: a slot holds a registration whose memory the center keeps (see above), or nothing.
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
