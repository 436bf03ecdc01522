#if os(Linux)

import Foundation

/// A block of code in the documentation: in the README, in an article, or in a comment.
struct DocumentedCode: Sendable {
    /// Code without spaces, line breaks and comments, so a page may break lines elsewhere.
    static func withoutSpaces(_ code: String) -> String {
        let lines = code.split(separator: "\n").map { line in
            line.hasPrefix("//") ? "" : line.components(separatedBy: "  //")[0]
        }
        return lines.joined().filter { !$0.isWhitespace }
    }

    /// The file, below the package's folder, and the line of the block's first line.
    let file: String
    let line: Int
    let lines: [String]

    /// All blocks marked as Swift.
    static func all() throws -> [DocumentedCode] {
        let sources = try FileManager.default.subpathsOfDirectory(
            atPath: Package.root.appending(path: "Sources").path
        )
        .filter { $0.hasSuffix(".md") || $0.hasSuffix(".swift") }.sorted().map { "Sources/" + $0 }
        return try (["README.md"] + sources).flatMap { file in
            blocks(
                of: try String(contentsOf: Package.root.appending(path: file), encoding: .utf8),
                in: file)
        }
        // The package manager compiles manifests.
        .filter { block in !block.lines.contains { $0.contains(".package(") } }
    }

    private static func blocks(of text: String, in file: String) -> [DocumentedCode] {
        var blocks: [DocumentedCode] = []
        var open: (line: Int, lines: [String])?
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            let content = uncommented(line)
            if let block = open {
                if content.hasPrefix("```") {
                    blocks.append(DocumentedCode(file: file, line: block.line, lines: block.lines))
                    open = nil
                } else {
                    open?.lines.append(content)
                }
            } else if content == "```swift" {
                open = (index + 2, [])
            }
        }
        return blocks
    }

    /// A line without the slashes of a comment.
    private static func uncommented(_ line: String) -> String {
        let start = line.drop { $0 == " " }
        guard start.hasPrefix("///") else { return line }
        return String(start.dropFirst(start.hasPrefix("/// ") ? 4 : 3))
    }

    /// Whether the block is a declaration, not a list of statements.
    private var isDeclaration: Bool {
        let words = [
            "final class", "class", "struct", "enum", "extension", "func", "init(", "@Test",
            "@Suite", "@MainActor",
        ]
        return words.contains { first.hasPrefix($0) }
    }

    static func isImport(_ line: String) -> Bool {
        line.hasPrefix("import ") || line.hasPrefix("@testable import ")
    }

    private var first: String { code.first { !$0.isEmpty } ?? "" }

    private var code: [String] {
        lines.filter { !DocumentedCode.isImport($0) }
            .map { $0.replacing("…", with: "").replacing("private let", with: "let") }
    }

    /// Whether the block can share a file with other blocks, because it extends none of their
    /// types.
    var standsAlone: Bool { first.hasPrefix("extension Notification.Name") }

    /// Whether the block continues the main.swift of a page that shows one in steps.
    var isStep: Bool { file.hasSuffix("/GettingStarted.md") && !isOfTests }

    var isOfTests: Bool {
        !file.hasPrefix("Sources/Tether/") && file != "README.md"
            || lines.contains { $0.contains("#expect") }
    }

    /// Whether the block names a method for a center to call.
    var connectsMethods: Bool {
        lines.contains { $0.contains(", of: ") }
    }

    var prints: Bool { lines.contains { $0.contains("print(") } }

    /// The block with the line numbers of the page.
    var located: String {
        """
        #sourceLocation(file: "\(file)", line: \(line))
        \(code.joined(separator: "\n"))
        #sourceLocation()

        """
    }

    /// The block as a part of a file, between the code of a user's program, and with the line
    /// numbers of the page.
    func part(number: Int) -> String {
        // The block waits for leaks without `await`, and so does not compile in an async function.
        let isBlocking = lines.contains { $0.contains("Leaks") }
        let (before, after) =
            if first.hasPrefix("extension") || first.hasPrefix("protocol") {
                ("", "")
            } else if first.hasPrefix("init(") {
                ("final class Sidebar\(number): Sendable { func reload() {}", "}")
            } else if isDeclaration {
                ("struct Part\(number) {", "}")
            } else {
                ("extension Sidebar { func part\(number)() \(isBlocking ? "" : "async "){", "} }")
            }
        return """
            \(before)
            \(located)
            \(after)

            """
    }
}

#endif
