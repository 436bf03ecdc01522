import Foundation
import Testing
import Tether

/// A protocol of Foundation's calls, for the injection of a center or a double.
private protocol CenterProtocol: AnyObject {
    func post(name: Notification.Name, object: Any?)
    func post(name: Notification.Name, object: Any?, userInfo: [AnyHashable: Any]?)
    func addObserver(
        forName name: Notification.Name?, object: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol
    func removeObserver(_ observer: Any)
    func removeObserver(_ observer: Any, name: Notification.Name?, object: Any?)
}

extension ObserverCenter: CenterProtocol {}

private protocol SequenceProtocol: AnyObject {
    associatedtype Notifications: AsyncSequence
    func notifications(named name: Notification.Name, object: AnyObject?) -> Notifications
}

extension ObserverCenter: SequenceProtocol {}

/// Foundation's calls by exactly their types: in a protocol, and as values.
@Suite struct FoundationTwinTests {
    @Test func `M1 R9 a program's protocol of Foundation's calls is satisfied`() {
        let (center, log): (any CenterProtocol, Log<String>) = (ObserverCenter(), Log<String>())
        let token = center.addObserver(forName: .sample, object: nil, queue: nil) { note in
            log.add("\(note.object ?? "nobody") \(note.userInfo?.count ?? 0)")
        }
        center.post(name: .sample, object: "somebody")
        center.post(name: .sample, object: nil, userInfo: ["key": 1])
        center.removeObserver(token, name: .other, object: nil)
        center.post(name: .sample, object: nil)
        center.removeObserver(token)
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["somebody 0", "nobody 1", "nobody 0"])
    }

    @Test func `M1 R9 each of Foundation's calls can be taken as a function value`() async {
        let (center, log) = (ObserverCenter(), Log<String>())
        let post: (Notification.Name, Any?) -> Void = center.post(name:object:)
        let postMore: (Notification.Name, Any?, [AnyHashable: Any]?) -> Void = center.post(
            name:object:userInfo:)
        // Also without a type: no other call may have the same name.
        let postInferred = center.post(name:object:userInfo:)
        let add:
            (Notification.Name?, Any?, OperationQueue?, @escaping @Sendable (Notification) -> Void)
                ->
                any NSObjectProtocol = center.addObserver(forName:object:queue:using:)
        let remove: (Any) -> Void = center.removeObserver(_:)
        let removeSome: (Any, Notification.Name?, Any?) -> Void = center.removeObserver(
            _:name:object:)
        let notifications: (Notification.Name, AnyObject?) -> NotificationSequence<Notification> =
            center.notifications(named:object:)

        let tokens = [
            add(.sample, nil, nil) { _ in log.add("first") },
            add(nil, nil, nil) { _ in log.add("second") },
        ]
        let sequence = notifications(.sample, nil)
        post(.sample, nil)
        remove(tokens[0])
        postMore(.sample, nil, ["key": 1])
        removeSome(tokens[1], nil, nil)
        #expect(log.entries == ["first", "second", "second"])
        postInferred(.sample, nil, ["one": 1, "two": 2])
        var iterator = sequence.makeAsyncIterator()
        #expect(await iterator.next()?.userInfo == nil)
        #expect(await iterator.next()?.userInfo?.count == 1)
        #expect(await iterator.next()?.userInfo?.count == 2)
    }

    @Test func `M1 a post needs no object, and the audit has a Foundation-shaped call's line`() {
        let (center, log) = (ObserverCenter(), Log<Int>())
        let token = center.addObserver(forName: .sample, object: nil, queue: nil) {
            log.add($0.userInfo?.count ?? 0)
        }
        center.post(name: .sample)
        center.post(name: .sample, userInfo: ["key": 1])
        #expect(log.entries == [0, 1])
        #expect(
            token.isActive && center.audit().first?.file == "TetherTests/FoundationTwinTests.swift")
    }
}
