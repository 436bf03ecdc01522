import Foundation
import Testing
import Tether

/// Names looked up once.
@Suite struct ChannelTests {
    private final class Sender: Sendable {}

    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test func `M1 a channel's posts reach all four kinds, as the center's do`() {
        let (log, sender) = (log, Sender())
        let channel = center.channel(for: .sample)
        let tokens = [
            center.observe(nil) { _ in log.add("any, any") },
            center.observe(.sample, from: sender) { _ in log.add("name, sender") },
            center.observe(.other) { _ in log.add("other") },
            center.observe(nil, from: sender) { _ in log.add("any, sender") },
            center.observe(.sample) { _ in log.add("name, any") },
        ]
        channel.post(object: sender)
        #expect(log.entries == ["any, any", "name, sender", "any, sender", "name, any"])
        channel.post()
        #expect(log.entries.dropFirst(4) == ["any, any", "name, any"])
        withExtendedLifetime((tokens, sender)) {}
    }

    @Test func `M1 a channel says its name and passes on what it is given`() {
        let log = log
        let channel = center.channel(for: .sample)
        #expect(channel.name == .sample)
        let token = center.observe(.sample) { note in
            log.add("\(note.name.rawValue) \(note.object ?? "none") \(note.userInfo?["a"] ?? "none")")
        }
        channel.post(object: 3, userInfo: ["a": "b"])
        #expect(log.entries == ["sample 3 b"])
        withExtendedLifetime(token) {}
    }

    @Test func `M9 channels of one name are made and dropped without harm to each other or to observers`() {
        let log = log
        let kept = center.channel(for: .sample)
        for _ in 0..<10 { center.channel(for: .sample).post() }
        let token = center.observe(.sample) { _ in log.add("reached") }
        for _ in 0..<10 { _ = center.channel(for: .sample) }
        kept.post()
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["reached", "reached"])
        withExtendedLifetime(token) {}
    }

    @Test func `R10 a channel outlives its center and then posts nothing`() {
        let log = log
        let holder = SharedHolder(ObserverCenter())
        let channel = holder.value!.channel(for: .sample)
        let token = holder.value!.observe(.sample) { _ in log.add("reached") }
        channel.post()
        holder.drop()
        channel.post()
        #expect(log.entries == ["reached"])
        #expect(!token.isActive)
    }

    @Test func `M1 a channel posts a notification of its name, for its object`() {
        let (log, sender) = (log, Sender())
        let channel = center.channel(for: .sample)
        let tokens = [
            center.observe(.sample, from: sender) { log.add("sender \($0.userInfo?["a"] ?? "none")") },
            center.observe(.sample) { log.add("any \($0.userInfo?["a"] ?? "none")") },
        ]
        channel.post(Notification(name: .sample, object: sender, userInfo: ["a": 1]))
        channel.post(Notification(name: .sample, userInfo: ["a": 2]))
        #expect(log.entries == ["sender 1", "any 1", "any 2"])
        withExtendedLifetime((tokens, sender)) {}
    }
}
