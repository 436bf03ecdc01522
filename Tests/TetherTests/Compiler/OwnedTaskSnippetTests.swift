#if os(Linux)

import Testing

/// The compiler's diagnostics for a user's tasks, loops and closures of owners.
@Suite struct OwnedTaskSnippetTests {
    private static let program = """
        import Foundation
        import Observation
        import Tether

        @globalActor actor Kitchen { static let shared = Kitchen() }

        @MainActor @Observable final class Model { var title = "" }

        final class NotSendable { var count = 0 }

        @MainActor final class Sidebar {
            var title = ""
            var content = NotSendable()
            func show(_ title: String) { self.title = title }
            func load(_ title: String) async { self.title = title }
            func loadAll() async throws {}

            func watch(_ model: Model, _ titles: AsyncStream<String>, _ lines: AsyncThrowingStream<String, any Error>) {
                Observations { model.title }.observe(owner: self) { sidebar, title in sidebar.show(title) }
                titles.observe(owner: self) { sidebar, title in sidebar.title = title }
                titles.observe(owner: self) { sidebar, title in await sidebar.load(title) }
                titles.observe(owner: self) { @MainActor sidebar, title in sidebar.show(title) }
                let loop = lines.observe(owner: self) { sidebar, line in sidebar.show(line) }
                Task(owner: self) { try await loop.value }
                Task(owner: self) { self.title = "" }
                Task(owner: self, name: "load", priority: .low) { [weak self] in await self?.load("") }
                Task(owner: self) { try await self.loadAll() }
                Task(owner: self) { [content] in content.count += 1 }
                Task(owner: self, key: "load") { [weak self] in await self?.load("") }
                titles.observe(owner: self, key: 1) { sidebar, title in sidebar.show(title) }
                OwnerLifetime.whenEnded(self) { print("ended") }
                OwnerLifetime.whenEnded(self) { @MainActor [content] in content.count += 1 }
                let clear: @MainActor () -> Void = { print("cleared") }
                OwnerLifetime.whenEnded(self, clear)
                OwnerLifetime.whenEnded(self, Sidebar.closeAll)
            }

            static func closeAll() {}
        }

        actor Index {
            var entries: [String] = []
            func add(_ entry: String) { entries.append(entry) }

            func watch(_ titles: AsyncStream<String>) {
                titles.observe(owner: self) { (index: isolated Index, title) in index.entries.append(title) }
                titles.observe(owner: self) { $0.add($1) }
                titles.observe(owner: self) { index, title in await index.add(title) }
                Task(owner: self) { self.add("") }
                OwnerLifetime.whenEnded(self) {}
            }
        }

        nonisolated final class Library: Sendable {
            func save() async {}
            func saved(_ title: String) {}
        }

        nonisolated func use(
            _ center: ObserverCenter, _ titles: AsyncStream<String>, _ sidebar: Sidebar, _ library: Library,
            _ owner: NotSendable
        ) async {
            titles.observe(owner: library) { library, title in library.saved(title) }
            titles.observe(owner: sidebar) { @MainActor sidebar, title in sidebar.show(title) }
            titles.observe(owner: library) { @Kitchen library, title in library.saved(title) }
            titles.observe(owner: library) { await keep($0, $1) }
            titles.map { $0.count }.observe(owner: library) { library, count in print(count) }
            center.notifications(named: nil).observe(owner: library) { library, note in
                print(note.name.rawValue)
                await library.save()
            }
            center.notifications(named: nil).observe(owner: sidebar) { @MainActor sidebar, note in
                sidebar.title = note.name.rawValue
            }
            let value: Int = await Task(owner: library) { 1 }.value
            await titles.observe(owner: library) { _, _ in }.value
            Task(owner: owner) { print(value) }
            OwnerLifetime.whenEnded(owner) {}
        }

        @Sendable nonisolated func keep(_ library: Library, _ title: String) async {}

        """

    @Test(
        arguments: [5, 6],
        [
            [], ["-enable-upcoming-feature", "NonisolatedNonsendingByDefault"],
            ["-default-isolation", "MainActor"],
        ])
    func `P3 O12 O13 work of owners compiles in each language mode and isolation`(
        mode: Int, options: [String]
    ) throws {
        let text = try Compiler(mode: mode, options: options).diagnostics(
            of: OwnedTaskSnippetTests.program)
        #expect(text == "")
    }

