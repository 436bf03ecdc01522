#if os(Linux)

import Foundation
import Testing

/// What an editor shows behind a center, in the editor's order.
@Suite struct CompletionTests {
    private func entries(behind receiver: String) throws -> [String] {
        let source = """
            import Foundation
            import Tether

            func use(_ center: ObserverCenter, _ token: NotificationObserver) {
                \(receiver).
            """
        return try LanguageServer.completion(of: source, compiler: Compiler()).map(\.description)
    }

    /// Most functions have two entries: without the arguments that may be left out, and with them.
    @Test func `a center completes to few entries, and to the traps of connect last`() throws {
        let entries = try entries(behind: "center")
        #expect(entries.contains { $0.hasPrefix("observe(name: Notification.Name?, owner: ") })
        let traps = entries.suffix(4)
        #expect(traps.allSatisfy { $0.hasPrefix("connect(") && $0.contains("-> Method") })
        let others = entries.dropLast(4)
        #expect(!others.contains { $0.contains("callTheMethod") || $0.contains("nonsending") })
        #expect(others.count > 40 && others.count <= 87, "\(others.count): \(others)")
    }

    @Test func `a token completes to its own members, and to no call that does not compile`()
        throws
    {
        let entries = try entries(behind: "token")
        #expect(entries.contains("cancel()"))
        #expect(!entries.contains { $0.hasPrefix("stop") })
    }
}

#endif
