/// An unsigned integer of seven bytes, which leaves the eighth of a word to another field.
struct UInt56 {
    private let low: UInt32
    private let middle: UInt16
    private let high: UInt8

    /// A value that does not fit stops the program.
    init(_ value: UInt64) {
        low = UInt32(truncatingIfNeeded: value)
        middle = UInt16(truncatingIfNeeded: value >> 32)
        high = UInt8(value >> 48)
    }

    @inline(__always)
    var value: UInt64 { UInt64(low) | UInt64(middle) << 32 | UInt64(high) << 48 }
}
