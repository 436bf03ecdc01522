internal import Synchronization

/// A cache in front of the look-up of names, read by posts without a lock.
///
/// It also knows names without observers, so that posting such a name is cheap. A name has at most one slot, one of four
/// side by side, and there are as many slots as are named at the start, or two to 32 times as many as names have
/// observers: posting any number of names grows nothing (M9).
///
/// SAFETY: `slots` has `capacity` initialised atomics until `deinit`, each with a reference to its own `CachedName`;
/// they are written under the center's lock, and what is taken out is kept for posts that may see it.
@safe final class NameCache: @unchecked Sendable {
    static let smallestCapacity = 64
    private static let ways = 4

    let capacity: Int
    private let shift: UInt64
    private let slots: UnsafeMutablePointer<Atomic<UnsafeRawPointer?>>
    /// The bits that were last missed, so that only a name which is posted again takes another's place.
    private var lastMissed: StringBits?

    init(capacity: Int) {
        self.capacity = capacity
        shift = UInt64(64 - capacity.trailingZeroBitCount)
        unsafe slots = .allocate(capacity: capacity)
        for index in 0..<capacity { unsafe (slots + index).initialize(to: Atomic(nil)) }
    }

    deinit {
        // SAFETY: pairs with the retain in `insert`.
        for cached in all { unsafe Unmanaged.passUnretained(cached).release() }
        unsafe slots.deinitialize(count: capacity)
        unsafe slots.deallocate()
    }

    /// The entry of a name, not retained.
    @inline(__always)
    func find(_ bits: StringBits) -> Unmanaged<CachedName>? {
        let first = index(of: bits)
        for way in 0..<NameCache.ways {
            // A slot that has been taken stays so, and a name takes the first that is free.
            guard let known = unsafe slots[first ^ way].load(ordering: .sequentiallyConsistent) else { return nil }
            let cached = unsafe Unmanaged<CachedName>.fromOpaque(known)
            if unsafe cached._withUnsafeGuaranteedRef({ $0.bits == bits }) { return unsafe cached }
        }
        return nil
    }

    @inline(__always)
    private func index(of bits: StringBits) -> Int { Int(truncatingIfNeeded: bits.hash >> shift) }

    /// Whether a name that was missed is to be remembered: at once if it has observers, else the second time in a row.
    func isWorthwhile(_ bits: StringBits, hasObservers: Bool) -> Bool {
        if hasObservers || lastMissed == bits { return true }
        lastMissed = bits
        return false
    }

    /// Remembers a name, and returns what it took the place of.
    func insert(_ cached: CachedName) -> CachedName? {
        // SAFETY: what this retains is given back when it is replaced, or in `deinit`.
        let address = unsafe UnsafeRawPointer(Unmanaged.passRetained(cached).toOpaque())
        let slot = freeSlot(for: cached.bits) ?? index(of: cached.bits)
        let old = unsafe slots[slot].exchange(address, ordering: .sequentiallyConsistent)
        return unsafe old.map { unsafe Unmanaged<CachedName>.fromOpaque($0).takeRetainedValue() }
    }

    /// The slot that a name which is not known can have without taking another's place.
    func freeSlot(for bits: StringBits) -> Int? {
        let first = index(of: bits)
        return (0..<NameCache.ways).map { first ^ $0 }.first { unsafe slots[$0].load(ordering: .relaxed) == nil }
    }

    /// Whether a name can have a slot only in place of another one with observers.
    func isCrowded(for bits: StringBits) -> Bool {
        let first = index(of: bits)
        return (0..<NameCache.ways).allSatisfy { way in
            // SAFETY: what is in a slot is held by this.
            guard let known = unsafe slots[first ^ way].load(ordering: .relaxed) else { return false }
            return unsafe Unmanaged<CachedName>.fromOpaque(known)._withUnsafeGuaranteedRef {
                unsafe $0.node._withUnsafeGuaranteedRef(\.isObserved)
            }
        }
    }

    /// Everything that it knows.
    var all: [CachedName] {
        (0..<capacity).compactMap { index in
            unsafe slots[index].load(ordering: .relaxed).map {
                unsafe Unmanaged<CachedName>.fromOpaque($0).takeUnretainedValue()
            }
        }
    }
}
