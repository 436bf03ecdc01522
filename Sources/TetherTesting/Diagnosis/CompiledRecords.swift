internal import Tether

/// The records of the compiler in the images of this process. A word found in memory counts as a
/// type only if the type's descriptor is among the records.
struct CompiledRecords {
    private static let known = Locked(CompiledRecords())

    /// Whether an address is the descriptor of a class, a struct or an enum.
    static func isTypeDescriptor(_ address: UInt) -> Bool { any { $0.types.contains(address) } }

    /// Whether an address is in a list of capture descriptors.
    static func isCaptureDescriptor(_ address: UInt) -> Bool {
        any { records in records.captures.contains { $0.contains(address) } }
    }

    /// Whether a check holds, if need be after reading the images loaded since the last check.
    private static func any(_ holds: (borrowing CompiledRecords) -> Bool) -> Bool {
        known.withLock { records in
            holds(records) || (records.update() && holds(records))
        }
    }

    private var images = 0
    private var types: Set<UInt> = []
    private var captures: [Range<UInt>] = []

    /// Reads the records again if an image was loaded; false without a new image.
    private mutating func update() -> Bool {
        #if canImport(ObjectiveC)
        return false
        #else
        var images: [Sections] = []
        // SAFETY: the runtime calls the function for each image, with the given context, before the
        // call returns.
        unsafe withUnsafeMutablePointer(to: &images) { images in
            unsafe enumerateSections(
                { sections, context in
                    let images = unsafe context.assumingMemoryBound(to: [Sections].self)
                    if let sections = Sections(sections) { unsafe images.pointee.append(sections) }
                    return true
                }, images)
        }
        guard images.count != self.images else { return false }
        self.images = images.count
        types = Set(images.flatMap(\.typeDescriptors))
        captures = images.map(\.captures)
        return true
        #endif
    }
}

#if !canImport(ObjectiveC)
/// The sections of one image that the search reads, in the runtime's list (`MetadataSections.h`).
private struct Sections {
    private let types: Range<UInt>
    let captures: Range<UInt>

    init?(_ list: UInt) {
        // Later versions have only appended sections.
        guard let version = Memory.load(UInt.self, at: list), version >= 1,
            let types = Sections.range(at: list &+ 64),
            let captures = Sections.range(at: list &+ 192)
        else { return nil }
        self.types = types
        self.captures = captures
    }

    private static func range(at address: UInt) -> Range<UInt>? {
        guard let start = Memory.load(UInt.self, at: address),
            let count = Memory.load(UInt.self, at: address &+ 8),
            count <= .max - start
        else { return nil }
        return start..<start + count
    }

    /// The descriptors in the records. A record is a 32-bit offset, whose lowest bits say whether
    /// the offset leads to the descriptor or to the descriptor's address.
    var typeDescriptors: [UInt] {
        guard let bytes = Memory.bytes(at: types.lowerBound, count: types.count) else { return [] }
        return stride(from: 0, to: bytes.count - 3, by: 4).compactMap { position in
            guard let offset = bytes.load(Int32.self, at: position) else { return nil }
            let address = types.lowerBound &+ UInt(position) &+ UInt(bitPattern: Int(offset & ~3))
            return offset & 3 == 0
                ? address : offset & 3 == 1 ? Memory.load(UInt.self, at: address) : nil
        }
    }
}

@_silgen_name("swift_enumerateAllMetadataSections")
private func enumerateSections(
    _ body: @convention(c) (UInt, UnsafeMutableRawPointer) -> Bool,
    _ context: UnsafeMutableRawPointer
)
#endif