    /// An actor that starts work in its `init`, before a last line.
    private static func startingInInit(before last: String) -> String {
        """
        import Tether

        actor Index {
            var entries: [String] = []

            init(_ titles: AsyncStream<String>) {
                titles.observe(owner: self) { (index: isolated Index, title) in index.entries.append(title) }
                titles.observe(owner: self) { index, _ in await index.clear() }
                Task(owner: self) { [weak self] in await self?.clear() }
                OwnerLifetime.whenEnded(self) {}
                \(last)
            }

            func clear() { entries = [] }
        }
        """
    }

    @Test func `O12 P2 an actor starts work in the last lines of its init`() throws {
        let compiled = try Compiler().diagnostics(
            of: OwnedTaskSnippetTests.startingInInit(before: ""))
        #expect(compiled == "")
        let refused = try Compiler().diagnostics(
            of: OwnedTaskSnippetTests.startingInInit(before: "entries = []"))
        #expect(
            refused.contains("cannot access property 'entries' here in nonisolated initializer"))
    }

    /// A class of the main actor, which ends its timers in a closure.
    private static func ending(_ closure: String) -> String {
        """
        import Foundation
        import Tether

        @MainActor final class Overlay { func remove() {} }

        @MainActor final class Clock {
            let stored = DispatchSource.makeTimerSource(queue: .main)
            var poll: Timer?
            var ticks = 0
            let overlay = Overlay()

            init() {
                let timer = DispatchSource.makeTimerSource(queue: .main)
                timer.setEventHandler { [weak self] in self?.ticks += 1 }
                OwnerLifetime.whenEnded(self) { \(closure) }
            }
        }
        """
    }

    @Test(
        arguments: [5, 6],
        [
            "@MainActor in timer.cancel()", "@MainActor [stored] in stored.cancel()",
            "@MainActor [stored, poll] in stored.cancel(); poll?.invalidate()",
            "@MainActor [overlay] in overlay.remove()",
        ])
    func `O14 a closure of the main actor captures what belongs there`(
        mode: Int, closure: String
    ) throws {
        let text = try Compiler(mode: mode).diagnostics(of: OwnedTaskSnippetTests.ending(closure))
        #expect(text == "")
    }

    @Test(arguments: [
        ("timer.cancel()", "passing closure as a 'sending' parameter risks causing data races"),
        ("[stored] in stored.cancel()", "passing closure as a 'sending' parameter risks"),
        ("[overlay] in overlay.remove()", "in a synchronous nonisolated context"),
    ])
    func `O14 a closure without a mark captures nothing of the main actor`(
        closure: String, sentence: String
    ) throws {
        let text = try Compiler().diagnostics(of: OwnedTaskSnippetTests.ending(closure))
        #expect(text.contains(sentence))
    }

    @Test func `O13 a loop over a sequence that can fail is not to be ignored`() throws {
        let program = """
            import Tether

            func follow(
                _ lines: AsyncThrowingStream<String, any Error>, _ titles: AsyncStream<String>,
                _ owner: some AnyObject & Sendable
            ) {
                titles.observe(owner: owner) { _, _ in }
                _ = lines.observe(owner: owner) { _, _ in }
                lines.observe(owner: owner) { _, _ in }
            }
            """
        let warnings = try Compiler().diagnostics(of: program).split(separator: "\n")
            .filter { $0.contains("warning:") && !$0.hasPrefix(" ") }
        #expect(warnings.count == 1)
        #expect(
            warnings.first?.contains("Snippet.swift:9:11: warning: result of call to 'observe")
                == true)
    }

    @Test func `O12 self must be written in the operation, and an owner must be an object`() throws
    {
        let program = """
            import Tether

            final class Sidebar: Sendable {
                func load() async {}
                func start() {
                    Task(owner: self) { await load() }
                    OwnerLifetime.whenEnded(self) { start() }
                    Task(owner: 1) {}
                }
            }
            """
        let text = try Compiler().diagnostics(of: program)
        #expect(
            text.contains("Snippet.swift:6:35: error: call to method 'load' in closure requires"))
        #expect(
            text.contains("Snippet.swift:7:41: error: call to method 'start' in closure requires"))
        #expect(text.contains("argument type 'Int' expected to be an instance of a class"))
    }
}

#endif
