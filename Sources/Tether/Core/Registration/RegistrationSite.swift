/// The line that registers an observer, in two words, because each registration stores it.
/// SAFETY: the file's name is a literal's, which stays.
@safe struct RegistrationSite: @unchecked Sendable {
    /// The file's name, with a zero at its end; `nil` if unknown.
    let fileName: UnsafePointer<UInt8>?
    private let lineNumber: UInt32

    init(file: StaticString, line: UInt) {
        unsafe fileName = file.hasPointerRepresentation ? file.utf8Start : nil
        lineNumber = UInt32(clamping: line)
    }

    var file: String { unsafe fileName.map { unsafe String(cString: $0) } ?? "" }
    var line: Int { Int(lineNumber) }
}

/// A call in the program: its file, its line and the function, for the sentence that refuses an
/// argument.
package struct CallSite: Sendable {
    private let file: StaticString
    private let line: UInt
    private let call: StaticString

    package init(_ file: StaticString, _ line: UInt, call: StaticString = #function) {
        self.file = file
        self.line = line
        self.call = call
    }

    /// The file of a call that does not know the line of its caller, because its parameters are
    /// Foundation's.
    static var unknownFile: StaticString { "unknown" }

    static func unknown(call: StaticString) -> CallSite { CallSite(unknownFile, 0, call: call) }

    var registrationSite: RegistrationSite { RegistrationSite(file: file, line: line) }

    /// Stops the program with the place of the call, and not of this line.
    func refuse(_ sentence: String) -> Never {
        fatalError(
            "\("\(call)".replacing("fileID:line:", with: "")): \(sentence)", file: file, line: line)
    }
}
