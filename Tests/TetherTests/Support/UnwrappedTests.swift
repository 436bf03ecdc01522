import Testing

@testable import Tether

/// What the first words of metadata and the bits of references say, those of other platforms included.
@Suite struct UnwrappedTests {
    private final class Object {}

    @Test func `M4 classes of every runtime are classes, and no other kind is`() {
        // Swift's, Core Foundation's, Objective-C's, and the addresses that stand for a kind in Objective-C's classes.
        for kind: UInt in [0, 0x203, 0x305, 0x800, 0x7FFF_8000_1000] { #expect(Unwrapped.isClass(kind: kind)) }
        for kind in Array(0x200...0x202) + [0x204] + Array(0x300...0x304) + [0x306, 0x307, 0x400, 0x401, 0x7FF]
            as [UInt]
        {
            #expect(!Unwrapped.isClass(kind: kind), "\(kind)")
        }
    }

    @Test func `X1 O1 a value that is stored in a reference is recognised by its highest or lowest bit`() {
        for bits: UInt in [1 << 63, 0x8000_0000_0000_0010, 0xB000_0000_0000_0002, 1, 0x127] {
            #expect(ObjectArgument.isTagged(bits))
        }
        for bits: UInt in [0x10, 0x6000_0123_4560, 0x7FFF_FFFF_FFF0] { #expect(!ObjectArgument.isTagged(bits)) }
        for _ in 0..<100 {
            let object = Object()
            #expect(!ObjectArgument.isTagged(unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())))
        }
    }
}
