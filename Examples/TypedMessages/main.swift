// Messages with a type of their own, instead of a name and a dictionary.
//
// A download posts its progress on the main actor, and its end on any thread. Both messages have
// the types of Foundation. Observers end with their owner, and observers of plain notifications
// with the message's name are also called.
//
// Prints: bar shows 50 %
// Prints: posted; the bar has 50 % already
// Prints: a plain observer received one
// Prints: the library has one
// Prints: the library has two

import Foundation
import Tether

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
final class Download: Sendable {
    /// Posted on the main actor: observers have run when the post returns.
    struct DidProgress: NotificationCenter.MainActorMessage {
        typealias Subject = Download
        let percent: Int
    }

    /// Posted on any thread: observers are async, and get one message after the other.
    struct DidEnd: BridgedAsyncMessage {
        typealias Subject = Download
        static let name = Notification.Name("downloadDidEnd")
        let file: String

        static func makeMessage(_ notification: Notification) -> Self? {
            (notification.userInfo?["file"] as? String).map(Self.init)
        }

        static func makeNotification(_ message: Self) -> Notification {
            Notification(name: name, userInfo: ["file": message.file])
        }
    }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<Download.DidProgress> {
    static var didProgress: Self { .init() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<Download.DidEnd> {
    static var didEnd: Self { .init() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@MainActor final class ProgressBar {
    var percent = 0

    init(center: ObserverCenter, download: Download) {
        center.observe(of: download, for: .didProgress, owner: self) { bar, message in
            bar.percent = message.percent
            print("bar shows \(message.percent) %")
        }
    }
}

actor Library {
    let (shelf, books) = AsyncStream.makeStream(of: String.self)

    func add(_ file: String) { books.yield(file) }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@MainActor func run() async {
    let center = ObserverCenter()
    let (download, other, library) = (Download(), Download(), Library())
    var bar: ProgressBar? = ProgressBar(center: center, download: download)
    center.observe(for: .didEnd, owner: library) { library, message in
        await library.add(message.file)
    }
    let plain = center.observe(Download.DidEnd.name, from: download) { note in
        print("a plain observer received \(note.userInfo?["file"] ?? "nothing")")
    }

    center.post(Download.DidProgress(percent: 50), subject: download)
    print("posted; the bar has \(bar?.percent ?? 0) % already")
    center.post(Download.DidProgress(percent: 99), subject: other)
    bar = nil
    center.post(Download.DidProgress(percent: 100), subject: download)

    center.post(Download.DidEnd(file: "one"), subject: download)
    center.post(name: Download.DidEnd.name, object: other, userInfo: ["file": "two"])
    for await file in library.shelf.prefix(2) { print("the library has \(file)") }

    plain.cancel()
    guard center.audit().count == 1 else {
        fatalError("Only the library should observe: \(center.audit())")
    }
    withExtendedLifetime((library, bar)) {}
}

if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
    await run()
} else {
    print("Foundation has typed messages from macOS 26 on.")
}
