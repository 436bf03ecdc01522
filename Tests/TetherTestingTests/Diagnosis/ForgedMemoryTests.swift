import Foundation
import Testing
import Tether

@testable import TetherTesting

/// Memory that resembles an object, as freed and reused memory may.
@Suite struct ForgedMemoryTests {
    /// The contents of an apparent object, whose forged metadata begins three words before its
    /// address.
    private func contents(_ metadata: [UInt]) -> HeapObject.Contents? {
        let metadata = Words(metadata)
        let object = Words([metadata.address + 24] + [UInt](repeating: 0, count: 63))
        return HeapObject(address: object.address).contents()
    }

    // Swift Testing describes the values of a failed expectation, which would crash for forged
    // types. So only truth values are compared.

    private func isType(_ address: UInt) -> Bool { RuntimeType(found: address) != nil }

    private func isObject(_ metadata: [UInt]) -> Bool { contents(metadata) != nil }

    private final class Object: @unchecked Sendable { var other: Object? }

    @Test func `L3 memory that leads nowhere is not followed`() {
        for address: UInt in [0, 1, 8, 4096, 0x7FFF_FFFF_FFF8, .max - 7, .max] {
            #expect(!isObject([0, 0, 0, address]))
            let isNothing = HeapObject(address: address).contents() == nil
            #expect(isNothing)
            #expect(!isType(address))
            #expect(Memory.bytes(at: address, count: 8) == nil)
            #expect(Memory.relative(at: address) == nil)
        }
        #expect(Memory.isReadable)
        let object = Object()
        let references = HeapObject(object).contents()?.references.count
        #expect(references == 0)
    }

    @Test func `L3 a word in the place of a type is read as a type only after a proof`() {
        struct Value { var object: Object? }
        enum Choice {
            case object(Object)
            case none
        }
        for type in [
            Object.self, Value.self, Choice.self, Object?.self, [Object].self, String.self,
        ] as [Any.Type] {
            #expect(isType(RuntimeType(type).metadata), "\(type)")
        }
        for kind: UInt in [
            0, 0x200, 0x201, 0x202, 0x203, 0x300, 0x301, 0x302, 0x303, 0x304, 0x306, 0x400, 0x500,
        ] {
            for fill: UInt in [0, 1, 63, .max, 0x8000_0000_0000_0000] {
                var forged = [UInt](repeating: fill, count: 24)
                forged[3] = kind
                let words = Words(forged)
                #expect(!isType(words.address + 24), "kind \(kind), fill \(fill)")
                withExtendedLifetime(words) {}
            }
        }
        #expect(
            TypeLayout.existential.references(in: ([0, 0, 0, 0x1234_5678] as [UInt]).bytes).isEmpty)
    }

    @Test func `L3 a closure's context is read, also where the memory behind it cannot be`() throws
    {
        let object = Object()
        let handler = handler(holding: object, and: 5)
        let context = try #require(ReferencePath.roots(.plain(handler)).first).object.address
        let (page, size) = (sysconf(Int32(_SC_PAGESIZE)), 32)
        // SAFETY: two pages of our own; the second is unmapped; the context has `size` bytes.
        let start = try unsafe #require(
            mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        #expect(unsafe munmap(start + page, page) == 0)
        let copy = unsafe start + page - size
        unsafe copy.copyMemory(from: UnsafeRawPointer(bitPattern: context)!, byteCount: size)
        let references = HeapObject(address: UInt(bitPattern: copy)).contents()?.references
        #expect(references?.map(\.object) == [HeapObject(object)])
        #expect(unsafe munmap(start, page) == 0)
        withExtendedLifetime(handler) {}
    }
}

/// A handler whose context holds an object and a number.
private func handler(holding first: any AnyObject & Sendable, and second: Int)
    -> @Sendable (Notification) -> Void
{
    { _ in print(first, second) }
}
