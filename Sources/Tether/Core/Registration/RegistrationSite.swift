/// Where in the source an observer was registered.
///
/// SAFETY: the name of the file is a literal's, which stays.
@safe struct RegistrationSite: @unchecked Sendable {
    /// The address of the file's name in the lower 48 bits, the line, or the largest that fits, in the upper 16.
    private let bits: UInt64

    init(file: StaticString, line: UInt) {
        self.init(address: unsafe file.hasPointerRepresentation ? UInt(bitPattern: file.utf8Start) : 0, line: line)
    }

    /// A file whose name's address does not fit is not known.
    init(address: UInt, line: UInt) {
        bits = (UInt64(address) >> 48 == 0 ? UInt64(address) : 0) | UInt64(min(line, 0xFFFF)) << 48
    }

    /// The file's name, with a zero at its end; `nil` if it is not known.
    var fileName: UnsafePointer<UInt8>? { unsafe UnsafePointer(bitPattern: UInt(bits & 0xFFFF_FFFF_FFFF)) }

    var file: String { unsafe fileName.map { unsafe String(cString: $0) } ?? "" }

    var line: Int { Int(bits >> 48) }
}
