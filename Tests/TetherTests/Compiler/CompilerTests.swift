#if os(Linux)

import Foundation
import Testing

/// What the compiler says to a user of Tether.
@Suite struct CompilerTests {
    /// The diagnostics of statements in a file that imports Tether; each stands on a line of its own, from 1000 on.
    private func diagnostics(of statements: [String]) throws -> String {
        try Compiler().diagnostics(
            of: """
                import Foundation
                import Tether

                final class Owner: Sendable {
                    func changed(_ notification: Notification) {}
                    func closed() {}
                }

                func use(
                    _ center: ObserverCenter, _ owner: Owner, _ sender: Owner, _ optional: Owner?, _ name: Notification.Name
                ) {
                #sourceLocation(file: "Statements.swift", line: 1000)
                \(statements.joined(separator: "\n"))
                #sourceLocation()
                }
                """)
    }

    /// The statements of which the compiler says something.
    private func statements(_ statements: [String], with diagnostic: String) throws -> [String] {
        let text = try diagnostics(of: statements)
        return statements.enumerated().filter { index, _ in
            text.split(separator: "\n").contains {
                $0.contains("Statements.swift:\(1000 + index):") && $0.contains(diagnostic)
            }
        }.map(\.element)
    }

    @Test func `X2 a token that is dropped at once is a warning`() throws {
        let calls = [
            "center.observe(name) { _ in }",
            "center.observe(nil) { _ in }",
            "center.observe(name, from: sender, on: .main, once: true, key: 1) { _ in }",
            "center.observe(name, on: .mainActor) { _ in }",
            "center.addObserver(forName: name, object: nil, queue: nil) { _ in }",
        ]
        #expect(try statements(calls, with: "warning: result of call to") == calls)
        #expect(try statements(calls, with: "error:") == [])
    }

    @Test func `X2 a token that is attached to an owner may be discarded, and one that is kept is none`() throws {
        let text = try diagnostics(
            of: [
                "center.observe(name, owner: owner) { _, _ in }",
                "center.observe(name, from: sender, owner: owner) { _, _ in }",
                "center.observe(nil, owner: owner) { _, _ in }",
                "center.observe(nil, from: sender, owner: owner, on: .main, once: true, key: 1) { _, _ in }",
                "center.observe(name, owner: owner, on: .mainActor) { _, _ in }",
                "center.observe(name, owner: owner, on: .mainActor) { _, _ in }",
                "center.connect(name, to: Owner.changed, of: owner)",
                "center.connect(name, from: sender, to: Owner.closed, of: owner)",
                "let token = center.observe(name) { _ in }",
                "token.cancel()",
                "token.cancelAndWait()",
            ])
        #expect(text == "")
    }

    @Test func `M5 an optional sender does not compile`() throws {
        let calls = [
            "_ = center.observe(name, from: optional) { _ in }",
            "_ = center.observe(name, from: nil) { _ in }",
            "_ = center.observe(nil, from: optional, on: .mainActor) { _ in }",
            "center.observe(name, from: optional, owner: owner) { _, _ in }",
            "center.observe(name, from: optional, owner: owner) { _, _ in }",
            "center.observe(name, from: optional, owner: owner, on: .mainActor) { _, _ in }",
            "center.connect(name, from: optional, to: Owner.changed, of: owner)",
            "center.connect(name, from: optional, to: Owner.closed, of: owner)",
            "center.observe(name, owner: optional) { _, _ in }",
            "center.removeObservers(named: name, from: optional)",
            "center.removeObservers(owner: optional)",
        ]
        #expect(try statements(calls, with: "error:") == calls)
        // The same calls with an object are right, so that the errors are the optional's.
        let mended = calls.map { $0.replacing("optional", with: "sender").replacing("from: nil", with: "from: sender") }
        #expect(try statements(mended, with: "error:") == [])
    }

    @Test func `M5 nil as the sender is an error that says what to write`() throws {
        let calls = [
            "_ = center.observe(name, from: nil) { _ in }",
            "_ = center.observe(nil, from: nil, on: .main, once: true, key: 1) { print($0.name) }",
            "_ = center.observe(name, from: optional) { note in print(note) }",
            "center.observe(name, from: nil, owner: owner) { owner, note in owner.changed(note) }",
            "center.observe(name, from: optional, owner: owner) { _, _ in }",
        ]
        let sentence = "leave out 'from:' to observe any sender, or pass a class instance that is not optional"
        #expect(try statements(calls, with: sentence) == calls)
    }

    @Test func `X1 an observer with a selector is an error that says what to write`() throws {
        let calls = ["center.addObserver(owner, selector: \"changed\", name: name, object: nil)"]
        let sentence =
            "there are no selectors here: 'connect(name, to: Sidebar.changed, of: self)'"
        #expect(try statements(calls, with: sentence) == calls)
    }

    @Test func `R2 waiting does not compile in an asynchronous function`() throws {
        let text = try Compiler().diagnostics(
            of: """
                import Tether
                func use(_ token: NotificationObserver) async { token.cancelAndWait() }
                """)
        #expect(text.contains("marked with 'await'"))
    }

    @Test(arguments: [5, 6])
    func `P4 S1 R2 async calls compile at the top level of main.swift, if waiting is in a task`(mode: Int) throws {
        let program = """
            import Foundation
            import Tether
            final class Owner: Sendable {}
            func save() async {}
            let (center, owner) = (ObserverCenter(), Owner())
            let token = center.observe(nil) { _ in await save() }
            let there = center.observe(nil) { @MainActor _ in await save() }
            center.observe(nil, owner: owner) { _, _ in await save() }
            for await _ in center.notifications(named: .init("name")) { break }
            _ = await Task { await token.cancelAndWait() }.value

            """
        let compiler = try Compiler(mode: mode)
        let silence = try compiler.diagnostics(of: program, isMain: true)
        #expect(silence == "")
        // A compiler that takes the async form has nothing to say.
        let text = try compiler.diagnostics(of: program + "await there.cancelAndWait()", isMain: true)
        #expect(text.isEmpty || text.contains("at the top level of main.swift, in a task"))
    }

    @Test func `M8 the center cannot be subclassed`() throws {
        let text = try Compiler().diagnostics(of: "import Tether\nclass Mine: ObserverCenter {}")
        #expect(text.contains("error:") && text.contains("final class"))
    }
}

#endif
