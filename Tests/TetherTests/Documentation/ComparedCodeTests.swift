#if os(Linux)

import Foundation
import Testing

/// The code in the comparisons with other libraries, as a user's compiler sees it.
@Suite struct ComparedCodeTests {
    private static let pages = ["FromCombine", "FromRxSwift", "ComingFromLRNotificationObserver"]

    /// Code that callers do not write.
    private static let words: Set = [
        "deinit", "AsyncSequence", "map", "filter", "combineLatest", "throttle", "debounce",
    ]

    /// The statements of a row's last cell.
    private func statements(ofRow row: Substring) throws -> [String] {
        let cell = row.split(separator: "|").last.map(String.init) ?? ""
        let code = cell.replacing(/``[^`]*``/, with: "").matches(of: /`([^`]+)`/).map {
            String($0.1)
        }
        return try code.filter { !ComparedCodeTests.words.contains($0) }.map { code in
            let code = code.replacing("…", with: "").replacing(
                ".operationQueue(queue)", with: ".operationQueue(operations)")
            let call = code.prefix { $0.isLetter }
            switch (call, code.hasSuffix("}")) {
            case ("center", _), ("token", _), ("var", _), ("let", _): return code
            case ("observe", true), ("connect", _): return "center.\(code)"
            case ("observe", false): return "center.\(code) { _, _ in }"
            case ("owner", _): return "center.observe(name, \(code)) { _, _ in }"
            case ("on", _), ("once", _), ("from", _), ("backlog", _):
                return "_ = center.observe(name, \(code)) { _ in }"
            case ("", _) where code == ".verifiesNoLeaks": return "let _: NoLeaksTrait = \(code)"
            default:
                let isUnknown: String? = nil
                return try #require(isUnknown, "What is `\(code)`?")
            }
        }
    }

    @Test func `P3 the code in the tables of other libraries compiles`() throws {
        var (source, count) = ("", 0)
        for page in ComparedCodeTests.pages {
            let file = Package.root.appending(path: "Sources/Tether/Tether.docc/\(page).md")
            let lines = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() where line.hasPrefix("| `") {
                let statements = try statements(ofRow: line)
                count += statements.count
                source += "#sourceLocation(file: \"\(page).md\", line: \(index + 1))\n"
                source +=
                    "func row\(source.count)() { \(statements.joined(separator: "; ")) }\n#sourceLocation()\n"
            }
        }
        #expect(count > 35)
        let found = try errors(in: source)
        #expect(found == "")
        // A mistake is seen.
        let wrong = try statements(ofRow: "| `dispose()` | `token.stopp()` |").joined()
        #expect(try errors(in: "func wrong() { \(wrong) }\n").contains("no member 'stopp'"))
    }

    private func errors(in rows: String) throws -> String {
        let source = """
            final class Target: Sendable { func action() {} }
            final class Owner: Sendable { func action() {} }

            final class Observing: @unchecked Sendable {
                let (name, operations) = (Notification.Name("name"), OperationQueue())
                let (owner, target, object) = (Owner(), Target(), Model())
                var token: NotificationObserver!

            \(rows)
            }

            """
        let text = try Compiler(mode: 6, options: [], importingTests: true)
            .diagnostics(of: DocumentedCodeTests.imports + DocumentedCodeTests.world + source)
        return text.split(separator: "\n").filter { $0.contains(" error: ") && !$0.hasPrefix(" ") }
            .joined(separator: "\n")
    }
}

#endif
