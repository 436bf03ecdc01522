#if os(Linux)

import Foundation
import Testing

/// The compiler's messages for users of Tether.
@Suite struct CompilerTests {
    /// The diagnostics of statements in a file with `import Tether`.
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

    @Test func `X2 a token attached to an owner may be discarded, and a token to be kept may not`()
        throws
    {
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

    @Test(arguments: [5, 6])
    func `P4 S1 R2 async calls compile at the top level of main.swift, waits in a task`(
        mode: Int
    ) throws {
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
        // A compiler that chooses the async form reports nothing.
        let text = try compiler.diagnostics(
            of: program + "await there.cancelAndWait()", isMain: true)
        #expect(text.isEmpty || text.contains("at the top level of main.swift, in a task"))
    }

    @Test func `M8 the center cannot be subclassed`() throws {
        let text = try Compiler().diagnostics(of: "import Tether\nclass Mine: ObserverCenter {}")
        #expect(text.contains("error:") && text.contains("final class"))
    }
}

#endif
