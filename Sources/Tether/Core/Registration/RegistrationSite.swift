/// Where in the source an observer was registered.
///
/// SAFETY: the name of the file is a literal's, which stays.
@safe struct RegistrationSite: @unchecked Sendable {
    /// The file's name, with a zero at its end; `nil` if it is not known.
    let fileName: UnsafePointer<UInt8>?
    private let lineNumber: UInt32

    init(file: StaticString, line: UInt) {
        unsafe fileName = file.hasPointerRepresentation ? file.utf8Start : nil
        lineNumber = UInt32(clamping: line)
    }

    var file: String { unsafe fileName.map { unsafe String(cString: $0) } ?? "" }

    var line: Int { Int(lineNumber) }
}
