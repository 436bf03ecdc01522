import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

// The README's snippets, to the letter; the last test compares them.

extension Notification.Name {
    fileprivate static let modelDidChange = Notification.Name("modelDidChange")
    fileprivate static let modelDidClose = Notification.Name("modelDidClose")
}

@Suite(.timeLimit(.minutes(5))) struct ReadmeTests {
    final class Model {}

    @MainActor final class Sidebar {
        private(set) var reloads = 0

        init(model: Model, center: ObserverCenter = .default) {
            center.observe(.modelDidChange, from: model, owner: self, on: .mainActor) { sidebar, note in
                sidebar.reloads += 1
            }
            center.connect(.modelDidClose, to: Sidebar.clear, of: self)
        }

        func clear() { reloads = 0 }
    }

    final class Controller: Sendable {
        let log = Log<Notification.Name>()

        func modelDidChange(_ note: Notification) { log.add(note.name) }
    }

    @Test @MainActor func `O1 P1 O3 the README's sidebar is called on the main actor and leaves nothing behind`() async
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

    @Test func `D6 R1 the README's token switches its target and ends its observer`() {
        let (center, work) = (ObserverCenter(), DispatchQueue(label: "work"))
        let log = Log<String>()
        @Sendable func print(_ value: Any) { log.add("\(value)") }
        let token = center.observe(.modelDidChange) { note in print(note.name) }
        center.post(name: .modelDidChange, object: nil)
        token.target = .dispatchQueue(work)
        print(center.audit())
        token.stop()
        center.post(name: .modelDidChange, object: nil)
        work.sync {}
        #expect(log.entries.count == 2)
        #expect(log.entries.last?.contains("dispatch queue work  TetherTests/ReadmeTests.swift:") == true)
    }

    /// In a scope of its own, because it uses the center that all share.
    @Test(.verifiesNoLeaks) func `D2 R9 the README's calls in Foundation's words observe, post and remove`() async {
        let (model, controller, log) = (Model(), Controller(), Log<String>())
        @Sendable func print(_ note: Notification) { log.add(note.name.rawValue) }
        var token: NotificationObserver?
        let center = ObserverCenter.default
        token = center.addObserver(forName: .modelDidChange, object: model, queue: .main) { note in print(note) }
        center.addObserver(controller, action: Controller.modelDidChange, name: .modelDidChange, object: model)
        center.post(name: .modelDidChange, object: model, userInfo: ["count": 1])
        center.removeObserver(controller)
        center.post(name: .modelDidChange, object: model)
        await mainQueueIsServed()
        #expect(controller.log.entries == [.modelDidChange])
        #expect(log.entries == ["modelDidChange", "modelDidChange"])
        withExtendedLifetime(token) {}
    }

    @Test func `the README holds the code of this file`() throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let section = root.appending(path: "Tests/TetherTestingTests/ReadmeSectionTests.swift")
        let sources = try [here, section].map { try String(contentsOf: $0, encoding: .utf8) }
        let code = Set(sources.flatMap { $0.split(separator: "\n").map(withoutComment) })
        let blocks = readme.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        let lines = blocks.filter { !$0.contains(".package(") }.flatMap {
            $0.split(separator: "\n").map(withoutComment)
        }
        #expect(lines.count > 20)
        #expect(lines.filter { !$0.isEmpty && !code.contains($0) } == [])
    }

    private func withoutComment(_ line: Substring) -> String {
        line.components(separatedBy: "  //")[0].trimmingCharacters(in: .whitespaces)
    }

    /// Returns when the main queue has delivered what was posted before: nothing overtakes there (D4).
    private func mainQueueIsServed() async {
        let center = ObserverCenter()
        var last: NotificationObserver?
        await withCheckedContinuation { continuation in
            last = center.observe(.sample, on: .main, once: true) { _ in continuation.resume() }
            center.post(name: .sample, object: nil)
        }
        await last?.stopAndWait()
    }
}
