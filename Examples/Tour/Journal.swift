import Foundation
import Synchronization
import Tether

/// The deliveries and the end of one owner. The journal outlives the owner.
final class Journal: Sendable {
    let name: String
    /// Why the owner's observer may end before the owner.
    let reason: String
    private let kind: String
    private let request: String
    private let state = Locked(State())

    private struct State {
        var received = 0
        var places: Set<String> = []
        var captures = 0
        /// How many observers and captures there were at the first line of the owner's `deinit`.
        var left: (observers: Int, captures: Int)?
    }

    init(_ name: String, is kind: String, observes request: String, _ reason: String = "") {
        self.name = name
        self.kind = kind
        self.request = request
        self.reason = reason
    }

    /// Notes a delivery; called by the handlers.
    func receive(with capture: Capture? = nil) {
        let place = Place.current
        state.withLock { state in
            state.received += 1
            state.places.insert(place)
        }
    }

    // MARK: The end

    /// An object for a handler to capture, so that the tour can count the captures.
    func capture() -> Capture {
        state.withLock { $0.captures += 1 }
        return Capture(self)
    }

    fileprivate func captureEnded() { state.withLock { $0.captures -= 1 } }

    /// Notes the owner's end; called at the first line of its `deinit`.
    func end(of owner: some Owner) {
        let observers = OwnerObservers(of: owner).count
        state.withLock { $0.left = (observers, $0.captures) }
    }

    var captures: Int { state.withLock(\.captures) }
    var hasEnded: Bool { state.withLock { $0.left != nil } }
    /// Whether the observers had ended, and their captures were released, at the first line of the
    /// owner's `deinit`.
    var endedInTime: Bool { state.withLock { $0.left ?? (1, 1) == (0, 0) } }

    // MARK: Printing

    static func printTable(of journals: [Journal]) {
        print(row("owner", "is a", "observes", "received", "ran on"))
        for journal in journals {
            let (received, places) = journal.state.withLock { ($0.received, $0.places.sorted()) }
            let place = places.isEmpty ? "-" : places.joined(separator: ", ")
            print(row(journal.name, journal.kind, journal.request, String(received), place))
        }
    }

    private static func row(
        _ name: String, _ kind: String, _ request: String, _ count: String, _ place: String
    )
        -> String
    {
        let count = String(repeating: " ", count: max(0, 8 - count.count)) + count
        return
            "   \(name.padded(to: 13))\(kind.padded(to: 19))\(request.padded(to: 25))\(count)  \(place)"
    }
}

/// A handler's capture.
final class Capture: Sendable {
    private let journal: Journal

    fileprivate init(_ journal: Journal) { self.journal = journal }

    deinit { journal.captureEnded() }
}

extension Audit.Row {
    /// The row without addresses, which differ from run to run.
    var inOneLine: String {
        func withoutAddress(_ description: String) -> String {
            String(description.prefix { $0 != " " })
        }
        return
            "\(name?.rawValue ?? "any name") from \(sender.map(withoutAddress) ?? "any sender"), "
            + "for \(owner.map(withoutAddress) ?? "its token"), on \(target), at \(file):\(line)"
    }
}

extension String {
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
