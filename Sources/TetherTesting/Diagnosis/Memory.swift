internal import CProcessMemory

/// The memory of this process, copied in a way that can fail: an address that leads nowhere gives `nil`, not a crash.
///
/// On Linux the kernel copies (`process_vm_readv`); it answers with an error where a load would end the process. Where
/// that is forbidden, and on other platforms, nothing can be read. Each copy is a system call.
enum Memory {
    /// How much is copied at once at most.
    static let limit = 1 << 20

    /// Whether anything can be read at all.
    static let isReadable: Bool = {
        let probe: UInt = 0x7E7E_1234
        return unsafe withUnsafePointer(to: probe) { load(UInt.self, at: UInt(bitPattern: $0)) == probe }
    }()

    /// Copies bytes from an address, as many as can be read; `nil` if none can.
    static func prefix(at address: UInt, count: Int) -> [UInt8]? {
        guard address >= 4096, count >= 0, count <= limit, address <= .max - UInt(count) else { return nil }
        // SAFETY: at most `count` bytes are written into the buffer; the kernel checks the address that it reads from.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = unsafe tether_read_memory(address, buffer.baseAddress, count)
        }
        return bytes.isEmpty && count > 0 ? nil : bytes
    }

    /// Copies bytes from an address, all or none.
    static func bytes(at address: UInt, count: Int) -> [UInt8]? {
        prefix(at: address, count: count).flatMap { $0.count == count ? $0 : nil }
    }

    /// Copies a number from an address.
    static func load<Number: BitwiseCopyable>(_ type: Number.Type, at address: UInt) -> Number? {
        bytes(at: address, count: MemoryLayout<Number>.size)?.load(type, at: 0)
    }

    /// The address that a 32-bit offset, stored at an address, leads to.
    static func relative(at address: UInt) -> UInt? {
        guard let offset = load(Int32.self, at: address), offset != 0 else { return nil }
        return address &+ UInt(bitPattern: Int(offset))
    }
}

extension [UInt8] {
    /// A number that begins at an offset; `nil` if it is not whole.
    func load<Number: BitwiseCopyable>(_ type: Number.Type, at offset: Int) -> Number? {
        guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return nil }
        // SAFETY: in bounds, and every pattern of bits is a number.
        return unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
}
