import Dispatch
import Foundation
import Testing
import Tether

@MainActor @Suite struct MainActorMessageTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T1 a message reaches observers of its subject and of any, by identifier and type`()
    {
        let (log, model, other) = (log, Album(), Album())
        let tokens = [
            center.addObserver(of: model, for: .didChange) {
                log.add("subject, identifier \($0.number)")
            },
            center.addObserver(of: model, for: .type(AlbumDidChange.self)) {
                log.add("subject \($0.number)")
            },
            center.addObserver(for: .type(AlbumDidChange.self)) { log.add("any \($0.number)") },
            center.addObserver(of: other, for: .didChange) { _ in log.add("other") },
        ]
        center.post(AlbumDidChange(number: 1), subject: model)
        #expect(log.entries == ["subject, identifier 1", "subject 1", "any 1"])
        center.post(AlbumDidChange(number: 2))
        center.post(AlbumDidChange(number: 3), subject: Album.self)
        #expect(log.entries.dropFirst(3) == ["any 2", "any 3"])
        withExtendedLifetime((tokens, model, other)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T1 a message that is not Sendable arrives as the same`() {
        let window = AlbumDidOpen.Window()
        let token = center.addObserver(for: .type(AlbumDidOpen.self)) { $0.window.title += "seen" }
        center.post(AlbumDidOpen(window: window))
        #expect(window.title == "seen")
        withExtendedLifetime(token) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T3 a message is delivered in the post, even while others wait on the main queue`() {
        let (center, log) = (center, log)
        let tokens = [
            center.observe(.sample, on: .main) { _ in log.add("plain") },
            center.observe(for: .didClose) { log.add("message \($0.number)") },
        ]
        // Both are pending on the main queue, which the test occupies.
        onThreads {
            center.post(name: .sample, object: nil)
            center.post(name: AlbumDidClose.name, object: nil, userInfo: ["number": 1])
        }
        #expect(center.audit().map(\.pending) == [1, 1])
        center.post(AlbumDidClose(number: 2))
        log.add("posted")
        #expect(log.entries == ["message 2", "posted"])
        withExtendedLifetime(tokens) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T3 P1 a notification posted elsewhere reaches a message's observer on main`()
        async
    {
        let (center, log) = (center, log)
        let token = center.observe(for: .didClose) { message in
            MainActor.assertIsolated()
            log.add("message \(message.number)")
        }
        onThreads {
            for number in 1...3 {
                center.post(name: AlbumDidClose.name, object: nil, userInfo: ["number": number])
            }
        }
        #expect(log.entries == [])
        await mainQueueTurns()
        #expect(log.entries == ["message 1", "message 2", "message 3"])
        withExtendedLifetime(token) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `R7 a once observer ends with a message, not with a notification that makes none`()
        async
    {
        let (center, log) = (center, log)
        let token = center.observe(for: .didClose, once: true) { message in
            log.add("message \(message.number)")
            center.post(AlbumDidClose(number: 9))
        }
        center.post(name: AlbumDidClose.name, object: nil)
        onThreads {
            center.post(name: AlbumDidClose.name, object: nil)
            center.post(name: AlbumDidClose.name, object: nil, userInfo: ["number": 1])
            center.post(name: AlbumDidClose.name, object: nil, userInfo: ["number": 2])
        }
        #expect(token.isActive)
        await mainQueueTurns()
        #expect(log.entries == ["message 1"])
        #expect(!token.isActive && center.isEmpty)
    }

    /// Suspends until the main queue has run its present work, and the work added meanwhile.
    private func mainQueueTurns() async {
        for _ in 0..<3 {
            await withCheckedContinuation { continuation in
                DispatchQueue.main.async { continuation.resume() }
            }
        }
    }

    private final class Disk: Sendable {
        private let atEnd: @Sendable (Disk) -> Void

        init(atEnd: @escaping @Sendable (Disk) -> Void) {
            self.atEnd = atEnd
        }

        deinit { atEnd(self) }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private struct DiskDidEject: BridgedMainActorMessage {
        typealias Subject = Disk
        static var name: Notification.Name { Notification.Name("diskDidEject") }
        let number: Int

        static func makeMessage(_ notification: Notification) -> Self? {
            (notification.userInfo?["number"] as? Int).map(Self.init)
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test(arguments: [[1], [nil], [nil, 2, 3]])
    func `M5 R7 a post in a subject's deinit is converted before a once observer ends`(
        numbers: [Int?]
    ) async {
        let (center, log) = (center, log)
        let disk = Box(
            optional:
                Disk { disk in
                    for number in numbers {
                        center.post(
                            name: DiskDidEject.name, object: disk,
                            userInfo: number.map { ["number": $0] })
                    }
                })
        let token = center.observe(of: disk.value!, for: .type(DiskDidEject.self), once: true) {
            log.add("\($0.number)")
        }
        onThreads { disk.drop() }
        #expect(token.isActive)
        #expect(center.audit().map(\.pending) == [numbers.count])
        await mainQueueTurns()
        #expect(log.entries == numbers.compactMap(\.self).prefix(1).map(String.init))
        #expect(!token.isActive && center.isEmpty)
    }
}
