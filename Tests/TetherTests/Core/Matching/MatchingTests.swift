import Foundation
import Testing
import Tether

/// Which observers a post reaches.
@Suite(.ownThread) struct MatchingTests {
    private final class Sender: Sendable {}

    private let center = ObserverCenter()
    let log = Log<String>()

    private func observe(_ name: Notification.Name?, _ sender: Sender?, _ label: String)
        -> NotificationObserver
    {
        let log = log
        return if let sender {
            center.observe(name, from: sender) { _ in log.add(label) }
        } else {
            center.observe(name) { _ in log.add(label) }
        }
    }

    @Test(arguments: 0..<24)
    func `M1 M2 M3 a post reaches each of the four kinds once, in registration order, and no other`(
        seed: Int
    ) {
        let (a, b, stranger) = (Sender(), Sender(), Sender())
        var kinds: [(name: Notification.Name?, sender: Sender?)] = []
        for name in [.sample, .other, nil] as [Notification.Name?] {
            for sender in [a, b, nil] { kinds += [(name, sender), (name, sender)] }
        }
        var dice = SplitMix64(seed: UInt64(seed))
        kinds.shuffle(using: &dice)
        let tokens = kinds.enumerated().map { observe($1.name, $1.sender, "\($0)") }

        for name in [.sample, .other, Notification.Name("nobody's")] {
            for sender in [a, b, stranger, nil] {
                let expected = kinds.indices.filter { index in
                    let (observed, from) = kinds[index]
                    return (observed == nil || observed == name) && (from == nil || from === sender)
                }
                let before = log.entries.count
                center.post(name: name, object: sender)
                #expect(log.entries.dropFirst(before) == expected.map(String.init)[...])
            }
        }
        withExtendedLifetime((tokens, a, b)) {}
    }

    @Test func `M1 names match by their text`() {
        let token = observe(.sample, nil, "reached")
        center.post(name: Notification.Name(["sam", "ple"].joined()), object: nil)
        center.post(name: Notification.Name("Sample"), object: nil)
        center.post(name: Notification.Name(""), object: nil)
        #expect(log.entries == ["reached"])
        withExtendedLifetime(token) {}
    }

    @Test func `M2 names of one length that begin alike are distinguished, also in the cache`() {
        let texts = [
            "settings1", "settings2", "a name that is not short 1", "a name that is not short 2",
        ]
        let tokens = texts.map { observe(Notification.Name($0), nil, $0) }
        // The first post of a name puts it into the cache.
        for _ in 1...2 {
            for text in texts { center.post(name: Notification.Name(text), object: nil) }
        }
        #expect(log.entries == texts + texts)
        withExtendedLifetime(tokens) {}
    }

    @Test func `M1 the notification arrives as it was posted`() throws {
        let sender = Sender()
        let received = Log<String>()
        let token = center.observe(.sample) { notification in
            let isSender = (notification.object as? Sender) === sender
            received.add(
                "\(notification.name.rawValue) \(isSender) \(notification.userInfo?["key"] ?? "nothing")"
            )
        }
        center.post(name: .sample, object: sender, userInfo: ["key": 7])
        center.post(Notification(name: .sample, object: sender, userInfo: ["key": 8]))
        #expect(received.entries == ["sample true 7", "sample true 8"])
        withExtendedLifetime(token) {}
    }

    @Test func `M6 posts that match nobody do nothing, and a registration alone fires nothing`() {
        center.post(name: .sample, object: nil)
        center.post(Notification(name: .sample))
        let tokens = [
            observe(.sample, nil, "a"), observe(nil, nil, "b"), observe(.sample, Sender(), "c"),
        ]
        #expect(log.entries.isEmpty)
        center.removeAllObservers()
        center.post(name: .sample, object: nil)
        #expect(log.entries.isEmpty)
        withExtendedLifetime(tokens) {}
    }

    @Test func `M7 the same registration made n times is n deliveries`() {
        let tokens = (0..<3).map { _ in observe(.sample, nil, "again") }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["again", "again", "again"])
        tokens[1].cancel()
        center.post(name: .sample, object: nil)
        #expect(log.entries.count == 5)
        withExtendedLifetime(tokens) {}
    }

    @Test func `M1 M2 a center says whether a post would reach an observer`() {
        let (sender, stranger) = (Sender(), Sender())
        func answers(_ name: Notification.Name) -> [Bool] {
            [
                center.hasObservers(of: name), center.hasObservers(of: name, from: sender),
                center.hasObservers(of: name, from: stranger),
            ]
        }
        #expect(answers(.sample) == [false, false, false])
        let ofSender = observe(.sample, sender, "sender")
        #expect(answers(.sample) == [true, true, false])
        #expect(answers(.other) == [false, false, false])
        let ofName = observe(.sample, nil, "name")
        #expect(answers(.sample) == [true, true, true])
        ofSender.cancel()
        ofName.cancel()
        #expect(answers(.sample) == [false, false, false])
        let ofAll = observe(nil, sender, "all names")
        #expect(answers(.other) == [true, true, false])
        ofAll.cancel()
        #expect(answers(.other) == [false, false, false])
    }
}
