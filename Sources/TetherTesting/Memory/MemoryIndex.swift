internal import CProcessMemory
internal import Tether

/// The words of the process that lead to chunks of the allocator, by the chunk to which they lead.
///
/// The index is made at once, and read word by word later: `places(leadingTo:)` returns only words
/// that still are the address. See MemoryIndex.c for its structure, GlibcHeap.c for the layout of
/// the heap.
///
/// Cost: about 130 milliseconds for 100 MB of memory in a debug build, and 1.3 seconds for 1 GB.
@safe final class MemoryIndex {
    private let index: OpaquePointer

    /// `nil` on platforms other than Linux with glibc, with another allocator, where memory cannot
    /// be read, and after the limit.
    init?(limit: Duration) {
        guard Memory.isReadable else { return nil }
        let (seconds, attoseconds) = min(max(limit, .zero), .seconds(1_000_000)).components
        let nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
        let probe = Probe()
        guard let index = unsafe tether_memory_index_make(nanoseconds) else { return nil }
        unsafe self.index = index
        guard finds(probe) else { return nil }
    }

    // SAFETY: made once, and used only by methods of this object, which the caller holds.
    deinit { unsafe tether_memory_index_free(index) }

    // MARK: The check of itself

    /// An object that holds another one.
    private final class Probe {
        let held = Held()
        final class Held {}
    }

    /// Whether the index has a holder that is known.
    private func finds(_ probe: Probe) -> Bool {
        let holder = HiddenAddress(HeapObject(probe).address)
        let held = HiddenAddress(HeapObject(probe.held).address)
        return places(leadingTo: held).contains { place in
            guard case .used(let chunk, _) = chunk(around: place) else { return false }
            return chunk == holder
        }
    }

    // MARK: Asking

    /// The greatest number of places that lead to one chunk.
    static let placeLimit = 4096

    /// The places of the words that are the address of a chunk now.
    func places(leadingTo chunk: HiddenAddress) -> [HiddenAddress] {
        let limit = MemoryIndex.placeLimit
        // SAFETY: at most `limit` places are written.
        let found = unsafe [UInt](unsafeUninitializedCapacity: limit) { buffer, count in
            let all = unsafe tether_memory_index_find(
                index, chunk.complement, buffer.baseAddress!, limit)
            count = min(limit, all)
        }
        return found.map(HiddenAddress.init(complement:))
    }

    enum Chunk {
        case none
        case free
        case used(HiddenAddress, size: Int)
    }

    /// The chunk of the allocator around a place.
    func chunk(around place: HiddenAddress) -> Chunk {
        var chunk: UInt = 0
        var size = 0
        let state = unsafe tether_memory_index_chunk(index, place.complement, &chunk, &size)
        switch state {
        case tether_chunk_used: return .used(HiddenAddress(complement: chunk), size: size)
        case tether_chunk_free: return .free
        default: return .none
        }
    }

    struct Region {
        let start: HiddenAddress
        let end: HiddenAddress
        let isMainStack: Bool

        func contains(_ place: HiddenAddress) -> Bool { start <= place && place < end }
    }

    /// The mapping around a place.
    func region(around place: HiddenAddress) -> Region? {
        var start: UInt = 0
        var end: UInt = 0
        let kind = unsafe tether_memory_index_region(index, place.complement, &start, &end)
        if kind == tether_region_none { return nil }
        return Region(
            start: HiddenAddress(complement: start), end: HiddenAddress(complement: end),
            isMainStack: kind == tether_region_main_stack)
    }

    struct Thread {
        let number: Int
        let descriptor: HiddenAddress
    }

    /// The threads that ran when the index was made.
    lazy var threads: [Thread] = {
        let limit = 512
        // SAFETY: at most `limit` threads are written.
        let found = unsafe [tether_thread](unsafeUninitializedCapacity: limit) { buffer, count in
            count = unsafe tether_memory_index_threads(index, buffer.baseAddress!, limit)
        }
        return found.map { thread in
            Thread(
                number: Int(thread.number),
                descriptor: HiddenAddress(complement: thread.descriptor))
        }
    }()
}

/// An address, stored as its complement. Otherwise the search would find its own variables.
struct HiddenAddress: Hashable, Comparable {
    let complement: UInt

    init(complement: UInt) {
        self.complement = complement
    }

    init(_ address: UInt) {
        complement = ~address
    }

    /// The address itself, for the moment of a use.
    var address: UInt { ~complement }

    static func < (one: HiddenAddress, other: HiddenAddress) -> Bool {
        one.complement > other.complement
    }

    static func + (address: HiddenAddress, offset: Int) -> HiddenAddress {
        HiddenAddress(complement: address.complement &- UInt(bitPattern: offset))
    }

    static func - (one: HiddenAddress, other: HiddenAddress) -> Int {
        Int(bitPattern: other.complement &- one.complement)
    }

    /// A word of an object, by its number.
    func word(_ index: Int) -> UInt? { Memory.load(UInt.self, at: (self + index * 8).address) }
}
