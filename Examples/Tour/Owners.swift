import Foundation
import Tether

/// The facts that the tour prints about an owner. Tether requires no protocol of an owner.
protocol Owner: AnyObject {
    nonisolated var journal: Journal { get }
}

/// Observes where the posting thread runs, inside the post: the default.
final class Indexer: Owner {
    let journal = Journal("Indexer", is: "class", observes: "(the default)")

    init(_ center: ObserverCenter) {
        center.observe(.fileFound, owner: self) { [capture = journal.capture()] indexer, _ in
            indexer.journal.receive(with: capture)
        }
    }

    deinit { journal.end(of: self) }
}

/// Observes on the main queue.
final class Window: Owner {
    let journal = Journal("Window", is: "class", observes: "on: .main")

    init(_ center: ObserverCenter) {
        center.observe(.fileFound, owner: self, on: .main) {
            [capture = journal.capture()] window, _ in
            window.journal.receive(with: capture)
        }
    }

    deinit { journal.end(of: self) }
}

/// Observes on the main actor, whose state the handler may use.
@MainActor final class Sidebar: Owner {
    let journal = Journal("Sidebar", is: "@MainActor class", observes: "on: .mainActor")
    private var fileCount = 0

    init(_ center: ObserverCenter) {
        center.observe(.fileFound, owner: self, on: .mainActor) {
            [capture = journal.capture()] sidebar, _ in
            sidebar.fileCount += 1
            sidebar.journal.receive(with: capture)
        }
    }

    deinit { journal.end(of: self) }
}

/// Observes with a method. The method is isolated to the main actor, and therefore runs there.
@MainActor final class Title: Owner {
    let journal = Journal("Title", is: "@MainActor class", observes: "to: Title.update")
    private var text = ""

    init(_ center: ObserverCenter) {
        center.connect(.fileFound, to: Title.update, of: self)
    }

    private func update(_ notification: Notification) {
        text = notification.userInfo?["path"] as? String ?? ""
        journal.receive()
    }

    deinit { journal.end(of: self) }
}

/// Observes on a serial dispatch queue.
final class Cache<Value>: Owner {
    let journal = Journal(
        "Cache<\(Value.self)>", is: "generic class", observes: "on: .dispatchQueue(_:)")

    init(_ center: ObserverCenter, on queue: DispatchQueue) {
        center.observe(.fileFound, owner: self, on: .dispatchQueue(queue)) {
            [capture = journal.capture()] cache, _ in
            cache.journal.receive(with: capture)
        }
    }

    deinit { journal.end(of: self) }
}

/// Observes on an operation queue.
final class Speller: Owner {
    let journal = Journal("Speller", is: "class", observes: "on: .operationQueue(_:)")

    init(_ center: ObserverCenter, on queue: OperationQueue) {
        center.observe(.fileFound, owner: self, on: .operationQueue(queue)) {
            [capture = journal.capture()] speller, _ in
            speller.journal.receive(with: capture)
        }
    }

    deinit { journal.end(of: self) }
}

/// Observes on a suspended queue: no handler runs, and the posting thread does not wait.
final class Backup: Owner {
    let journal = Journal("Backup", is: "class", observes: "on a suspended queue")

    init(_ center: ObserverCenter, on queue: OperationQueue) {
        center.observe(.fileFound, owner: self, on: .operationQueue(queue)) {
            [capture = journal.capture()] backup, _ in
            backup.journal.receive(with: capture)
        }
    }

    deinit { journal.end(of: self) }
}

/// Observes the posts of one sender.
final class Follower: NSObject, Owner {
    let journal = Journal(
        "Follower", is: "NSObject subclass", observes: "from: walker 2", "its sender did")

    init(_ center: ObserverCenter, of walker: Walker) {
        super.init()
        center.observe(.fileFound, from: walker, owner: self) {
            [capture = journal.capture()] follower, _ in
            follower.journal.receive(with: capture)
        }
    }

    deinit { journal.end(of: self) }
}

/// Observes a single post.
final class Greeter: Owner {
    let journal = Journal(
        "Greeter", is: "class", observes: "on: .main, once: true", "it has run once")

    init(_ center: ObserverCenter) {
        center.observe(.fileFound, owner: self, on: .main, once: true) {
            [capture = journal.capture()] greeter, _ in
            greeter.journal.receive(with: capture)
        }
    }

    deinit { journal.end(of: self) }
}
