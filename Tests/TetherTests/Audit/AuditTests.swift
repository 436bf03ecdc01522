import COwnerLifetime
import Dispatch
import Foundation
import Testing
import Tether

/// The columns of an audit: observers, owners, call sites and targets.
@Suite(.ownThread) struct AuditTests {
    private final class Object: Sendable {}

    private let center = ObserverCenter()

    private func identity(_ object: AnyObject) -> String {
        "\(type(of: object)) 0x\(String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16))"
    }

    @Test func `L1 rows show name, sender and owner of every kind, in registration order`()
        throws
    {
        let (sender, owner) = (Object(), Object())
        let tokens = [
            center.observe(.sample) { _ in },
            center.observe(nil) { _ in },
            center.observe(.sample, from: sender) { _ in },
            center.observe(nil, from: sender, owner: owner) { _, _ in },
            center.observe(.other, owner: owner) { _, _ in },
            center.addObserver(forName: .sample, object: "a value", queue: nil) { _ in },
            center.addObserver(forName: nil, object: Optional(5) as Any, queue: nil) { _ in },
            center.connect(.sample, from: sender, to: { _ in { (_: Notification) in } }, of: owner),
        ]

        let rows = center.audit()
        #expect(rows.map(\.name) == [.sample, nil, .sample, nil, .other, .sample, nil, .sample])
        let (from, of) = (identity(sender), identity(owner))
        #expect(rows.map(\.sender) == [nil, nil, from, from, nil, "\"a value\"", "5", from])
        #expect(rows.map(\.owner) == [nil, nil, nil, of, of, nil, nil, of])
        withExtendedLifetime((tokens, sender, owner)) {}
    }

