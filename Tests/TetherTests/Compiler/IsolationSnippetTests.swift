#if os(Linux)

import Foundation
import Testing

/// Isolation in a user's code in Swift 6 mode: statements that compile, and statements that must
/// fail.
@Suite struct IsolationSnippetTests {
    private static let preamble = """
        import Dispatch
        import Foundation
        import Tether

        final class Unsafe { var count = 0 }

        @MainActor final class Window {
            var title = ""
            func changed(_ notification: Notification) { title = "changed" }
            func closed() { title = "closed" }
            nonisolated func anywhere(_ notification: Notification) {}
        }

        @globalActor actor Kitchen { static let shared = Kitchen() }

        @Kitchen final class Stove {
            var heat = 0
            func changed(_ notification: Notification) { heat += 1 }
            func closed() { heat = 0 }
        }

        final class QueueExecutor: SerialExecutor {
            private let queue = DispatchQueue(label: "executor")

            func enqueue(_ job: consuming ExecutorJob) {
                let job = UnownedJob(job)
                queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            }
        }

        actor Index {
            private let executor = QueueExecutor()
            nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
            var generation = 0
            func changed(_ notification: Notification) { generation += 1 }
            func closed() { generation = 0 }
            nonisolated func anywhere(_ notification: Notification) {}

            init(_ center: ObserverCenter) {
                center.observe(nil, owner: self) { index, note in index.changed(note) }
            }

            func observe(_ center: ObserverCenter) {
                center.observe(nil, owner: self) { (index: isolated Index, note) in index.generation += 1 }
            }
        }

        func use(
            _ center: ObserverCenter, _ small: some NotifyingCenter, _ window: Window, _ stove: Stove, _ index: Index,
            _ sender: Index, _ optional: Index?, _ name: Notification.Name
        ) {

        """

    /// The compiler's messages for each of some statements.
    private func diagnostics(of statements: [String]) throws -> [String] {
        let text = try Compiler().diagnostics(
            of: IsolationSnippetTests.preamble
                + statements.enumerated().map { index, statement in
                    "#sourceLocation(file: \"Statements.swift\", line: \(1000 + index))\ndo { \(statement) }\n"
                }.joined() + "#sourceLocation()\n}\n")
        // The rest of the file has no diagnostics.
        #expect(!text.contains("Snippet.swift:"), "\(text)")
        return statements.indices.map { index in
            text.split(separator: "\n").filter { line in
                line.contains("Statements.swift:\(1000 + index):")
            }.joined(separator: "\n")
        }
    }

    private func expectSilence(
        _ statements: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for (statement, text) in zip(statements, try diagnostics(of: statements)) {
            #expect(text == "", "\(statement)", sourceLocation: sourceLocation)
        }
    }

