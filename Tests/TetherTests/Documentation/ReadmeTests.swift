import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification
import XCTest

// A copy of the snippets of the README and of the guides. The last tests compare the README with the
// copy, and with a run.

extension Notification.Name {
    fileprivate static let modelDidChange = Self("modelDidChange")
    fileprivate static let modelDidClose = Self("modelDidClose")
    fileprivate static let needsRedraw = Self("needsRedraw")
}

/// On the main thread, as the code of main.swift is.
final class ReadmeXCTests: XCTestCase {
    final class Model: Sendable {}

    @MainActor final class Sidebar {
        private(set) var reloads = 0

        init(model: Model, center: ObserverCenter = .default) {
            center.observe(.modelDidChange, from: model, owner: self, on: .mainActor) {
                sidebar, note in
                sidebar.reload(note)
            }
            center.connect(.modelDidClose, to: Sidebar.clear, of: self)
        }

        func reload(_ note: Notification) { reloads += 1 }
        func clear() { reloads = 0 }
    }

    func testO3R1D6TheProgramOfGettingStartedPrintsWhatItsPageSays() {
        MainActor.assumeIsolated {
            let printed = Log<String>()
            @Sendable func print(_ value: Any) { printed.add("\(value)") }
            let center = ObserverCenter()
            let model = Model()
            var sidebar: Sidebar? = Sidebar(model: model, center: center)
            center.post(name: .modelDidChange, object: model)
            print(sidebar?.reloads ?? 0)
            sidebar = nil
            print(center.audit())
            let token = center.observe(.modelDidChange) { note in
                print(note.name.rawValue)
            }
            center.post(name: .modelDidChange, object: nil)
            token.cancel()
            let work = DispatchQueue(label: "work")
            let log = center.observe(.modelDidChange, on: .dispatchQueue(work)) { note in
                print("logged: \(note.name.rawValue)")
            }
            center.post(name: .modelDidChange, object: nil)
            work.sync {}
            log.target = .main
            XCTAssertEqual(
                printed.entries, ["1", "no observers", "modelDidChange", "logged: modelDidChange"])
            print(center.audit())
            XCTAssert(printed.entries.last?.contains("  main\n1 observer") == true)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct ReadmeTests {
    typealias Model = ReadmeXCTests.Model
    typealias Sidebar = ReadmeXCTests.Sidebar

    final class Controller: Sendable {
        let log: Log<Notification.Name>

        init(log: Log<Notification.Name>) {
            self.log = log
        }

        func reload(_ note: Notification) { log.add(note.name) }
    }

    actor Index {
        private let ping: AsyncStream<String>.Continuation
        var generation = 0 { didSet { ping.yield("generation \(generation)") } }

        init(_ ping: AsyncStream<String>.Continuation) { self.ping = ping }

        func rebuild() { ping.yield("rebuilt") }
    }

    @Test @MainActor
    func `O1 P1 O3 the README's sidebar is called on the main actor and leaves nothing`()
        async
    {
        let (center, model) = (ObserverCenter(), Model())
        var sidebar: Sidebar? = Sidebar(model: model, center: center)
        center.post(name: .modelDidChange, object: model)
        center.post(name: .modelDidChange, object: Model())
        await mainQueueIsServed()
        #expect(sidebar?.reloads == 1)
        center.post(name: .modelDidClose, object: nil)
        await mainQueueIsServed()
        #expect(sidebar?.reloads == 0)
        #expect(center.audit().count == 2)
        sidebar = nil
        #expect(center.audit().isEmpty)
    }

    @Test func `P2 P4 the pages' actor is called on itself and asynchronously`() async {
        let (center, (events, ping)) = (ObserverCenter(), AsyncStream<String>.makeStream())
        let index = Index(ping)
        center.observe(.modelDidChange, owner: index) { (index: isolated Index, note) in
            index.generation += 1
        }
        center.observe(.modelDidClose, owner: index, once: true) { index, note in
            await index.rebuild()
        }
        center.post(name: .modelDidChange, object: nil)
        center.post(name: .modelDidClose, object: nil)
        var seen: Set<String> = []
        for await event in events.prefix(2) { seen.insert(event) }
        #expect(seen == ["generation 1", "rebuilt"])
    }

    @Test @MainActor
    func `F1 the README's observer of a system notification is called on the main actor`() async {
        let (model, center) = (Model(), ObserverCenter())
        let sidebar = Sidebar(model: model, center: center)
        NotificationCenter.default.observe(
            UserDefaults.didChangeNotification, owner: sidebar, on: .mainActor
        ) { sidebar, note in
            sidebar.reload(note)
        }
        NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: nil)
        await mainQueueIsServed()
        #expect(sidebar.reloads > 0)
        withExtendedLifetime(model) {}
    }

    @Test func `O13 S2 the README's loop reloads its sidebar until the sidebar ends`()
        async
    {
        let (center, log) = (ObserverCenter(), Log<Notification.Name>())
        do {
            let sidebar = Controller(log: log)
            center.notifications(named: .modelDidChange).observe(owner: sidebar) { sidebar, note in
                sidebar.reload(note)
            }
            center.post(name: .modelDidChange, object: nil)
            while log.entries.isEmpty { await Task.yield() }
        }
        while !center.audit().isEmpty { await Task.yield() }
        #expect(log.entries == [.modelDidChange])
    }

    @Test @MainActor
    func `O12 O13 O14 the README's loop, task and timer begin and end with their sidebar`() async {
        final class Ticker: Sendable {
            let log: Log<String>
            init(_ log: Log<String>) { self.log = log }
            func cancel() { log.add("cancelled") }
        }
        @MainActor final class Sidebar {
            private let log: Log<String>

            init(_ titles: AsyncStream<String>, _ timer: Ticker, _ log: Log<String>) {
                self.log = log
                titles.observe(owner: self) { sidebar, title in sidebar.show(title) }
                Task(owner: self) { [weak self] in await self?.refresh() }
                OwnerLifetime.whenEnded(self) { timer.cancel() }
            }

            func show(_ title: String) { log.add(title) }
            func refresh() async { log.add("refreshed") }
            deinit { log.add("deinit") }
        }
        let log = Log<String>()
        let (titles, input) = AsyncStream.makeStream(of: String.self)
        let ended = AsyncGate()
        input.onTermination = { _ in ended.open() }
        var sidebar: Sidebar? = Sidebar(titles, Ticker(log), log)
        input.yield("title")
        while log.entries.count < 2 { await Task.yield() }
        #expect(Set(log.entries) == ["title", "refreshed"])
        sidebar = nil
        await ended.pass()
        while log.entries.count < 4 { await Task.yield() }
        #expect(Set(log.entries.suffix(2)) == ["cancelled", "deinit"])
        withExtendedLifetime(sidebar) {}
    }

    @Test @MainActor
    func `R11 the page's shutdown handles the waiting deliveries and ends all observers`() async {
        let (center, work) = (ObserverCenter(), DispatchQueue(label: "work"))
        let (model, log) = (Model(), Log<Notification.Name>())
        let sidebar = Sidebar(model: model, center: center)
        let token = center.observe(.modelDidChange, on: .dispatchQueue(work)) { note in
            log.add(note.name)
        }
        work.suspend()
        center.post(name: .modelDidChange, object: model)
        work.resume()
        @MainActor func shutDown(_ sidebar: Sidebar) async {
            await token.finish()
            await OwnerObservers(of: sidebar).finish()
            await center.finish()
        }
        await shutDown(sidebar)
        #expect(log.entries == [.modelDidChange])
        #expect(sidebar.reloads == 1)
        #expect(center.audit().isEmpty)
        withExtendedLifetime(model) {}
    }

    @Test @MainActor func `Q3 the page's redraw is posted once`() {
        let (view, log) = (Model(), Log<Notification.Name>())
        let token = ObserverCenter.default.observe(.needsRedraw, from: view) { note in
            log.add(note.name)
        }
        PostingQueue.main.enqueue(
            Notification(name: .needsRedraw, object: view), postingStyle: .whenIdle)
        PostingQueue.main.enqueue(
            Notification(name: .needsRedraw, object: view), postingStyle: .whenIdle)
        PostingQueue.main.flush()
        #expect(log.entries == [.needsRedraw])
        withExtendedLifetime(token) {}
    }

    // MARK: Before and after

    /// The README's sidebar over Foundation's calls.
    enum Before {
        final class Sidebar: @unchecked Sendable {
            private var token: (any NSObjectProtocol)?

            init(model: Model) {
                token = NotificationCenter.default.addObserver(
                    forName: .modelDidChange, object: model, queue: nil
                ) { [weak self] note in self?.reload(note) }
            }

            deinit { if let token { NotificationCenter.default.removeObserver(token) } }

            func reload(_ note: Notification) {}
        }
    }

    @MainActor private final class After {
        private(set) var reloads = 0

        init(model: Model, center: ObserverCenter) {
            center.observe(.modelDidChange, from: model, owner: self, on: .mainActor) {
                sidebar, note in
                sidebar.reload(note)
            }
        }

        func reload(_ note: Notification) { reloads += 1 }
    }

    @Test @MainActor func `O2 the README's sidebars before and after are deallocated`() async {
        let (center, model) = (ObserverCenter(), Model())
        var before: Before.Sidebar? = Before.Sidebar(model: model)
        var after: After? = After(model: model, center: center)
        NotificationCenter.default.post(name: .modelDidChange, object: model)
        center.post(name: .modelDidChange, object: model)
        await mainQueueIsServed()
        #expect(after?.reloads == 1)
        weak let weakBefore = before
        weak let weakAfter = after
        (before, after) = (nil, nil)
        #expect(weakBefore == nil && weakAfter == nil)
        #expect(center.audit().isEmpty)
    }

    // MARK: The page

    #if os(Linux)
    @MainActor private final class CountView {
        private(set) var count = 0

        /// The planted leak of the example `Notes`.
        init(center: ObserverCenter) {
            center.observe(.modelDidChange, owner: self, on: .mainActor) { _, _ in
                self.count += 1
            }
        }
    }

    @Test @MainActor
    func `L2 L3 the README and its recording show the failure that is printed`() async throws {
        let center = ObserverCenter()
        let leaks = await findLeaks(limits: .init(releaseWait: .milliseconds(100))) {
            _ = CountView(center: center)
        }
        // The example's place, in place of this file's.
        let notes = try text("Examples/Notes/Notes.swift").components(separatedBy: "\n")
        let line = try #require(
            notes.firstIndex { $0.contains("owner: self, on: .mainActor) { _, _ in") })
        let sentence = "\(try #require(leaks.first))"
            .replacing(#/TetherTests/ReadmeTests.swift:\d+ \(modelDidChange\)/#) { _ in
                "Notes/Notes.swift:\(line + 1) (notebookDidChange)"
            }
        #expect(try words(of: text("README.md")).contains(words(of: sentence)))
        let recording = try text("Sources/TetherTesting/TetherTesting.docc/leak-test.svg")
        #expect(
            words(of: recording.replacing(#/<[^>]*>/#, with: " ")).contains(words(of: sentence)))
        // The observer's handler holds the view.
        center.removeObservers(named: .modelDidChange)
    }

    private func text(_ file: String) throws -> String {
        try String(contentsOf: Package.root.appending(path: file), encoding: .utf8)
    }

    /// The text with a space between two words, wherever its lines break.
    private func words(of text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test func `the README holds the code of this file`() throws {
        let here = URL(filePath: #filePath)
        let readme = try String(
            contentsOf: Package.root.appending(path: "README.md"), encoding: .utf8)
        let section = Package.root.appending(
            path: "Tests/TetherTestingTests/ReadmeSectionTests.swift")
        let sources = try [here, section].map { try String(contentsOf: $0, encoding: .utf8) }
        let code = DocumentedCode.withoutSpaces(sources.joined())
        let blocks = readme.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        let lines = blocks.filter { !$0.contains(".package(") }.flatMap {
            $0.split(separator: "\n").map(String.init).filter { !DocumentedCode.isImport($0) }
                .map(DocumentedCode.withoutSpaces)
        }
        #expect(lines.count > 20)
        #expect(lines.filter { !$0.isEmpty && !code.contains($0) } == [])
    }
    #endif

    /// Returns when the main queue has delivered all earlier posts: nothing overtakes there (D4).
    private func mainQueueIsServed() async {
        let center = ObserverCenter()
        var last: NotificationObserver?
        await withCheckedContinuation { continuation in
            last = center.observe(.sample, on: .main, once: true) { _ in continuation.resume() }
            center.post(name: .sample, object: nil)
        }
        await last?.cancelAndWait()
    }
}
