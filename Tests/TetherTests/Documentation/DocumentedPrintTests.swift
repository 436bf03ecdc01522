import Dispatch
import Foundation
import Synchronization
import Testing
import Tether
import TetherTesting

// A copy of the documentation's printing code, with the output. The last test compares the code.

extension Notification.Name {
    fileprivate static let modelDidChange = Notification.Name("modelDidChange")
}

@Suite(.timeLimit(.minutes(5))) struct DocumentedPrintTests {
    final class Model: Sendable {}

    /// The getting-started page's, with the print of a test.
    final class Sidebar: @unchecked Sendable {
        let log: Log<String>

        init(model: Model, center: ObserverCenter = .default, log: Log<String>) {
            self.log = log
            center.observe(
                .modelDidChange, from: model, owner: self
            ) { sidebar, note in
                sidebar.reload(note)
            }
        }

        func print(_ value: Any) { log.add("\(value)") }

        func reload(_ note: Notification) {
            print("reloading after \(note.name.rawValue)")
        }

        func close() {}
    }

    @Test func `O1 the sidebar of the first page reloads after its model's posts`() {
        let (log, model, center) = (Log<String>(), Model(), ObserverCenter())
        let sidebar = Sidebar(model: model, center: center, log: log)
        center.post(name: .modelDidChange, object: model)
        center.post(name: .modelDidChange, object: Model())
        #expect(log.entries == ["reloading after modelDidChange"])
        withExtendedLifetime(sidebar) {}
    }

    @Test func `R1 D6 the tokens of the pages print the names that were posted`() async {
        let (log, model, center, work) = (
            Log<String>(), Model(), ObserverCenter(), DispatchQueue(label: "work")
        )
        @Sendable func print(_ value: Any) { log.add("\(value)") }
        do {
            let token = center.observe(.modelDidChange) { note in
                print(note.name.rawValue)
            }
            center.post(name: .modelDidChange, object: nil)
            token.cancel()
        }
        do {
            let token = center.observe(.modelDidChange, from: model) {
                note in
                print(note.name.rawValue)
            }
            center.post(name: .modelDidChange, object: model)
            withExtendedLifetime(token) {}
        }
        #expect(log.entries == ["modelDidChange", "modelDidChange"])
        let token = center.observe(
            .modelDidChange, on: .dispatchQueue(work)
        ) { note in
            print(note.name.rawValue)
        }
        center.post(name: .modelDidChange, object: nil)
        token.target = .main
        work.sync {}
        print(center.audit())
        await token.cancelAndWait()
        // Pending at the switch, and so dropped by the end, unless the queue was quicker.
        #expect(log.entries.last?.contains("modelDidChange  its token  main") == true)
    }

    @Test func `O7 L1 an owner's observers are printed`() {
        let (log, model, center) = (Log<String>(), Model(), ObserverCenter())
        let sidebar = Sidebar(model: model, center: center, log: log)
        @Sendable func print(_ value: Any) { log.add("\(value)") }
        OwnerObservers(of: sidebar).mute(keepingNewest: true)
        OwnerObservers(of: sidebar).target = .main
        print(OwnerObservers(of: sidebar).audit())
        #expect(log.entries.count == 1)
        #expect(log.entries[0].contains("\nTetherTests/DocumentedPrintTests.swift:"))
        #expect(log.entries[0].contains("  main    muted\n"))
        #expect(log.entries[0].hasSuffix("\n1 observer of 1 owner"))
        withExtendedLifetime(model) {}
    }

    @Test func `S1 S2 a sequence prints the posts, and ends with its owner`() async {
        let (log, center) = (Log<String>(), ObserverCenter())
        let sidebar = Holder(Sidebar(model: Model(), center: center, log: log))
        @Sendable func print(_ value: Any) { log.add("\(value)") }
        let task = {
            let sidebar = sidebar.object!
            let changes = center.notifications(
                named: .modelDidChange, owner: sidebar)
            return Task {
                for await note in changes { print(note.name.rawValue) }
            }
        }()
        center.post(name: .modelDidChange, object: nil)
        while log.entries.isEmpty { await Task.yield() }
        sidebar.release()
        await task.value
        #expect(log.entries == ["modelDidChange"])
    }

    // MARK: Leaks

    private func openAndCloseADocument() { _ = ObserverCenter().observe(.modelDidChange) { _ in } }

    /// In a synchronous function, where the calls block.
    private func printLeaks(_ log: Log<String>) {
        func print(_ value: Any) { log.add("\(value)") }
        do {
            let leaks = findLeaks { openAndCloseADocument() }
            for leak in leaks { print(leak) }
        }
        let (center, model) = (ObserverCenter(), Model())
        typealias Sidebar = TrackedSidebar
        let leaks = findLeaks {
            let sidebar = track(Sidebar(model: model, center: center))
            sidebar.close()
        }
        for leak in leaks { print(leak) }
        if leaks.isEmpty { print("nothing is left") }
    }

    final class TrackedSidebar: Sendable {
        init(model: Model, center: ObserverCenter) {
            center.observe(.modelDidChange, from: model, owner: self) { sidebar, _ in
                sidebar.close()
            }
        }

        func close() {}
    }

    @Test func `L2 a program prints its leaks, or a line without leaks`() {
        let log = Log<String>()
        printLeaks(log)
        #expect(log.entries == ["nothing is left"])
    }

    private enum Shelf {
        static let models = Mutex<[Model]>([])
    }

    @Test func `L3 a program prints what holds an object`() {
        let (log, sidebar) = (Log<String>(), Model())
        let model = sidebar
        @Sendable func print(_ value: Any) { log.add("\(value)") }
        Shelf.models.withLock { $0.append(model) }
        for holder in holders(of: model) { print(holder) }
        for holder in holders(of: sidebar) { print(holder) }
        // Nothing is found where memory cannot be read.
        #expect(log.entries.isEmpty || log.entries.contains { $0.contains("Shelf.models") })
        Shelf.models.withLock { $0 = [] }
    }

    // MARK: The code

    #if os(Linux)
    @Test func `the lines on the page of examples are printed by the examples`() throws {
        let page = Package.root.appending(path: "Sources/Tether/Tether.docc/Examples.md")
        let blocks = try String(contentsOf: page, encoding: .utf8).components(
            separatedBy: "$ swift run "
        ).dropFirst()
        #expect(blocks.count > 5)
        for lines in blocks.map({ $0.components(separatedBy: "```")[0].split(separator: "\n") }) {
            let folder = Package.root.appending(path: "Examples/\(lines[0])")
            // `.ci/run` checks that an example prints the lines of its comments.
            let sources = try FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: nil
            )
            .filter { $0.pathExtension == "swift" }.map {
                try String(contentsOf: $0, encoding: .utf8)
            }
            for line in lines.dropFirst() where line != "…" {
                #expect(
                    sources.contains { $0.contains("// Prints: \(line)\n") }, "\(lines[0]): \(line)"
                )
            }
        }
    }

    @Test func `all code in the documentation that prints is run`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let run = try ["DocumentedPrintTests.swift", "ReadmeTests.swift"].map { name in
            try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        let code = DocumentedCode.withoutSpaces(run.joined())
        let blocks = try DocumentedCode.all().filter(\.prints)
        #expect(blocks.count > 10)
        for block in blocks {
            let missing = block.lines.map { DocumentedCode.withoutSpaces($0) }.filter { line in
                // The code around a block here is not in the block.
                !line.isEmpty && !code.contains(line) && !line.hasPrefix("#expect")
                    && !line.hasPrefix("finalclass") && !line.hasPrefix("init(")
            }
            #expect(missing == [], "\(block.file):\(block.line)")
        }
    }
    #endif
}
