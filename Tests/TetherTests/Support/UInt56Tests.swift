import Testing

@testable import Tether

@Suite struct UInt56Tests {
    @Test func `R3 the order of registrations has all that fits into seven bytes`() {
        for value: UInt64 in [0, 1, 0xFFFF_FFFF, 0x1_0000_0000, 0xAB_CDEF_0123_4567, (1 << 56) - 1] {
            #expect(UInt56(value).value == value)
        }
        #expect(MemoryLayout<UInt56>.size == 7)
    }
}