    private func expectErrors(
        _ statements: [(String, because: String)], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for (statement, text) in zip(statements, try diagnostics(of: statements.map(\.0))) {
            #expect(
                text.contains("error:") && text.contains(statement.because),
                "\(statement.0)\n\(text)",
                sourceLocation: sourceLocation)
        }
    }

    @Test func `P3 P1 every form of a main-actor handler compiles without a warning`() throws {
        try expectSilence([
            "let a = center.observe(name, on: .mainActor) { [window] note in window.changed(note) }; a.cancel()",
            "center.observe(name, owner: window, on: .mainActor) { window, note in window.title = note.name.rawValue }",
            "center.observe(name, from: sender, owner: window, on: .mainActor, once: true, key: 1) { window, _ in window.closed() }",
            "center.observe(name, owner: window, on: .mainActor) { [weak window] _, _ in window?.title = \"\" }",
            "center.connect(name, to: Window.changed, of: window, on: .mainActor)",
            "center.connect(name, to: Window.closed, of: window, on: .mainActor)",
            "center.connect(name, to: Window.changed, of: window)",
            "center.connect(name, to: Window.closed, of: window)",
            "center.connect(name, to: Window.anywhere, of: window)",
            "center.connect(name, to: Window.closed, of: window, owner: index, once: true, key: 1)",
            "small.connect(name, to: Window.changed, of: window)",
            "small.observe(name, owner: window, on: .mainActor) { window, note in window.changed(note) }",
            "center.observe(name, owner: index, on: .mainActor) { _, _ in MainActor.assertIsolated() }",
        ])
    }

    @Test func `P3 P2 every form of an actor's handler compiles without a warning`() throws {
        try expectSilence([
            "center.observe(name, owner: index) { (index: isolated Index, note) in index.generation += 1 }",
            "center.observe(name, owner: index) { index, note in index.generation += 1 }",
            "center.observe(name, owner: index) { $0.changed($1) }",
            "center.observe(nil, from: sender, owner: index, once: true, key: 1) { index, _ in index.closed() }",
            "let token = center.observe(name, owner: index) { index, _ in index.closed() }; token.mute(); token.unmute()",
            "small.observe(name, owner: index) { (index: isolated Index, note) in index.changed(note) }",
            "center.connect(name, to: Index.anywhere, of: index)",
            "center.observe(name, owner: index, on: .main) { index, note in index.anywhere(note) }",
            "center.observe(name, owner: index) { _, note in print(note.name) }",
        ])
    }

    @Test func `P3 a handler that uses an actor's state outside its isolation does not compile`()
        throws
    {
        try expectErrors([
            (
                "center.observe(name, owner: index, on: .main) { index, _ in index.generation += 1 }",
                "actor-isolated"
            ),
            (
                "center.observe(name, owner: index, on: .postingThread) { index, note in index.changed(note) }",
                "actor-isolated"
            ),
            ("center.observe(name, owner: index) { _, _ in index.closed() }", "actor-isolated"),
            (
                "center.observe(name, owner: index) { [sender] _, _ in sender.closed() }",
                "actor-isolated"
            ),
            (
                "center.observe(name, owner: index, on: .mainActor) { index, _ in index.closed() }",
                "actor-isolated"
            ),
            (
                "center.observe(name, owner: index) { [window] _, _ in window.closed() }",
                "main actor-isolated"
            ),
            ("_ = center.observe(name) { _ in index.closed() }", "actor-isolated"),
            (
                "center.connect(name, to: Index.changed, of: index)",
                "call an actor's method in a closure"
            ),
            (
                "center.connect(name, to: Index.closed, of: index)",
                "call an actor's method in a closure"
            ),
        ])
    }

    @Test func `P3 a main-actor handler elsewhere does not compile`() throws {
        try expectErrors([
            (
                "_ = center.observe(name, on: .dispatchQueue(DispatchQueue(label: \"\"))) { @MainActor note in }",
                "@MainActor"
            ),
            (
                "center.observe(name, owner: window, on: .dispatchQueue(.main)) { @MainActor (_: Notification) in }",
                "@MainActor"
            ),
            (
                "center.observe(name, owner: window) { @MainActor window, note in window.changed(note) }",
                "@MainActor"
            ),
            (
                "center.observe(name, owner: window) { window, note in window.changed(note) }",
                "main actor-isolated"
            ),
            (
                "center.observe(name, owner: window, on: .main) { window, _ in window.title = \"\" }",
                "main actor-isolated"
            ),
            (
                "center.connect(name, to: Stove.changed, of: stove, on: .mainActor)",
                "cannot convert function actor-isolated to 'Kitchen'"
            ),
            (
                "center.observe(name, owner: stove, on: .mainActor) { stove, _ in stove.closed() }",
                "Kitchen"
            ),
        ])
    }

    @Test func `P1 a method of another actor does not compile, however the name is written`() throws
    {
        // The compiler tries the methods in another order for each.
        let names = [
            "nil", ".some(name)", ".init(\"x\")", "Notification.Name(\"x\")",
            ".init(rawValue: \"x\" + \"y\")",
        ]
        try expectErrors(
            names.flatMap { name in
                [
                    "center.connect(\(name), to: Stove.changed, of: stove)",
                    "center.connect(\(name), from: sender, to: Stove.closed, of: stove, owner: index, on: .main)",
                    "center.connect(\(name), to: Window.closed, of: window, on: .main)",
                    "small.connect(\(name), from: sender, to: Stove.changed, of: stove, once: true, key: 1)",
                ].map { ($0, because: "callTheMethodInAClosureOfObserve") }
            })
    }

    @Test func `P3 a capture that is not Sendable does not compile for another actor's handler`()
        throws
    {
        let captured = [
            "let value = Unsafe(); center.observe(name, owner: index) { _, _ in value.count += 1 }",
            "let value = Unsafe(); _ = center.observe(name, on: .main) { _ in value.count += 1 }",
            "let value = Unsafe(); center.observe(name, owner: window) { _, _ in value.count += 1 }",
            "var number = 0; center.observe(name, owner: index) { _, _ in number += 1 }; print(number)",
        ]
        try expectErrors(
            captured.map { ($0, because: $0.hasPrefix("var") ? "captured var" : "non-Sendable") })
    }

    @Test func `P3 a capture compiles if only the main actor uses it from then on, else not`()
        throws
    {
        let captured = [
            "let value = Unsafe(); _ = center.observe(name, on: .mainActor) { _ in value.count += 1 }",
            "let value = Unsafe(); center.observe(name, owner: window, on: .mainActor) { _, _ in value.count += 1 }",
        ]
        try expectSilence(captured)
        let mutating =
            "var number = 0; _ = center.observe(name, on: .mainActor) { _ in number += 1 }"
        try expectErrors(
            captured.map { ($0 + "; value.count += 1", because: "risks causing data races") }
                + [(mutating + "; print(number)", because: "risks causing data races")])
    }
}

#endif
