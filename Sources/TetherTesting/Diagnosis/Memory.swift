internal import CProcessMemory

/// Copies of this process's memory. An address that leads nowhere gives `nil`, not a crash.
///
/// On Linux the kernel copies (`process_vm_readv`), and returns an error where a load would end the
/// process. If the call is forbidden, and on other platforms, nothing can be read. Each copy is a
/// system call.
enum Memory {
    /// The greatest number of bytes in one copy.
    static let limit = 1 << 20

    /// Whether anything can be read at all.
    static let isReadable: Bool = {
        let probe: UInt = 0x7E7E_1234
        return unsafe withUnsafePointer(to: probe) {
            load(UInt.self, at: UInt(bitPattern: $0)) == probe
        }
    }()

    /// Copies bytes from an address, as many as can be read; `nil` if none can.
    static func prefix(at address: UInt, count: Int) -> [UInt8]? {
        guard address >= 4096, count >= 0, count <= limit, address <= .max - UInt(count) else {
            return nil
        }
        // SAFETY: at most `count` bytes are written into the buffer; the kernel checks the source
        // address.
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

    /// The address at the end of a 32-bit offset, stored at an address.
    static func relative(at address: UInt) -> UInt? {
        guard let offset = load(Int32.self, at: address), offset != 0 else { return nil }
        return address &+ UInt(bitPattern: Int(offset))
    }
}

extension [UInt8] {
    /// The number at an offset; `nil` if the bytes end within the number.
    func load<Number: BitwiseCopyable>(_ type: Number.Type, at offset: Int) -> Number? {
        guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return nil }
        // SAFETY: the guard checks the bounds; every pattern of bits is a number.
        return unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
}
