#if os(Linux)

import Foundation
import Testing

/// The page of the compiler's messages, as a user's compiler sees it.
@Suite struct CompilerMessagesTests {
    /// A heading of the page with the compiler's words, and the lines below it.
    private struct Section {
        /// The words between the types and names of an example.
        let words: [String]
        let wrong: String
        let right: String

        /// Nothing if the section has no lines to compile.
        init?(_ text: String) {
            let spans = text.prefix { $0 != "\n" }.split(separator: "`")
            let lines = text.split(separator: "\n")
            wrong = Section.lines("- ", of: lines)
            right = Section.lines("+ ", of: lines)
            guard let message = spans.first, !wrong.isEmpty, !right.isEmpty else { return nil }
            words = message.split(separator: "…").map(String.init)
        }

        private static func lines(_ mark: String, of lines: [Substring]) -> String {
            lines.filter { $0.hasPrefix(mark) }.map { $0.dropFirst(mark.count) }
                .joined(separator: "\n")
        }

        /// Whether a message has the words, in their order.
        func describes(_ message: Substring) -> Bool {
            var rest = message
            for word in words {
                guard let range = rest.range(of: word) else { return false }
                rest = rest[range.upperBound...]
            }
            return true
        }
    }

    private func sections() throws -> [Section] {
        let page = Package.root.appending(
            path: "Sources/Tether/Tether.docc/CompilerMessages.md")
        return try String(contentsOf: page, encoding: .utf8).split(separator: "\n### ").dropFirst()
            .compactMap { Section(String($0)) }
    }

    @Test func `X2 each wrong line of the page reads the words of its heading`() throws {
        let sections = try sections()
        #expect(sections.count > 40)
        let texts = try WrongProgramTests.diagnostics(of: sections.map { Mistake($0.wrong, "") })
        for (section, text) in zip(sections, texts) {
            let isDescribed = text.split(separator: "\n").contains(where: section.describes)
            #expect(isDescribed, "\(section.words)\n\(section.wrong)\n\(text)")
        }
    }

    @Test func `P3 each right line of the page compiles without a warning`() throws {
        let sections = try sections()
        let texts = try WrongProgramTests.diagnostics(of: sections.map { Mistake($0.right, "") })
        for (section, text) in zip(sections, texts) {
            #expect(text == "", "\(section.right)")
        }
    }
}

#endif
