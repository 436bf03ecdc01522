import Foundation
import Testing

@testable import Tether

/// An observer whose inbox another thread has made, which has yet to say that deliveries pass through it.
@Suite struct InboxMakingTests {
    private let center = ObserverCenter()
    private let log = Log<Int>()

    private func observe() throws -> NotificationObserver {
        let token = center.observe(.sample) { [log] in log.add($0.number) }
        let registration = try #require(token.registration)
        _ = registration.rare.setInboxIfNil(Inbox(route: .poster), of: registration)
        return token
    }

    @Test func `D9 who mutes it hears no post that begins after that`() throws {
        let token = try observe()
        token.mute()
        center.post(.sample, number: 1)
        token.unmute()
        center.post(.sample, number: 2)
        #expect(log.entries == [2])
        withExtendedLifetime(token) {}
    }

    @Test func `D6 who switches its target hears a post that begins after that there`() throws {
        let (token, scheduler) = (try observe(), ManualScheduler())
        token.target = .custom(scheduler)
        center.post(.sample, number: 1)
        #expect(log.entries == [])
        scheduler.runAll()
        #expect(log.entries == [1])
        withExtendedLifetime(token) {}
    }

    private struct Key: Hashable {
        let content: Ending

        static func == (one: Key, other: Key) -> Bool { one.content === other.content }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(content)) }
    }

    @Test func `R8 M7 who has the inbox keeps neither the key nor what the handler captured`() throws {
        let log = Log<String>()
        let token = {
            let captured = Ending { log.add("captured") }
            let key = Key(content: Ending { log.add("key") })
            return center.observe(.sample, on: .custom(ManualScheduler()), key: key) { _ in captured.touch() }
        }()
        let inbox = try #require(token.registration?.inbox)
        token.stop()
        #expect(Set(log.entries) == ["captured", "key"])
        withExtendedLifetime((inbox, token)) {}
    }
}
