/// The bits of a string: a small one's characters, or where a large one is stored.
///
/// As long as one of two strings is kept, equal bits mean equal strings; names are nearly always the same static
/// constants, so that equal names mostly have equal bits. A literal's bits are its address: its library is not to be unloaded
/// (contract [M1](doc:Contract#M1)).
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
