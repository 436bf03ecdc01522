internal import Foundation
internal import Synchronization

/// The cache of one center's names. Posts read the cache without a lock.
///
/// Its keys are the *bits* of strings, not their text, because nearly all names are static
/// constants. The cache has 256 slots, 2 kB, from the center's first post on. A string has four
/// possible slots; a name has up to four cached strings. The cache also has names without
/// observers, so posts of such names are cheap.
///
/// An entry is made by a post that misses, and for the second observer of a name: the first makes
/// the node. Some entries are made on each eighth miss only: a displacing entry, an entry without
/// observers, and another string of a cached name. So a million names, each posted once, rarely
/// displace frequent names. An entry is removed when another displaces it, when its name gets a
/// fifth string and it is the oldest, and with its name's last observer. The node retains its
/// entries. A removed entry is retired like a removed registration.
///
/// SAFETY: `slots` has `capacity` initialised atomics until `deinit`, each empty or with an entry
/// that its node retains; the center's lock protects writes. The center keeps removed entries for
/// posts that may have found them.
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

    @inline(__always)
    func find(_ bits: StringBits) -> Unmanaged<CachedName>? {
        let first = index(of: bits)
        for way in 0..<NameCache.ways {
            guard let known = unsafe slots[first ^ way].load(ordering: .sequentiallyConsistent)
            else { continue }
            let cached = unsafe Unmanaged<CachedName>.fromOpaque(known)
            if unsafe cached._withUnsafeGuaranteedRef({ $0.bits == bits }) { return unsafe cached }
        }
        return nil
    }

    @inline(__always)
    private func index(of bits: StringBits) -> Int {
        Int(truncatingIfNeeded: bits.hash >> NameCache.shift)
    }

    /// Counts a miss, and returns whether the miss is an eighth one.
    func countMiss() -> Bool {
        misses &+= 1
        return misses % 8 == 0
    }

    /// Whether a string can be inserted without displacing another string.
    func hasPlace(for bits: StringBits) -> Bool { freeSlot(for: bits) != nil }

    private func freeSlot(for bits: StringBits) -> Int? {
        let first = index(of: bits)
        return (0..<NameCache.ways).map { first ^ $0 }.first {
            unsafe slots[$0].load(ordering: .relaxed) == nil
        }
    }

    /// Inserts an entry. Returns the displaced entry if there was no free slot.
    func insert(_ cached: CachedName) -> CachedName? {
        let slot =
            freeSlot(for: cached.bits) ?? index(of: cached.bits) ^ (misses / 8 % NameCache.ways)
        // SAFETY: a node retains the entry in a slot.
        let old = unsafe slots[slot].load(ordering: .relaxed)
        unsafe slots[slot].store(
            Unmanaged.passUnretained(cached).toOpaque(), ordering: .sequentiallyConsistent)
        return unsafe old.map { unsafe Unmanaged<CachedName>.fromOpaque($0).takeUnretainedValue() }
    }

    func remove(_ cached: CachedName) {
        let first = index(of: cached.bits)
        // SAFETY: only addresses are compared.
        let address = unsafe UnsafeRawPointer(Unmanaged.passUnretained(cached).toOpaque())
        for way in 0..<NameCache.ways
        where unsafe slots[first ^ way].load(ordering: .relaxed) == address {
            unsafe slots[first ^ way].store(nil, ordering: .sequentiallyConsistent)
        }
    }
}

/// An entry of the cache: a string, the name's node, and the notification of a post without
/// payload, made once.
/// SAFETY: the node retains its entries; a post that has found an entry also finds the node, see
/// `NameCache`.
@safe final class CachedName: @unchecked Sendable {
    let bits: StringBits
    /// Retains the string, so no other string gets the same bits.
    let withoutPayload: StoredNotification
    let node: Unmanaged<NameNode>

    init(name: Notification.Name, node: NameNode) {
        bits = StringBits(name.rawValue)
        withoutPayload = StoredNotification(Notification(name: name))
        unsafe self.node = .passUnretained(node)
    }
}

/// The bits of a string: the characters of a small string, or the address of a large string.
///
/// While one of two strings is kept, equal bits mean equal strings. The bits of a literal are its
/// address, so its library must not be unloaded (contract M1).
struct StringBits: Equatable {
    private let low: UInt64
    private let high: UInt64

    @inline(__always)
    init(_ string: String) {
        // SAFETY: a string has 16 bytes with 64-bit pointers, and 12 bytes elsewhere; the cast
        // checks the size. The bits are compared, never read through.
        #if _pointerBitWidth(_64)
        (low, high) = unsafe unsafeBitCast(string, to: (UInt64, UInt64).self)
        #else
        // SAFETY: the cast checks the size; the bits are only compared.
        let words = unsafe unsafeBitCast(string, to: (UInt32, UInt32, UInt32).self)
        low = UInt64(words.0) | UInt64(words.1) << 32
        high = UInt64(words.2)
        #endif
    }

    @inline(__always)
    var hash: UInt64 { (low ^ (high &* 0xC2B2_AE3D_27D4_EB4F)) &* 0x9E37_79B9_7F4A_7C15 }
}
