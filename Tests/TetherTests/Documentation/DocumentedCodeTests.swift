#if os(Linux)

import Foundation
import Testing

/// The code in the README, the articles and the comments, as a user's compiler sees it.
@Suite struct DocumentedCodeTests {
    static let imports = """
        import Dispatch
        import Foundation
        import Observation
        import Tether
        import TetherTesting
        import TetherVerification
        import Testing

        """

    /// Declares the names and objects of the code.
    static let world = """
        extension Notification.Name {
            static let modelDidChange = Notification.Name("modelDidChange")
            static let modelDidOpen = Notification.Name("modelDidOpen")
            static let modelDidClose = Notification.Name("modelDidClose")
            static let needsRedraw = Notification.Name("needsRedraw")
            static let downloadDidEnd = Notification.Name("downloadDidEnd")
        }

        final class Ticker: Sendable { func cancel() {} }

        final class Model: Sendable {
            var title: String { "" }
            func insert(_ row: Int) {}
            func rename(_ name: String) {}
        }

        final class Document: Sendable {}
        final class Download: Sendable {}
        final class View: Sendable {}

        final class Catalog: Sendable {
            func update(_ note: Notification) {}
            func fill(_ note: Notification) {}
            func reload() {}
            func refresh() async {}
            func search(_ text: String) async -> String { text }
        }

        @Sendable func turnPage() {}

        final class Controller: Sendable { func modelDidChange(_ note: Notification) {} }

        actor Store { func keep(_ message: DownloadDidEnd) {} }

        actor Library {
            func add(_ message: DownloadDidEnd) {}
            func save() {}
        }

        actor Index {
            var generation = 0
            func close(_ note: Notification) {}
            func rebuild() {}
        }

        struct DownloadDidEnd: NotificationCenter.AsyncMessage { typealias Subject = Download }
        struct ModelDidChange: NotificationCenter.MainActorMessage { typealias Subject = Model }
        struct DidRename: NotificationCenter.MainActorMessage {
            typealias Subject = Document
            let title: String
        }

        extension NotificationCenter.MessageIdentifier
        where Self == NotificationCenter.BaseMessageIdentifier<DownloadDidEnd> { static var didEnd: Self { .init() } }
        extension NotificationCenter.MessageIdentifier
        where Self == NotificationCenter.BaseMessageIdentifier<ModelDidChange> { static var didChange: Self { .init() } }

        final class Bus: Sendable {
            func subscribe(
                to name: Notification.Name?, from sender: AnyObject?, _ handler: @escaping @Sendable (Notification) -> Void
            ) -> Int { 0 }
            func unsubscribe(_ id: Int) {}
        }

        let (center, work, queue) = (ObserverCenter(), DispatchQueue(label: "work"), DispatchQueue(label: "queue"))
        let (titles, timer) = (AsyncStream<String>.makeStream().stream, Ticker())
        let (model, document, download, view, rows) = (Model(), Document(), Download(), View(), 1...3)
        let (catalog, controller, store, library, index) = (Catalog(), Controller(), Store(), Library(), Index())
        @MainActor var token = center.observe(nil) { _ in }

        """

    /// The usual sidebar.
    private static let sidebar = """
        @MainActor let sidebar = Sidebar()

        @MainActor final class Sidebar {
            func show(_ title: String) {}
            func refresh() async {}
            var title = ""
            func reload(_ note: Notification) {}
            func show(_ message: ModelDidChange) {}
            func modelDidChange(_ note: Notification) {}
            func clear() {}
        }

        """

    /// A sidebar with more, for tests.
    private static let sidebarOfTests = """
        let sidebar = Sidebar(center: center)

        final class Sidebar: Sendable {
            var reloads: Int { 0 }
            init(model: Model = Model(), center: ObserverCenter = .default) {}
            func reload() {}
            func close() {}
        }

        final class Window: Sendable {
            let sidebar: Sidebar
            init(center: ObserverCenter) { sidebar = Sidebar(center: center) }
            func close() {}
        }

        func openAndCloseADocument() {}

        """

    private func errors(in source: String, mode: Int = 6, isMain: Bool = false) throws -> String {
        let text = try Compiler(mode: mode, importingTests: true)
            .diagnostics(of: DocumentedCodeTests.imports + source, isMain: isMain)
        return text.split(separator: "\n").filter { $0.contains(" error: ") && !$0.hasPrefix(" ") }
            .joined(separator: "\n")
    }

    private func file(of blocks: [DocumentedCode]) throws -> String {
        let standIn = Package.root.appending(path: "Tests/AppleStandIns/UIKit/UIKit.swift")
        return try blocks.enumerated().map { $1.part(number: $0) }.joined()
            + String(contentsOf: standIn, encoding: .utf8)
    }

    @Test func `P3 the documentation's code compiles in Swift 6 mode, without methods in 5 mode`()
        throws
    {
        let blocks = try DocumentedCode.all()
        #expect(blocks.count > 70)
        let steps = blocks.filter(\.isStep)
        #expect(steps.count > 4)
        #expect(try errors(in: steps.map(\.located).joined(), isMain: true) == "")
        let others = blocks.filter { !$0.standsAlone && !$0.isStep }
        for block in blocks where block.standsAlone && !block.isStep {
            #expect(try errors(in: block.located) == "")
        }
        let (ofTests, ofPrograms) = (others.filter(\.isOfTests), others.filter { !$0.isOfTests })
        #expect(ofTests.count > 10 && ofPrograms.count > 40)
        let (world, sidebar) = (DocumentedCodeTests.world, DocumentedCodeTests.sidebar)
        let foundInPrograms = try errors(in: world + sidebar + file(of: ofPrograms))
        #expect(foundInPrograms == "")
        let foundInTests = try errors(
            in: world + DocumentedCodeTests.sidebarOfTests + file(of: ofTests))
        #expect(foundInTests == "")
        // Methods are not connected in Swift 5 mode.
        let withoutMethods = ofPrograms.filter { !$0.connectsMethods }
        #expect(withoutMethods.count > 30)
        let foundInSwift5 = try errors(in: world + sidebar + file(of: withoutMethods), mode: 5)
        #expect(foundInSwift5 == "")
        // A mistake is seen.
        let wrong = DocumentedCode(file: "Wrong.md", line: 7, lines: ["token.stopp()"])
        #expect(try errors(in: world + sidebar + wrong.part(number: 0)).hasPrefix("Wrong.md:7:"))
    }
}

#endif
