#if os(Linux)

import Foundation
import Testing

/// The compiler's words for mistakes, at the line of the mistake. WrongPrograms.txt has the programs.
@Suite struct WrongProgramTests {
    static let preamble = """
        import Dispatch
        import Foundation
        import Tether

        final class Model: Sendable {}

        final class Index: Sendable {
            func update(_ note: Notification) {}
            func clear() {}
            func find(_ text: String) {}
            func open(_ note: Notification) throws {}
            func save() {}
            func save(_ note: Notification) {}
            func isEmpty() -> Bool { true }
            func contains(_ note: Notification) -> Bool { true }
        }

        final class Catalog: Sendable {
            func update(_ note: Notification) {}
            func clear() {}
        }

        final class Other: Sendable { func update(_ note: Notification) {} }

        final class Unsafe { var count = 0 }

        struct Value: Sendable { func update(_ note: Notification) {} }

        @MainActor final class Sidebar {
            var title = ""
            func reload(_ note: Notification) {}
            func clear() {}
            func open(_ note: Notification) throws {}
            func load() async {}
        }

        @MainActor protocol Reloading: AnyObject { func reload(_ note: Notification) }

        @globalActor actor Kitchen { static let shared = Kitchen() }

        @Kitchen final class Stove { func heat(_ note: Notification) {} }

        actor Cache {
            func update(_ note: Notification) {}
            func clear() {}
        }

        struct ModelDidSave: NotificationCenter.AsyncMessage { typealias Subject = Model }

        struct SidebarDidMove: NotificationCenter.MainActorMessage { typealias Subject = Sidebar }

        extension NotificationCenter.MessageIdentifier
        where Self == NotificationCenter.BaseMessageIdentifier<ModelDidSave> { static var didSave: Self { .init() } }

        extension NotificationCenter.MessageIdentifier
        where Self == NotificationCenter.BaseMessageIdentifier<SidebarDidMove> { static var didMove: Self { .init() } }

        func save() async {}
        func saveOrFail() async throws {}

        """

    static let parameters = """
        _ center: ObserverCenter, _ token: NotificationObserver, _ name: Notification.Name, _ model: Model, \
        _ optional: Model?, _ catalog: Catalog, _ index: Index, _ other: Other, _ sidebar: Sidebar, _ stove: Stove, _ cache: Cache, \
        _ queue: DispatchQueue, _ operations: OperationQueue
        """

    private static let callItInAClosure = "callTheMethodInAClosureOfObserve"

    /// The compiler's messages for each of some programs. It checks the values sent between
    /// isolations only if no program has another mistake, so programs without a message are compiled
    /// again, apart.
    static func diagnostics(
        of mistakes: [Mistake], preamble: String = preamble, parameters: String = parameters,
        mode: Int = 6,
        options: [String] = [], importingTests: Bool = false
    ) throws -> [String] {
        func compile(_ mistakes: [Mistake]) throws -> [String] {
            try firstDiagnostics(
                of: mistakes, preamble: preamble, parameters: parameters, mode: mode,
                options: options, importingTests: importingTests)
        }
        var texts = try compile(mistakes)
        let silent = texts.indices.filter { texts[$0].isEmpty }
        guard texts.contains(where: { $0.contains("error:") }), !silent.isEmpty else {
            return texts
        }
        for (index, text) in zip(silent, try compile(silent.map { mistakes[$0] })) {
            texts[index] = text
        }
        return texts
    }

    private static func firstDiagnostics(
        of mistakes: [Mistake], preamble: String, parameters: String, mode: Int,
        options: [String], importingTests: Bool
    ) throws -> [String] {
        let functions = mistakes.enumerated().map { index, mistake in
            """
            #sourceLocation(file: "Programs.swift", line: \(firstLine(of: index)))
            \(mistake.function.before) use\(index)(\(parameters))\(mistake.function.after) { \(mistake.program)
            }

            """
        }
        let text = try Compiler(
            mode: mode, options: options, importingTests: importingTests
        ).diagnostics(
            of: preamble + functions.joined() + "#sourceLocation()\n")
        #expect(!text.contains("Snippet.swift:"), "\(text)")
        for silence in [
            "failed to produce diagnostic", "reasonable time", "please submit a bug report",
        ] {
            #expect(!text.contains(silence), "\(text)")
        }
        let messages = text.split(separator: "\n").filter { $0.hasPrefix("Programs.swift:") }
        let ofPrograms = Dictionary(grouping: messages) { message in
            Int(message.dropFirst("Programs.swift:".count).prefix { $0 != ":" })
                .map { $0 / 100 }
        }
        return mistakes.indices.map { index in
            ofPrograms[firstLine(of: index) / 100]?.joined(separator: "\n") ?? ""
        }
    }

    /// A program has at most a hundred lines.
    private static func firstLine(of index: Int) -> Int { 1000 + 100 * index }

