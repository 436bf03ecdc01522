import CoreFoundation
import Foundation
import Testing
import Tether

/// Objects inside optionals, existentials and boxes, passed to a center as `Any`.
@Suite struct WrappedObjectTests {
    private final class Object: Wrappable, Sendable {
        let atDeinit: @Sendable (Object) -> Void

        init(atDeinit: @escaping @Sendable (Object) -> Void = { _ in }) {
            self.atDeinit = atDeinit
        }

        deinit { atDeinit(self) }

        // All are equal, so only identity distinguishes the objects.
        static func == (a: Object, b: Object) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    private let center = ObserverCenter()
    private let log = Log<String>()

    private func record(_ who: String) -> @Sendable (Notification) -> Void {
        let log = log
        return { note in
            let values = note.userInfo.map { ", \($0.count) values" } ?? ""
            log.add((note.object == nil ? "\(who), no object" : who) + values)
        }
    }

    @Test(arguments: Wrapping.all)
    func `M4 a post reaches the observers of an object, however it is wrapped`(
        _ wrapping: Wrapping
    ) {
        let (object, stranger) = (Object(), Object())
        let token = center.observe(.sample, from: object, record("reached"))
        center.post(name: .sample, object: wrapping.wrap(stranger))
        #expect(log.entries == [])
        center.post(name: .sample, object: wrapping.wrap(object))
        center.post(Notification(name: .sample, object: wrapping.wrap(object)))
        #expect(log.entries == ["reached", "reached"])
        withExtendedLifetime((token, object)) {}
    }

    @Test(arguments: Wrapping.all)
    func `M4 M5 an observer is registered for an object, however it is wrapped`(
        _ wrapping: Wrapping
    ) {
        let stranger = Object()
        var object: Object? = Object()
        let token = center.addObserver(
            forName: .sample, object: wrapping.wrap(object!), queue: nil, using: record("reached"))
        center.post(name: .sample, object: stranger)
        #expect(log.entries == [])
        center.post(name: .sample, object: object)
        #expect(log.entries == ["reached"])
        #expect(token.isActive)
        object = nil
        #expect(!token.isActive)
    }

    @Test(arguments: Wrapping.all) func `X3 an ending object is not kept for later in any wrapping`(
        _ wrapping: Wrapping
    ) {
        let (center, jobs) = (center, ManualScheduler())
        let queue = PostingQueue(notificationCenter: center)
        let tokens = [
            center.observe(.sample, record("now")),
            center.observe(.sample, on: .custom(jobs), record("later")),
            center.observe(.other, record("queued")),
        ]
        _ = Object {
            let object = wrapping.wrap($0)
            let values: [AnyHashable: Any] = ["object": object as Any, "number": 1 as Int? as Any]
            center.post(name: .sample, object: object, userInfo: values)
            queue.enqueue(
                Notification(name: .other, object: object, userInfo: values), postingStyle: .asap)
        }
        jobs.runAll()
        queue.flush()
        #expect(
            log.entries == [
                "now, 2 values", "later, no object, 1 values", "queued, no object, 1 values",
            ])
        withExtendedLifetime(tokens) {}
    }

    @Test func `M4 types, functions, tuples and arrays of objects hold no object`() {
        let (object, queue) = (Object(), PostingQueue(notificationCenter: center))
        let values: [Any] = [
            Object.self, Object.self as AnyClass, Object.self as Any.Type, { object },
            (object, object), [object],
            Optional([object]) as Any, Object?.none as Any,
        ]
        let tokens = [
            center.observe(.sample, from: object, record("object")),
            center.observe(.sample, record("any")),
        ]
        for value in values {
            center.post(name: .sample, object: value)
            queue.enqueue(Notification(name: .sample, object: value), postingStyle: .asap)
            center.removeObserver(value)
        }
        queue.flush()
        #expect(Set(log.entries.map { $0.prefix(3) }) == ["any"])
        #expect(tokens.map(\.isActive) == [true, true])
    }
}
