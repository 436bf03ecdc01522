import Foundation
import Tether
import TetherTesting

extension Notification.Name {
    static let fileFound = Notification.Name("fileFound")
    static let settled = Notification.Name("settled")
}

/// Posts every file of a folder, and releases the owners of `Owners.swift` one after the other.
@main @MainActor struct Tour {
    static func main() async {
        do {
            let folder = try Folder(arguments: CommandLine.arguments.dropFirst())
            exit(await Tour(folder: folder).run() ? EXIT_SUCCESS : EXIT_FAILURE)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(EX_USAGE)
        }
    }

    let folder: Folder
    private let center = ObserverCenter()
    private let queues = Queues()

    /// Returns whether all observers, owners and captures have ended.
    private func run() async -> Bool {
        let walker = Walker(name: "walker 1")
        var secondWalker: Walker? = Walker(name: "walker 2")
        var owners: [any Owner] = [
            Indexer(center), Window(center), Sidebar(center), Title(center),
            Cache<Data>(center, on: queues.cache),
            Speller(center, on: queues.speller), Backup(center, on: queues.suspended),
            Follower(center, of: secondWalker!), Greeter(center),
        ]
        let journals = owners.map(\.journal)
        print(
            "A tour of Tether: every file in \"\(folder.name)\" is posted, and nine objects, the owners, observe it."
        )
        print(
            "No owner has a base class, keeps a token, or has a line that removes an observer."
        )

        let (first, second) = folder.halves
        print("\n1. Two threads, walker 1 and walker 2, post half of the files: \(first.count).")
        let middle = first.count / 2
        async let firstWalk: Void = walker.post(first.prefix(middle), to: center)
        async let secondWalk: Void = secondWalker!.post(first.dropFirst(middle), to: center)
        _ = await (firstWalk, secondWalk)
        await settle()
        Journal.printTable(of: journals)
        // A picture of all nine owners, on request:
        //
        //     TOUR_PICTURE=Sources/Tether/Tether.docc/tour.svg swift run Tour
        if let file = ProcessInfo.processInfo.environment["TOUR_PICTURE"] {
            try? center.audit().svg().write(toFile: file, atomically: true, encoding: .utf8)
        }

        print(
            "\n2. Four owners and a sender are deallocated. Each owner's observers end before its deinit."
        )
        for name in ["Window", "Title", "Cache<Data>", "Backup"] {
            letGo(name, of: &owners, after: first.count)
        }
        secondWalker = nil
        for journal in owners.filter({ OwnerObservers(of: $0).isEmpty }).map(\.journal) {
            print(
                "   \(journal.name.padded(to: 13))lives on; its observer has ended, because \(journal.reason)"
            )
        }

        print("\n3. The audit, half-way: each observer's name, sender, owner, target and line.")
        for row in center.audit() { print("   \(row.inOneLine)") }

        print("\n4. walker 1 posts the other half: \(second.count). The other observers get them.")
        await walker.post(second, to: center)
        await settle()
        Journal.printTable(of: owners.filter { !OwnerObservers(of: $0).isEmpty }.map(\.journal))

        print("\n5. The other owners are deallocated.")
        for name in owners.map(\.journal.name) {
            letGo(name, of: &owners, after: first.count + second.count)
        }

        let audit = center.audit()
        print("\n6. The audit at the end: \(audit).")
        let living = journals.count { !$0.hasEnded }
        let captures = journals.reduce(0) { $0 + $1.captures }
        let isClean = audit.isEmpty && living == 0 && captures == 0
        let verdict = isClean ? "Nothing is left" : "SOMETHING IS LEFT"
        print("\(verdict): \(audit.count) observers, \(living) owners, \(captures) captures.")
        return isClean
    }

    /// Drops the only reference to an owner, and prints the releases.
    private func letGo(_ name: String, of owners: inout [any Owner], after fileCount: Int) {
        guard let index = owners.firstIndex(where: { $0.journal.name == name }) else { return }
        let journal = owners[index].journal
        let rows = OwnerObservers(of: owners[index]).audit()
        let pending = rows.reduce(0) { $0 + $1.pending }
        let had = [
            (rows.count, "observer"), (journal.captures, "capture"), (pending, "undelivered post"),
        ]
        .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }.joined(
            separator: ", ")
        owners.remove(at: index)
        let end = journal.hasEnded ? "ended after file \(fileCount)" : "STILL LIVES"
        let order = journal.endedInTime ? "released before" : "it had"
        print("   \(name.padded(to: 13))\(end); \(order): \(had.isEmpty ? "nothing" : had)")
    }

    /// Returns when all posts have been delivered. On a serial target the last post is delivered
    /// last.
    private func settle() async {
        let targets: [DeliveryTarget] = [
            .main, .dispatchQueue(queues.cache), .operationQueue(queues.speller),
        ]
        for target in targets {
            var last: NotificationObserver?
            await withCheckedContinuation { continuation in
                last = center.observe(.settled, on: target, once: true) { _ in continuation.resume()
                }
                center.post(name: .settled, object: nil)
            }
            await last?.cancelAndWait()
        }
    }
}
