import Foundation
import Testing

@testable import Tether

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
    func `M1 M2 M3 a post reaches each of four kinds once, in registration order`(
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
        // The first post of a name fills the cache.
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

    @Test func `M1 M2 a center says whether a post would reach an observer`() {
        let (sender, stranger) = (Sender(), Sender())
        func answers(_ name: Notification.Name) -> [Bool] {
            [
                center.hasObservers(named: name), center.hasObservers(named: name, from: sender),
                center.hasObservers(named: name, from: stranger),
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

// MARK: Every kind of center

extension MatchingTests {
    @Test(arguments: CenterKind.allCases)
    func `F1 M4 a class instance matches by identity, not by equality`(kind: CenterKind) {
        let (log, center) = (log, kind.makeCenter())
        let (sender, equal) = (NSMutableString(string: "text"), NSMutableString(string: "text"))
        #expect(sender == equal)
        let token = center.observe(.sample, from: sender) { log.add("\($0.number)") }
        center.post(.sample, from: equal, number: 1)
        center.post(.sample, from: "text", number: 2)
        center.post(.sample, from: sender, number: 3)
        #expect(log.entries == ["3"])
        withExtendedLifetime((token, sender)) {}
    }

    @Test(arguments: CenterKind.allCases, [true, false])
    func `F1 M7 no post reaches two observers with a key, while others replace them`(
        kind: CenterKind, hasSender: Bool
    ) {
        let (center, object, calls, isDone) = (kind.makeCenter(), Plain(), Log<Int>(), Flag())
        let sender: any AnyObject & Sendable = hasSender ? object : Omitted.argument
        let posts = 2000
        let first = center.observe(.sample, from: sender, key: 1) { calls.add($0.number) }
        onThreads(
            {
                for number in 0..<posts {
                    center.post(.sample, from: hasSender ? object : nil, number: number)
                }
                isDone.raise()
            },
            {
                var tokens: [NotificationObserver] = []
                repeat {
                    tokens.append(
                        center.observe(.sample, from: sender, key: 1) { calls.add($0.number) })
                    // A foreign center keeps the closures until another thread removes them, and
                    // each post walks over them. Without a pause the posts might never end.
                    if tokens.count.isMultiple(of: 100) { ForeignSubscription.settle() }
                    // The bound matters over the simulated Objective-C runtime alone. There nothing
                    // removes the closures, because Foundation on Linux does not retain tokens.
                } while !isDone.isRaised && tokens.count < 4 * posts
            })
        let entries = calls.entries
        #expect(zip(entries, entries.dropFirst()).allSatisfy { $0 < $1 })
        #expect(!first.isActive)
        #expect(center.audit().isEmpty)
        withExtendedLifetime(object) {}
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 M7 a post during a replacement reaches the new one, over Foundation's neither`(
        kind: CenterKind
    ) {
        let (log, center) = (log, kind.makeCenter())
        let first = {
            // Released with the old handler, before the replacing call returns.
            let captured = Ending { center.post(.sample, number: 1) }
            return center.observe(.sample, key: 1) { _ in captured.touch() }
        }()
        let second = center.observe(.sample, key: 1) { log.add("second \($0.number)") }
        #expect(log.entries == (kind == .tether ? ["second 1"] : []))
        center.post(.sample, number: 2)
        #expect(log.entries.last == "second 2")
        withExtendedLifetime((first, second)) {}
    }

    @Test(arguments: CenterKind.allCases) func `F1 M8 centers are isolated from each other`(
        kind: CenterKind
    ) {
        let (log, center, other) = (log, kind.makeCenter(), NotificationCenter())
        let token = center.observe(.sample, key: 1) { _ in log.add("first") }
        let second = other.observe(.sample, key: 1) { _ in log.add("second") }
        other.removeAllObservers()
        center.post(.sample)
        other.post(name: .sample, object: nil)
        #expect(log.entries == ["first"])
        #expect([token.isActive, second.isActive] == [true, false])
    }
}
