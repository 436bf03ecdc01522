#if os(Linux)

import Foundation
import Testing

/// The calls inside of sentences and tables, as a user's compiler sees them.
@Suite struct InlineCodeTests {
    /// Pages with calls of other libraries, of earlier versions, or that are mistakes on purpose;
    /// and tables that ComparedCodeTests compiles.
    private static let skippedPages = [
        "Contract", "CompilerMessages", "Changes", "Internals", "Decisions", "Misuse",
        "ComingFromLRNotificationObserver", "FromCombine", "FromRxSwift",
    ]

    /// Beginnings of calls that stand alone.
    private static let calls = [
        "center.", "token.", "await center.", "await token.", "OwnerObservers(of:",
        "PostingQueue(", "NotificationCenter.default.", "Audit.", "OwnerLifetime.", "RunLoop.",
        "Task(owner:", "LeakTracker.", "verifyNoLeaks(",
    ]

    /// Beginnings of targets with a parameter.
    private static let targets = [".thread(", ".dispatchQueue(", ".operationQueue("]

    private struct Inline {
        let page: String
        let line: Int
        let code: String
    }

    private func inlineCode() throws -> [Inline] {
        let sources = Package.root.appending(path: "Sources")
        let pages = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
            .filter { $0.hasSuffix(".md") }.sorted()
            .filter { page in
                !InlineCodeTests.skippedPages.contains { page.hasSuffix("/\($0).md") }
            }
        return try (["../README.md"] + pages).flatMap { page in
            let text = try String(contentsOf: sources.appending(path: page), encoding: .utf8)
            return inlineCode(of: text, on: page)
        }
    }

    private func inlineCode(of text: String, on page: String) -> [Inline] {
        var isBlock = false
        var found: [Inline] = []
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("```") { isBlock.toggle() }
            if isBlock { continue }
            // A symbol's link has two marks.
            for match in line.replacing(/``[^`]*``/, with: "").matches(of: /`([^`]+)`/) {
                found.append(Inline(page: page, line: index + 1, code: String(match.1)))
            }
        }
        return found
    }

    /// The statement that a call or an argument stands for; `nil` for other words.
    private func statement(of code: String) -> String? {
        // A name with its labels is no call.
        guard !code.contains(/\((\w+:)+\)/), !code.contains("==") else { return nil }
        let handler =
            code.contains("observe(") ? (code.contains("owner:") ? "_, _ in" : "_ in") : ""
        let code = code.replacing("{ … }", with: "{ \(handler) }").replacing("…", with: "")
            .replacing(".operationQueue(q)", with: ".operationQueue(operations)")
        if code == "Task(owner: self)" { return "\(code) {}" }
        if InlineCodeTests.calls.contains(where: code.hasPrefix) {
            return code.contains(" = ") ? code : "_ = \(code)"
        }
        if InlineCodeTests.targets.contains(where: code.hasPrefix) {
            return "let _: DeliveryTarget = \(code)"
        }
        if ["on: ", "backlog: ", "once: ", "key: "].contains(where: code.hasPrefix),
            code.last != " "
        {
            return "_ = center.observe(name, \(code)) { _ in }"
        }
        if code.hasPrefix("buffering: ") {
            return "_ = center.notifications(named: name, \(code))"
        }
        return code.hasPrefix("enqueue(") ? "PostingQueue.main.\(code)" : nil
    }

    @Test func `P3 the calls inside of sentences and tables compile`() throws {
        var functions = ""
        var count = 0
        for inline in try inlineCode() {
            guard let statement = statement(of: inline.code) else { continue }
            count += 1
            functions += function(statement, number: count, page: inline.page, line: inline.line)
        }
        #expect(count > 40)
        let found = try errors(in: functions)
        #expect(found == "")
        // A mistake is seen. On Linux the main thread has another name.
        let wrong = try #require(statement(of: ".thread(.main, modes: [.default])"))
        let mistake = try errors(in: function(wrong, number: 0, page: "Wrong.md", line: 7))
        #expect(mistake.hasPrefix("Wrong.md:7:"))
    }

    private func function(_ statement: String, number: Int, page: String, line: Int) -> String {
        """
        func statement\(number)() \(statement.contains("await") ? "async " : ""){
        #sourceLocation(file: "\(page)", line: \(line))
        \(statement)
        #sourceLocation()
        }

        """
    }

    private func errors(in functions: String) throws -> String {
        let source = """
            final class Cache: Sendable { static let shared = Cache() }
            let handle = Ticker()

            @MainActor final class Inline {
                let name = Notification.Name("name")
                let note = Notification(name: .modelDidChange)
                let operations = OperationQueue()
                let q = DispatchQueue(label: "q")
                let t = RunLoopThread(name: "t")
                let worker = RunLoopThread(name: "worker")
                let owner = Model()

                func save() async {}

            \(functions)
            }

            """
        let text = try Compiler(mode: 6, importingTests: true)
            .diagnostics(of: DocumentedCodeTests.imports + DocumentedCodeTests.world + source)
        return text.split(separator: "\n").filter { $0.contains(" error: ") && !$0.hasPrefix(" ") }
            .joined(separator: "\n")
    }
}

#endif
