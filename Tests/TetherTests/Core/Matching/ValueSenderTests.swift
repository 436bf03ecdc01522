import Foundation
import Testing
import Tether

/// Values as senders, in the Foundation-shaped calls.
@Suite struct ValueSenderTests {
    private struct Point: Hashable, Sendable { var x = 0, y = 0 }
    private struct Lookalike: Hashable, Sendable { var x = 0, y = 0 }
    private enum Suit: Hashable, Sendable {
        case hearts, spades
        case joker(Int)
    }
    private struct Unhashable: Sendable {}

    private let center = ObserverCenter()

    /// How many of `posts` reach an observer of `sender`.
    private func reached(_ sender: Any?, by posts: Any?...) -> [Bool] {
        let log = Log<Int>()
        let token = center.addObserver(forName: .sample, object: sender, queue: nil) { _ in
            log.add(0)
        }
        return withExtendedLifetime(token) {
            posts.map { post in
                let before = log.entries.count
                center.post(name: .sample, object: post)
                return log.entries.count == before + 1
            }
        }
    }

    @Test func `M4 a value matches by equality within its type`() {
        let made = ["he", "llo"].joined()
        #expect(
            reached("hello", by: "hello", made, "Hello", "", nil) == [
                true, true, false, false, false,
            ])
        #expect(
            reached(Int(1), by: Int(1), Int8(1), UInt(1), Double(1), true) == [
                true, false, false, false, false,
            ])
        #expect(reached(Int8(1), by: Int8(1), Int(1)) == [true, false])
        #expect(reached(Double(1), by: Double(1), Float(1), Int(1)) == [true, false, false])
        #expect(
            reached(Point(x: 1), by: Point(x: 1), Point(x: 2), Lookalike(x: 1)) == [
                true, false, false,
            ])
        #expect(reached(Suit.hearts, by: Suit.hearts, Suit.spades) == [true, false])
        #expect(reached(Suit.joker(1), by: Suit.joker(1), Suit.joker(2)) == [true, false])
        #expect(
            reached([1, 2], by: [1, 2], [1], [UInt8](arrayLiteral: 1, 2)) == [true, false, false])
    }

    @Test func `M4 a value in a ValueSender is the value, in Foundation's calls, too`() async {
        let (center, log) = (center, Log<String>())
        let token = center.addObserver(
            forName: .sample, object: ValueSender("a"), queue: nil
        ) { _ in log.add("called") }
        let sequence = center.notifications(named: .sample, object: ValueSender("a"))
        for sender in ["a", "b"] { center.post(name: .sample, object: sender) }
        #expect(log.entries == ["called"])
        #expect(center.audit().map(\.pending) == [0, 1])
        center.removeObserver(token, name: .sample, object: ValueSender("b"))
        #expect(token.isActive)
        center.removeObserver(token, name: .sample, object: ValueSender("a"))
        #expect(!token.isActive)
        withExtendedLifetime(sequence) {}
    }

    @Test func `M4 an optional is equal to its content at any depth`() {
        let one: Int? = 1
        let nested: Int?? = .some(.some(1))
        let deep: Int??? = .some(.some(.some(1)))
        #expect(reached(1, by: one, nested as Any, deep as Any) == [true, true, true])
        #expect(reached(nested as Any, by: 1, one, 2) == [true, true, false])
        #expect(reached(deep as Any, by: 1) == [true])
    }

    @Test func `M4 an empty optional, however deep, is no sender`() {
        let nested: Int?? = .some(.none)
        #expect(reached(1, by: nested as Any, Int?.none as Any) == [false, false])
        #expect(reached(nested as Any, by: 1, nil, "any") == [true, true, true])
    }

    @Test func `M4 posting for a value that cannot match reaches the observers of any sender`() {
        #expect(
            reached(nil, by: Unhashable(), Double.nan, Unhashable?.none as Any) == [
                true, true, true,
            ])
        #expect(reached(1.5, by: Double.nan, Unhashable()) == [false, false])
    }

    @Test func `M4 an actor, a generic class and an error object match by identity`() {
        actor Worker {}
        final class Box<Value: Sendable>: Sendable {}
        final class Failure: Error {}
        let (worker, box, failure) = (Worker(), Box<Int>(), Failure())
        #expect(reached(worker, by: worker, Worker()) == [true, false])
        #expect(reached(box, by: box, Box<Int>(), Box<String>()) == [true, false, false])
        #expect(
            reached(failure, by: failure, failure as any Error, Failure()) == [true, true, false])
    }

    @Test func `M4 AnyHashable is equal to its content`() {
        let posts: [Any] = [
            1, AnyHashable(1), AnyHashable(AnyHashable(1)), AnyHashable(Int?.some(1)),
            AnyHashable(2), 1.0,
        ]
        #expect(
            posts.flatMap { reached(AnyHashable(1), by: $0) } == [
                true, true, true, true, false, false,
            ])
        #expect(posts.flatMap { reached(1, by: $0) } == [true, true, true, true, false, false])
    }

    /// As a value type of a module whose default isolation is the main actor.
    @MainActor private struct Topic: @MainActor Hashable {
        let name: String

        static func == (one: Topic, other: Topic) -> Bool { one.name == other.name }
        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    @MainActor @Test func `M4 a value that is Hashable on the main actor only matches there`() async
    {
        let (topic, another) = (Topic(name: "weather"), Topic(name: "sports"))
        let log = Log<String>()
        let token = center.addObserver(forName: .sample, object: topic, queue: nil) { _ in
            log.add("a post")
        }
        for sender: Any in [topic, topic as Topic? as Any, another] {
            center.post(name: .sample, object: sender)
        }
        #expect(log.entries == ["a post", "a post"])
        withExtendedLifetime(token) {}
    }
}
