internal import Synchronization

/// The registrations of one name (or any) and one sender (or any), in registration order.
///
/// A bucket appends registrations to its slots, and leaves a hole where one is removed. Slots that are full, or have many
/// holes, are replaced by others of twice the number of registrations. A registration stores its bucket and its slot.
/// Adding and removing are O(1) amortised.
///
/// SAFETY: everything that varies is protected by the lock of the center that has the bucket; the node has the bucket for as
/// long as a registration is in it.
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

    /// Appends a registration, and takes the caller's reference over; returns the slots that this replaced, which posts may
    /// still read.
    func append(_ registration: Unmanaged<Registration>) -> BucketSlots? {
        let outgrown = used == slots.capacity ? rebuild(capacity: max(4, count * 2)) : nil
        let slot = used
        // SAFETY: the reference is the bucket's own now; `remove` gives it back.
        unsafe registration._withUnsafeGuaranteedRef {
            slots.set($0, at: slot)
            unsafe $0.bucket = .passUnretained(self)
            $0.slot = UInt32(slot)
        }
        slots.used.store(slot + 1, ordering: .releasing)
        if count == 0, sender == nil { unsafe node._withUnsafeGuaranteedRef { $0.publish(self) } }
        count += 1
        checkInvariants()
        return outgrown
    }

    /// Removes a registration, and returns the bucket's reference to it, which may be the only one: a post calls
    /// registrations without holding them. Also returns the slots that this replaced.
    func remove(_ registration: Registration) -> (kept: Registration, outgrown: BucketSlots?) {
        slots.clear(at: Int(registration.slot))
        unsafe registration.bucket = nil
        // SAFETY: the reference that `append` took over.
        let kept = unsafe Unmanaged.passUnretained(registration).takeRetainedValue()
        count -= 1
        checkInvariants()
        return (kept, used >= 8 && count < used / 2 ? rebuild(capacity: max(4, count * 2)) : nil)
    }

    /// Uses the last slots again, if they are holes; returns how many were in use. For when no post may read them: see
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

/// The slots of a bucket: registrations in the order of their ids, with holes where some have ended.
///
/// Posts read them without a lock, and retain no registration in them. The center keeps slots, and the memory of
/// registrations, until no post that may have read them is under way. Slots and `used` are sequentially consistent, as is the
/// center in a post's epoch guard: either the post sees the removal, or the removing thread sees the post. On x86 such a
/// load is a plain one.
///
/// SAFETY: `slots` has `capacity` initialised atomics until `deinit`; slots are written under the center's lock.
@safe final class BucketSlots: @unchecked Sendable {
    typealias Slot = Atomic<UnsafeRawPointer?>

    let capacity: Int
    /// How many slots have been used, holes included. A post calls as many as it has read here (R4).
    let used = Atomic<Int>(0)
    /// Whether a registration in it has, or had, pending deliveries, so that a post calls it in two parts.
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

    /// The registration in a slot, not retained.
    @inline(__always)
    func registration(at index: Int) -> Unmanaged<Registration>? {
        // SAFETY: a slot holds a registration whose memory the center keeps (see above), or nothing.
        guard let address = unsafe slots[index].load(ordering: .sequentiallyConsistent) else { return nil }
        return unsafe Unmanaged.fromOpaque(address)
    }

    /// Calls `body` with the registrations in the first slots, in order, not retained.
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
        // SAFETY: the center keeps the registration in a slot (see above).
        unsafe slots[index].store(Unmanaged.passUnretained(registration).toOpaque(), ordering: .releasing)
        if registration.isRouted { hasRouted.store(true, ordering: .releasing) }
    }

    func clear(at index: Int) { unsafe slots[index].store(nil, ordering: .sequentiallyConsistent) }
}

/// An element of at most one `UnorderedList`, which alone changes its place.
protocol UnorderedListElement: AnyObject {
    var place: Int { get set }
}

/// Elements in no order. Each stores its place, so that it is removed at once.
struct UnorderedList<Element: UnorderedListElement> {
    private(set) var elements: [Element] = []

    var isEmpty: Bool { elements.isEmpty }

    /// Complexity: O(1) amortised.
    mutating func append(_ element: Element) {
        element.place = elements.count
        elements.append(element)
    }

    /// Removes an element, which is in; the last one takes its place. Complexity: O(1).
    mutating func remove(_ element: Element) {
        let place = element.place
        let last = elements.removeLast()
        guard last !== element else { return }
        elements[place] = last
        last.place = place
    }
}
