import Foundation
import Testing
import Tether

/// Messages and plain notifications of one name, next to each other.
@MainActor @Suite struct MessageInteroperationTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    private func observePlain(_ name: Notification.Name?) -> NotificationObserver {
        let log = log
        return center.observe(name) { note in
            let number = note.userInfo?["number"].map { "\($0)" } ?? "nothing"
            log.add(
                "\(note.name.rawValue) \(note.object is Album ? "model" : "\(note.object as Any)") \(number)"
            )
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T2 a message reaches plain observers of its name and any as its notification`() {
        let model = Album()
        let tokens = [
            observePlain(AlbumDidClose.name), observePlain(nil), observePlain(AlbumDidLoad.name),
        ]
        center.post(AlbumDidClose(number: 1), subject: model)
        center.post(AlbumDidClose(number: 2))
        center.post(AlbumDidLoad(number: 3), subject: model)
        #expect(
            log.entries == [
                "albumDidClose model 1", "albumDidClose model 1", "albumDidClose nil 2",
                "albumDidClose nil 2",
                "albumDidLoad model 3", "albumDidLoad model 3",
            ])
        withExtendedLifetime((tokens, model)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T2 a message that makes nothing reaches plain observers under its type's name`() {
        let tokens = [
            observePlain(nil), observePlain(Notification.Name("TetherTests.AlbumDidSave")),
        ]
        center.post(AlbumDidSave(number: 1))
        center.post(AlbumDidChange(number: 1))
        #expect(
            log.entries == [
                "TetherTests.AlbumDidSave nil nothing", "TetherTests.AlbumDidSave nil nothing",
                "TetherTests.AlbumDidChange nil nothing",
            ])
        withExtendedLifetime(tokens) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T2 a plain notification reaches only observers of the message made of it`() {
        let (log, model) = (log, Album())
        let tokens = [
            center.observe(of: model, for: .didLoad, on: .postingThread) {
                log.add("load from model \($0.number)")
            },
            center.observe(for: .didLoad, on: .postingThread) { log.add("load \($0.number)") },
            center.observe(for: .type(SameNameAsAlbumDidLoad.self), on: .postingThread) { _ in
                log.add("same name")
            },
            center.observe(of: model, for: .didClose) { log.add("close from model \($0.number)") },
            center.observe(for: .didClose) { log.add("close \($0.number)") },
            center.observe(for: .didSave, on: .postingThread) { _ in log.add("save") },
        ]
        center.post(name: AlbumDidLoad.name, object: model, userInfo: ["number": 1])
        center.post(name: AlbumDidLoad.name, object: nil, userInfo: ["number": 2])
        center.post(name: AlbumDidLoad.name, object: nil, userInfo: ["number": "three"])
        center.post(name: AlbumDidLoad.name, object: nil)
        #expect(log.entries == ["load from model 1", "load 1", "load 2"])
        center.post(name: AlbumDidClose.name, object: model, userInfo: ["number": 4])
        center.post(name: AlbumDidClose.name, object: nil)
        #expect(log.entries.dropFirst(3) == ["close from model 4", "close 4"])
        center.post(name: Notification.Name("TetherTests.AlbumDidSave"), object: nil)
        #expect(log.entries.count == 5)
        withExtendedLifetime((tokens, model)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T2 types of one name do not get each other's messages`() {
        let log = log
        let tokens = [
            center.observe(for: .type(SameNameAsAlbumDidLoad.self), on: .postingThread) { _ in
                log.add("same name")
            },
            center.observe(for: .type(AlbumDidLoad.self), on: .postingThread) {
                log.add("load \($0.number)")
            },
            center.observe(for: .type(AlbumDidLoad.self), on: .postingThread, once: true) { _ in
                log.add("once")
            },
            observePlain(AlbumDidLoad.name),
        ]
        center.post(SameNameAsAlbumDidLoad())
        center.post(AlbumDidLoad(number: 1))
        #expect(
            log.entries == [
                "same name", "albumDidLoad nil nothing", "load 1", "once", "albumDidLoad nil 1",
            ])
        withExtendedLifetime(tokens) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T2 M3 messages and notifications are delivered in one registration order`() {
        let (log, model) = (log, Album())
        let tokens = [
            center.observe(for: .didClose) { _ in log.add("1") },
            center.observe(nil) { _ in log.add("2") },
            center.observe(of: model, for: .didClose) { _ in log.add("3") },
            center.observe(AlbumDidClose.name, from: model) { _ in log.add("4") },
            center.observe(nil, from: model) { _ in log.add("5") },
            center.observe(for: .type(AlbumDidClose.self)) { _ in log.add("6") },
        ]
        center.post(AlbumDidClose(number: 1), subject: model)
        #expect(log.entries == ["1", "2", "3", "4", "5", "6"])
        withExtendedLifetime((tokens, model)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T2 a bridged message without more has its type's name, and others make none`() {
        let (log, owner) = (log, Album())
        let name = Notification.Name("TetherTests.AlbumDidRest")
        let tokens = [
            observePlain(nil),
            center.observe(for: .type(AlbumDidRest.self)) { _ in log.add("rest") },
        ]
        center.observe(for: .type(AlbumDidRest.self), owner: owner) { _, _ in
            log.add("owner's rest")
        }
        center.post(AlbumDidRest())
        #expect(log.entries == ["\(name.rawValue) nil nothing", "rest", "owner's rest"])
        center.post(name: name, object: nil)
        #expect(log.entries.dropFirst(3) == ["\(name.rawValue) nil nothing"])
        withExtendedLifetime((tokens, owner)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `T2 plain observers get a message's notification, also in a post inside its post`() {
        let (center, log) = (center, log)
        @Sendable nonisolated func number(_ notification: Notification) -> String {
            guard let userInfo = notification.userInfo else { return "none" }
            let messages = userInfo.values.filter { "\($0)".hasPrefix("AlbumDidLoad(") }
            return
                "\(userInfo["number"] ?? "nothing") of \(userInfo.count), \(messages.map { "\($0)" })"
        }
        let isNested = Box(false)
        let tokens = [
            center.observe(AlbumDidLoad.name) { log.add("plain \(number($0))") },
            center.observe(for: .didLoad, on: .postingThread) { message in
                log.add("load \(message.number)")
                if isNested.value { return }
                isNested.set(true)
                // Not the message whose post this is in.
                center.post(name: AlbumDidLoad.name, object: nil, userInfo: ["number": 2])
                center.post(name: AlbumDidLoad.name, object: nil)
                center.post(AlbumDidLoad(number: 3))
            },
            center.observe(for: .didLoad, on: .postingThread) { log.add("also \($0.number)") },
        ]
        center.post(AlbumDidLoad(number: 1))
        #expect(
            log.entries == [
                "plain 1 of 2, [\"AlbumDidLoad(number: 1)\"]", "load 1",
                "plain 2 of 1, []", "load 2", "also 2", "plain none",
                "plain 3 of 2, [\"AlbumDidLoad(number: 3)\"]", "load 3", "also 3",
                "also 1",
            ])
        withExtendedLifetime(tokens) {}
    }
}
