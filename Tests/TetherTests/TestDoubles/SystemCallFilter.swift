#if os(Linux) && (arch(x86_64) || arch(arm64))

import Foundation

/// Refuses a system call to the calling thread from now on, as a sandbox does. For processes of
/// exit tests.
enum SystemCallFilter {
    #if arch(x86_64)
    static let membarrier: UInt32 = 324
    static let futex: UInt32 = 202
    static let processMemoryRead: UInt32 = 310
    #else
    static let membarrier: UInt32 = 283
    static let futex: UInt32 = 98
    static let processMemoryRead: UInt32 = 270
    #endif

    /// An instruction of the kernel's filter machine (`struct sock_filter`).
    private struct Instruction {
        let code: UInt16
        let ifTrue: UInt8
        let ifFalse: UInt8
        let operand: UInt32

        private init(_ code: UInt16, _ operand: UInt32, ifFalse: UInt8 = 0) {
            (self.code, ifTrue, self.ifFalse, self.operand) = (code, 0, ifFalse, operand)
        }

        static func load(at offset: UInt32) -> Instruction { .init(0x20, offset) }
        static func mask(_ operand: UInt32) -> Instruction { .init(0x54, operand) }
        static func give(_ operand: UInt32) -> Instruction { .init(0x06, operand) }
        static func skip(_ count: UInt8, unlessEqual operand: UInt32) -> Instruction {
            .init(0x15, operand, ifFalse: count)
        }
    }

    @unsafe private struct Program {
        let count: UInt16
        let instructions: UnsafePointer<Instruction>
    }

    private typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32

    /// Makes a call fail with an error: always, or if some bits of an argument have a value.
    static func refuse(
        _ call: UInt32, where argument: (number: UInt32, mask: UInt32, value: UInt32)? = nil,
        with error: Int32
    ) {
        let look: [Instruction] =
            argument.map {
                // Number and architecture of the call, the caller's address, and the arguments.
                [.load(at: 16 + 8 * $0.number), .mask($0.mask), .skip(1, unlessEqual: $0.value)]
            } ?? []
        let program: [Instruction] =
            [.load(at: 0), .skip(UInt8(look.count) + 1, unlessEqual: call)] + look
            + [.give(0x0005_0000 | UInt32(error)), .give(0x7FFF_0000)]
        // SAFETY: `prctl` reads its arguments as words.
        let control = unsafe unsafeBitCast(dlsym(nil, "prctl"), to: Control.self)
        unsafe program.withUnsafeBufferPointer { instructions in
            var program = unsafe Program(
                count: UInt16(instructions.count), instructions: instructions.baseAddress!)
            let (noNewPrivileges, setFilter, filterMode): (Int32, Int32, UInt) = (38, 22, 2)
            guard control(noNewPrivileges, 1, 0, 0, 0) == 0,
                unsafe withUnsafePointer(
                    to: &program, { control(setFilter, filterMode, UInt(bitPattern: $0), 0, 0) })
                    == 0
            else { fatalError("SystemCallFilter: refused, \(errno)") }
        }
    }
}

#endif
