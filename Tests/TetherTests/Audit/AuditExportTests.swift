import Foundation
import Testing

@testable import Tether

/// The audit as a table and as JSON.
@Suite struct AuditExportTests {
    private final class Owner: Sendable {}

    private let center = ObserverCenter()
    private let file = "TetherTests/AuditExportTests.swift"

    @Test func `L1 an audit prints as an aligned table without empty columns`() {
        let line = #line + 2
        let tokens = [
            center.observe(.sample, once: true) { _ in },
            center.observe(nil, on: .main, key: "a key") { _ in },
        ]
        #expect(
            center.audit().description == """
                registered at                          name    owner      target          notes
                \(file):\(line)  sample  its token  posting thread  once
                \(file):\(line + 1)  any     its token  main            key "a key"
                2 observers
                """)
        withExtendedLifetime(tokens) {}
    }

    @Test func `L1 the table escapes a name's control characters, and a center prints its count`() {
        let (center, name) = (ObserverCenter(), Notification.Name("two\nlines \u{202E}é"))
        let token = center.observe(name) { _ in }
        let table = center.audit().description
        #expect(table.contains("two\\nlines \\u{202E}é"), "\(table)")
        #expect(center.description == "ObserverCenter with 1 observer")
        withExtendedLifetime(token) {}
    }

    @Test func `L1 the lines of ordinary observers fit 100 columns, and the last line counts`() {
        let queue = DispatchQueue(label: "com.example.work", attributes: .initiallyInactive)
        let owner = Owner()
        let targets: [DeliveryTarget] = [
            .main, .dispatchQueue(queue), .operationQueue(OperationQueue()),
        ]
        for target in targets {
            center.observe(
                .init("documentDidChange"), owner: owner, on: target, fileID: "Play/main.swift",
                line: 34
            ) { _, _ in }
        }
        center.post(name: .init("documentDidChange"), object: nil)
        let lines = center.audit().filter { $0.target != "main" }.description
            .split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 100 }, "\(lines)")
        #expect(lines.count == 4)
        #expect(lines[1].hasPrefix("Play/main.swift:34  documentDidChange  Owner 0x"))
        #expect(lines[1].hasSuffix("  dispatch queu…example.work  1 pending"))
        #expect(lines[3].hasPrefix("2 observers of 1 owner; "))
        queue.activate()
        withExtendedLifetime(owner) {}
    }

    @Test func `L1 O12 observers are counted apart from the owner's other work`() {
        let owner = Owner()
        center.observe(.sample, owner: owner) { _, _ in }
        for _ in 0..<2 { OwnerLifetime.whenEnded(owner) {} }
        let task = Task(owner: owner) { try? await Task.sleep(for: .seconds(300)) }
        let text = OwnerObservers(of: owner).audit().description
        #expect(text.hasSuffix("\n1 observer, 1 task, 2 closures of 1 owner"))
        task.cancel()
    }

    @Test func `L1 the middle of a long cell is left out`() {
        let token = center.observe(.init("begin" + String(repeating: "-", count: 80) + "end")) {
            _ in
        }
        let line = center.audit().description.split(separator: "\n")[1]
        #expect(line.contains("  begin--------…---------end  its token"))
        withExtendedLifetime(token) {}
    }

    @Test func `L1 no line of a printed audit is longer than 100 columns`() {
        let other = ObserverCenter()
        let sender = Owner()
        let queue = DispatchQueue(
            label: "com.example.application.documents.work", attributes: .initiallyInactive)
        var tokens: [NotificationObserver] = []
        for center in [center, other] {
            for number in 1...4 {
                let name = Notification.Name("documentWindowDidChangeItsTitle\(number)")
                tokens.append(
                    center.observe(
                        name, from: sender, on: .dispatchQueue(queue),
                        key: "documentWindow.\(number).title", backlog: .newest(1),
                        fileID: "Application/DocumentWindowController.swift", line: 1200
                    ) { _ in })
                for _ in 1...3 { center.post(name: name, object: sender) }
            }
        }
        let lines = "\(Audit.process().filter { $0.file.hasPrefix("Application/") })"
            .split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 100 }, "\(lines.joined(separator: "\n"))")
        // The notes stand below their rows.
        #expect(lines.count == 1 + 8 + 8 + 1)
        #expect(
            lines.contains {
                $0.hasPrefix("    key \"documentWindow.4.title\", 1 pending, 2 dropped")
            })
        queue.activate()
        withExtendedLifetime((sender, tokens)) {}
    }

    @Test func `L1 a printed audit is short, however long the texts of an observer are`() {
        let marks = String(repeating: "\u{301}", count: 50_000)
        let tokens = [
            center.observe(.init("e" + marks), key: String(repeating: "k", count: 80_000)) { _ in },
            center.observe(.init("a" + marks), key: "b" + marks) { _ in },
        ]
        #expect(center.audit().description.utf8.count < 2_000)
        withExtendedLifetime(tokens) {}
    }

    @Test func `L1 a part of an audit is an audit`() {
        let tokens = [center.observe(.sample) { _ in }, center.observe(.other) { _ in }]
        let part: Audit = center.audit().filter { $0.name == .other }
        #expect(part.map(\.name) == [.other])
        #expect(part.description.hasSuffix("\n1 observer"))
        withExtendedLifetime(tokens) {}
    }

    @Test func `L1 a row prints as one line, with control characters escaped`() {
        let token = center.observe(.init("two\nlines\u{202E}")) { _ in }
        #expect(center.audit()[0].description.hasPrefix("two\\nlines\\u{202E} from any sender"))
        withExtendedLifetime(token) {}
    }

    @Test func `L1 an audit exports as JSON`() throws {
        let queue = DispatchQueue(label: "a \"quoted\" queue", attributes: .initiallyInactive)
        let (owner, sender) = (Owner(), Owner())
        center.observe(.sample, from: sender, owner: owner, on: .dispatchQueue(queue)) { _, _ in }
        center.post(name: .sample, object: sender)
        let token = center.observe(nil) { _ in }
        let parsed = try JSONSerialization.jsonObject(with: Data(center.audit().json().utf8))
        let document = try #require(parsed as? [String: Any])
        let observers = try #require(document["observers"] as? [[String: Any]])
        #expect(observers.count == 2)
        #expect(observers[0]["name"] as? String == "sample")
        #expect(observers[0]["target"] as? String == "dispatch queue a \"quoted\" queue")
        #expect(observers[0]["pending"] as? Int == 1)
        #expect(observers[0]["file"] as? String == file)
        #expect((observers[0]["owner"] as? String)?.hasPrefix("Owner 0x") == true)
        #expect(Set(observers[1].keys).isDisjoint(with: ["name", "owner", "sender", "key"]))
        #expect(document["droppedPosts"] as? Int == 0)
        queue.activate()
        withExtendedLifetime((owner, sender, token)) {}
    }

    @Test(.ownThread)
    func `L1 Q2 waiting and dropped posts are listed below the table and in JSON`()
        throws
    {
        let queue = DispatchQueue(label: "suspended", attributes: .initiallyInactive)
        JoinableThread { [center] in
            PostingQueue(notificationCenter: center).enqueue(
                Notification(name: .sample), postingStyle: .asap)
        }.join()
        // The thread exits after its body has returned.
        let end = ContinuousClock.now + .seconds(longestWait)
        while center.audit().droppedPosts == 0, ContinuousClock.now < end { sched_yield() }
        let posting = PostingQueue(notificationCenter: center, queue: queue)
        posting.enqueue(Notification(name: .sample), postingStyle: .asap)
        posting.enqueue(Notification(name: .other), postingStyle: .asap)
        posting.enqueue(Notification(name: .third), postingStyle: .whenIdle)
        #expect(
            center.audit().description == """
                no observers
                waiting on dispatch queue suspended: 2 as soon as possible, 1 when idle
                dropped with their thread: 1 post
                """)
        let parsed = try JSONSerialization.jsonObject(with: Data(center.audit().json().utf8))
        let document = try #require(parsed as? [String: Any])
        let waiting = try #require(document["waitingPosts"] as? [[String: Any]])
        #expect(waiting.count == 1)
        #expect(waiting[0]["place"] as? String == "dispatch queue suspended")
        #expect(waiting[0]["asap"] as? Int == 2 && waiting[0]["whenIdle"] as? Int == 1)
        #expect(document["droppedPosts"] as? Int == 1)
        posting.flush()
        // Idle posts alone are listed, too.
        posting.enqueue(Notification(name: .third), postingStyle: .whenIdle)
        #expect(
            center.audit().waitingPosts == [
                .init(place: "dispatch queue suspended", asap: 0, whenIdle: 1)
            ])
        posting.flush()
        queue.activate()
    }
}