    @Test func `L1 rows have file and line of every registering call`() throws {
        let owner = Object()
        let start = #line
        let tokens = [
            center.observe(.sample) { _ in },
            center.observe(.sample, on: .mainActor) { _ in },
            center.observe(.sample, owner: owner) { _, _ in },
            center.observe(.sample, owner: owner) { _, _ in },
            center.observe(.sample, owner: owner, on: .mainActor) { _, _ in },
            center.observe(.sample, owner: owner, on: .mainActor) { _, _ in },
            center.connect(.sample, to: { _ in { (_: Notification) in } }, of: owner),
            center.connect(.sample, to: { _ in { () in } }, of: owner),
            center.addObserver(forName: .sample, object: nil, queue: nil) { _ in },
        ]

        let rows = center.audit()
        #expect(Set(rows.map(\.file)) == ["TetherTests/AuditTests.swift"])
        #expect(rows.map(\.line) == Array(start + 2...start + 10))
        #expect(
            rows.first?.description.contains(
                "registered at TetherTests/AuditTests.swift:\(start + 2)") == true)
        withExtendedLifetime((tokens, owner)) {}
    }

    @Test func `L1 rows have the target, also after a switch`() {
        let queue = OperationQueue()
        queue.name = "operations"
        let work = DispatchQueue(label: "work")
        let tokens = [
            center.observe(.sample) { _ in },
            center.observe(.sample, on: .main) { _ in },
            center.observe(.sample, on: .mainActor) { _ in },
            center.observe(.sample, on: .dispatchQueue(.main)) { _ in },
            center.observe(.sample, on: .operationQueue(.main)) { _ in },
            center.observe(.sample, on: .operationQueue(queue)) { _ in },
            center.observe(.sample, on: .dispatchQueue(work)) { _ in },
            center.observe(.sample, on: .dispatchQueue(work, concurrently: true)) { _ in },
            center.observe(.sample, on: .custom(ManualScheduler())) { _ in },
            center.addObserver(forName: .sample, object: nil, queue: queue) { _ in },
        ]
        #expect(
            center.audit().map(\.target) == [
                "posting thread", "main", "main", "main", "main", "operation queue operations",
                "dispatch queue work",
                "dispatch queue work, concurrently", "custom ManualScheduler",
                "operation queue operations",
            ])
        tokens[0].target = .dispatchQueue(work)
        tokens[1].target = .postingThread
        #expect(
            center.audit().prefix(3).map(\.target) == [
                "dispatch queue work", "posting thread", "main",
            ])
        withExtendedLifetime(tokens) {}
    }

    @Test func `L1 rows have the pending and the dropped deliveries`() {
        let jobs = ManualScheduler()
        let tokens = [
            center.observe(.sample, on: .custom(jobs)) { _ in },
            center.observe(nil, on: .custom(jobs)) { _ in },
            center.observe(.sample) { _ in },
        ]
        func counts() -> [[Int]] { center.audit().map { [$0.pending, $0.dropped] } }
        #expect(counts() == [[0, 0], [0, 0], [0, 0]])
        for name in [Notification.Name.sample, .other, .sample] {
            center.post(name: name, object: nil)
        }
        #expect(counts() == [[2, 0], [3, 0], [0, 0]])
        jobs.runAll()
        #expect(counts() == [[0, 0], [0, 0], [0, 0]])
        center.post(name: .sample, object: nil)
        jobs.dropAll()
        #expect(counts() == [[0, 1], [0, 1], [0, 0]])
        center.post(name: .other, object: nil)
        #expect(counts() == [[0, 1], [1, 1], [0, 0]])
        let cancelled = "1 dropped: its target was cancelled or has ended"
        #expect(center.audit()[1].description.hasSuffix("(1 pending, \(cancelled))"))
        withExtendedLifetime(tokens) {}
    }

    @Test func `L1 a row has the number of drops for each reason`() {
        let jobs = ManualScheduler()
        let token = center.observe(.sample, on: .custom(jobs)) { _ in }
        token.backlog = .newest(1)
        for _ in 0..<4 { center.post(name: .sample, object: nil) }
        jobs.dropAll()
        #expect(center.audit()[0].dropped == 4)
        let notes =
            "(3 dropped: its backlog is full, 1 dropped: its target was cancelled or has ended)"
        #expect(center.audit()[0].description.hasSuffix(notes))
    }

    @Test func `L1 rows have once and key`() {
        let owner = Object()
        let tokens = [
            center.observe(.sample, once: true) { _ in },
            center.observe(.sample, key: "key") { _ in },
            center.observe(.sample, owner: owner, once: true, key: 7) { _, _ in },
        ]
        #expect(center.audit().map(\.isOnce) == [true, false, true])
        #expect(center.audit().map(\.key) == [nil, "\"key\"", "7"])
        withExtendedLifetime((tokens, owner)) {}
    }

    @Test func `L1 an ended observer is in no audit`() {
        let (owner, sender) = (Box(optional: Object()), Box(optional: Object()))
        let tokens = [
            center.observe(.sample) { _ in }, center.observe(.sample, once: true) { _ in },
            center.observe(.sample, from: sender.value!) { _ in },
            center.observe(.sample, owner: owner.value!) { _, _ in },
            center.observe(.other) { _ in },
        ]
        #expect(center.audit().count == 5)
        tokens[0].cancel()
        center.post(name: .sample, object: nil)
        owner.drop()
        sender.drop()
        #expect(center.audit().map(\.name) == [.other])
        withExtendedLifetime(tokens) {}
    }

    @Test func `L1 O7 an owner's audit lists its observers on all centers, and nobody else's`() {
        let (owner, other, second) = (Object(), Object(), ObserverCenter())
        center.observe(.sample, owner: owner) { _, _ in }
        second.observe(.other, owner: owner) { _, _ in }
        center.observe(.sample, owner: other) { _, _ in }
        let rows = OwnerObservers(of: owner).audit()
        #expect(rows.map(\.name) == [.sample, .other])
        #expect(rows.map(\.owner) == [identity(owner), identity(owner)])
        #expect(OwnerObservers(of: Object()).audit().isEmpty)
        withExtendedLifetime((owner, other)) {}
    }

    @Test func `L1 S3 a sequence is listed as such, with its kept notifications`() {
        let owner = Object()
        let sequences = [
            center.notifications(named: .sample),
            center.notifications(named: .other, buffering: .oldest(2)),
            center.notifications(named: nil, owner: owner, buffering: .newest(3)),
        ]
        let rows = center.audit()
        #expect(rows.map(\.target) == ["sequence", "sequence, oldest 2", "sequence, newest 3"])
        #expect(
            rows.map(\.owner).prefix(2) == [nil, nil]
                && rows[2].owner?.hasPrefix("Object 0x") == true)
        #expect(
            rows[1].description.hasPrefix(
                "other from any sender for its sequence on sequence, oldest 2, registered"))
        let line = rows.description.split(separator: "\n")[2].split(whereSeparator: \.isWhitespace)
        #expect(
            line.dropFirst().prefix(6) == [
                "other", "its", "sequence", "sequence,", "oldest", "2",
            ])
        withExtendedLifetime((sequences, owner)) {}
    }

    @Test func `L1 O2 an audit keeps nothing alive`() {
        let (owner, sender) = (Box(optional: Object()), Box(optional: Object()))
        let log = Log<String>()
        let token = {
            let captured = Ending { log.add("released") }
            return center.observe(.sample, from: sender.value!, owner: owner.value!) { _, _ in
                captured.touch()
            }
        }()
        let audit = center.audit()
        owner.drop()
        sender.drop()
        #expect(log.entries == ["released"])
        #expect(!token.isActive)
        #expect(audit.count == 1)
        #expect(audit[0].description.hasPrefix("sample from Object 0x"))
    }
}
