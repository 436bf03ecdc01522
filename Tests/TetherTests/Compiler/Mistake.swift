import Foundation
import Testing

/// A program, and the compiler's words for it.
///
/// A file of programs has the words below each program, indented:
///
///     # The token
///
///     center.observe(name) { _ in }
///         warning: result of call to 'observe(
///     async | token.cancelAndWait()
///         is not marked with 'await'
///
/// `async` and `@MainActor` are for the function around the program. `Swift 6` leaves the program
/// out of Swift 5 mode.
struct Mistake: Sendable, CustomTestStringConvertible {
    let program: String
    let words: String
    /// The declaration of the function around the program, before and behind its parameters.
    let function: (before: String, after: String)
    let isOfSwift6: Bool

    init(_ program: String, _ words: String, options: String? = nil) {
        self.program = program
        self.words = words
        isOfSwift6 = options == "Swift 6" || options == "async"
        switch options {
        case "async": function = ("func", " async")
        case "@MainActor": function = ("@MainActor func", "")
        default: function = ("func", "")
        }
    }

    var testDescription: String { program }

    /// The programs of a file in the folder of this file.
    static func all(in file: String) throws -> [Mistake] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        var mistakes: [Mistake] = []
        var program: Substring?
        for line in text.split(separator: "\n") where !line.hasPrefix("# ") {
            guard line.hasPrefix("    ") else {
                try #require(program == nil, "no words for \(program ?? "")")
                program = line
                continue
            }
            let whole = try #require(program, "words without a program: \(line)")
            program = nil
            mistakes.append(Mistake(whole, words: line.dropFirst(4)))
        }
        try #require(program == nil)
        return mistakes
    }

    private init(_ line: Substring, words: Substring) {
        let options = ["async", "@MainActor", "Swift 6"].first { line.hasPrefix($0 + " | ") }
        let program = options.map { line.dropFirst($0.count + 3) } ?? line
        self.init(String(program), String(words), options: options)
    }
}