    private func expect(_ mistakes: [Mistake], in texts: [String]) {
        for (mistake, text) in zip(mistakes, texts) {
            #expect(text.contains(mistake.words), "\(mistake.program)\n\(text)")
        }
    }

    @Test func `X2 M5 P1 each mistake is reported where it is, in the words of the list`() throws {
        let mistakes = try Mistake.all(in: "WrongPrograms.txt")
        #expect(mistakes.count > 250)
        expect(mistakes, in: try WrongProgramTests.diagnostics(of: mistakes))
    }

    @Test func `X2 mistakes with leak checks are reported in the words of the list`() throws {
        let preamble = """
            import Foundation
            import Tether
            import TetherVerification

            final class Model: Sendable {}

            let name = Notification.Name("name")

            func save() async {}

            """
        let mistakes = try Mistake.all(in: "WrongLeakChecks.txt")
        expect(
            mistakes,
            in: try WrongProgramTests.diagnostics(
                of: mistakes, preamble: preamble, parameters: "_ model: Model", importingTests: true
            ))
    }

    @Test func `P1 P2 T1 remedies compile, and a method's result is discarded`() throws {
        let right = [
            "center.connect(name, to: Index.isEmpty, of: index)",
            "center.connect(name, to: Index.contains, of: index)",
            "center.connect(name, to: Index.save(_:), of: index)",
            "center.observe(name, owner: stove) { @Kitchen stove, note async in stove.heat(note) }",
            "center.observe(for: .didSave, owner: cache) { (cache: isolated Cache, _) in cache.clear() }",
            "center.observe(for: .didSave, owner: cache) { cache, _ in cache.clear() }",
            "center.observe(for: .didSave, owner: cache) { cache, _ in await cache.clear() }",
            "_ = center.addObserver(of: model, for: ModelDidSave.self) { _ in }",
            "_ = center.addObserver(for: SidebarDidMove.self) { _ in }",
            "_ = center.messages(of: model, for: ModelDidSave.self)",
            "}; extension Reloading { func attach(_ center: ObserverCenter, _ name: Notification.Name) "
                + "{ center.observe(name, owner: self, on: .mainActor) { $0.reload($1) } }",
        ].map { Mistake($0, "") }
        #expect(try WrongProgramTests.diagnostics(of: right) == right.map { _ in "" })
    }

    @Test
    func `X2 M5 P1 Swift 5 mode reports each mistake, and there connect takes no method`()
        throws
    {
        let mistakes = try Mistake.all(in: "WrongPrograms.txt").filter { !$0.isOfSwift6 }
        let right = [
            "center.connect(name, to: Index.update, of: index)",
            "center.connect(name, to: Sidebar.clear, of: sidebar)",
        ].map { Mistake($0, WrongProgramTests.callItInAClosure) }
        expect(
            mistakes + right,
            in: try WrongProgramTests.diagnostics(of: mistakes + right, mode: 5))
    }

    /// With the main actor as the default isolation (SE-0466).
    @Test func `P1 P3 default isolation reports mistakes, too, and takes an extension's names`()
        throws
    {
        let preamble = """
            import Foundation
            import Tether

            extension Notification.Name { static let modelDidChange = Notification.Name("modelDidChange") }

            final class Model {}
            final class Sidebar {
                var title = ""
                func reload(_ note: Notification) {}
                func clear() {}
            }

            """
        let parameters =
            "_ center: ObserverCenter, _ model: Model, _ optional: Model?, _ sidebar: Sidebar"
        let right = [
            "center.observe(.modelDidChange, from: model, owner: sidebar, on: .mainActor) { sidebar, note in sidebar.reload(note) }",
            "center.connect(.modelDidChange, from: model, to: Sidebar.clear, of: sidebar)",
            "_ = center.observe(.modelDidChange, on: .mainActor) { _ in sidebar.title = \"\" }",
        ]
        let wrong = [
            Mistake(
                "center.observe(.modelDidChange, owner: sidebar) { sidebar, note in sidebar.reload(note) }",
                "call to main actor-isolated instance method 'reload'"),
            Mistake(
                "center.connect(.modelDidChange, to: Sidebar.clear, of: sidebar, on: .main)",
                WrongProgramTests.callItInAClosure),
            Mistake(
                "_ = center.observe(.modelDidChange, from: optional) { _ in }",
                "'Model?' expected to be an instance of a class"),
            Mistake(
                "center.observe(.modelDidChange, owner: optional) { _, _ in }",
                "value of optional type 'Model?' must be unwrapped"),
        ]
        let texts = try WrongProgramTests.diagnostics(
            of: right.map { Mistake($0, "") } + wrong, preamble: preamble, parameters: parameters,
            options: ["-default-isolation", "MainActor"])
        #expect(texts.prefix(right.count) == right.map { _ in "" }[...])
        expect(wrong, in: Array(texts.dropFirst(right.count)))
    }
}

#endif
