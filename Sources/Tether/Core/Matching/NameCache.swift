internal import Foundation
internal import Synchronization

/// The cache of one center's names, which posts read without a lock.
///
/// Its key is not the name's text but the *bits* of its string, because names are nearly always the same static constants. It has
/// 256 slots, 2 kB, for ever. A name may be in one of four slots side by side, and then at most four times: in
/// different strings with the same text. It also has names without observers, so that their posts are cheap.
///
/// An entry is made by a post that has missed, or by the second observer of a name. One that would displace another, or has no
/// observers, or is another string of a name that is in already, is made on each eighth miss only. So a million names, each
/// posted once, hardly displace those that are posted often. An entry is removed when it is displaced, and with
/// its name's last observer. Its node holds it; a removed one is retired as a removed registration is.
///
/// SAFETY: `slots` has `capacity` initialised atomics until `deinit`, each empty or with an entry that its node holds; they
/// are written under the center's lock. The center keeps a removed entry for the posts that may have found it.
@safe final class NameCache: @unchecked Sendable {
    static let capacity = 256
    private static let ways = 4
    private static let shift = UInt64(64 - capacity.trailingZeroBitCount)

    private let slots: UnsafeMutablePointer<Atomic<UnsafeRawPointer?>>
    /// Protected by the center's lock.
    private var misses = 0

    init() {
        unsafe slots = .allocate(capacity: NameCache.capacity)
        for index in 0..<NameCache.capacity { unsafe (slots + index).initialize(to: Atomic(nil)) }
    }

    deinit {
        unsafe slots.deinitialize(count: NameCache.capacity)
        unsafe slots.deallocate()
    }

    /// The entry of a string, not retained.
    @inline(__always)
    func find(_ bits: StringBits) -> Unmanaged<CachedName>? {
        let first = index(of: bits)
        for way in 0..<NameCache.ways {
            guard let known = unsafe slots[first ^ way].load(ordering: .sequentiallyConsistent) else { continue }
            let cached = unsafe Unmanaged<CachedName>.fromOpaque(known)
            if unsafe cached._withUnsafeGuaranteedRef({ $0.bits == bits }) { return unsafe cached }
        }
        return nil
    }

    @inline(__always)
    private func index(of bits: StringBits) -> Int { Int(truncatingIfNeeded: bits.hash >> NameCache.shift) }

    /// Whether a name that was missed, and has no place of its own, is to be inserted.
    func admits() -> Bool {
        misses &+= 1
        return misses % 8 == 0
    }

    /// Whether a string can be inserted without displacing another.
    func hasPlace(for bits: StringBits) -> Bool { freeSlot(for: bits) != nil }

    private func freeSlot(for bits: StringBits) -> Int? {
        let first = index(of: bits)
        return (0..<NameCache.ways).map { first ^ $0 }.first { unsafe slots[$0].load(ordering: .relaxed) == nil }
    }

    /// Inserts an entry, and returns the one that this displaced, if there is no free slot.
    func insert(_ cached: CachedName) -> CachedName? {
        let slot = freeSlot(for: cached.bits) ?? index(of: cached.bits) ^ (misses / 8 % NameCache.ways)
        // SAFETY: a node holds the entry in a slot.
        let old = unsafe slots[slot].load(ordering: .relaxed)
        unsafe slots[slot].store(Unmanaged.passUnretained(cached).toOpaque(), ordering: .sequentiallyConsistent)
        return unsafe old.map { unsafe Unmanaged<CachedName>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Removes an entry.
    func remove(_ cached: CachedName) {
        let first = index(of: cached.bits)
        // SAFETY: only addresses are compared.
        let address = unsafe UnsafeRawPointer(Unmanaged.passUnretained(cached).toOpaque())
        for way in 0..<NameCache.ways where unsafe slots[first ^ way].load(ordering: .relaxed) == address {
            unsafe slots[first ^ way].store(nil, ordering: .sequentiallyConsistent)
        }
    }
}

/// An entry of the cache: a string, its name's node, and the notification of a post of that name alone, made once.
///
/// SAFETY: the node holds its entries; posts that have found an entry find the node too, see `NameCache`.
@safe final class CachedName: @unchecked Sendable {
    let bits: StringBits
    /// Has the string, so that no other string gets its bits.
    let withoutPayload: StoredNotification
    let node: Unmanaged<NameNode>

    init(name: Notification.Name, node: NameNode) {
        bits = StringBits(name.rawValue)
        withoutPayload = StoredNotification(Notification(name: name))
        unsafe self.node = .passUnretained(node)
    }
}

/// The bits of a string: a small one's characters, or where a large one is stored.
///
/// As long as one of two strings is kept, equal bits mean equal strings. A literal's bits are its address: its library is not
/// to be unloaded (contract M1).
struct StringBits: Equatable {
    private let low: UInt64
    private let high: UInt64

    @inline(__always)
    init(_ string: String) {
        // SAFETY: a string is 16 bytes where pointers have 64 bits, and 12 elsewhere, which the cast checks; they are
        // compared, never read through.
        #if _pointerBitWidth(_64)
        (low, high) = unsafe unsafeBitCast(string, to: (UInt64, UInt64).self)
        #else
        // SAFETY: as above.
        let words = unsafe unsafeBitCast(string, to: (UInt32, UInt32, UInt32).self)
        (low, high) = (UInt64(words.0) | UInt64(words.1) << 32, UInt64(words.2))
        #endif
    }

    @inline(__always)
    var hash: UInt64 { (low ^ (high &* 0xC2B2_AE3D_27D4_EB4F)) &* 0x9E37_79B9_7F4A_7C15 }
}
