public import Foundation
internal import Synchronization

/// The observers of one moment: name and sender, owner, place of registration, target.
///
/// ```swift
/// print(center.audit())
/// #expect(center.audit().isEmpty)
/// ```
///
/// With `TETHER_AUDIT=exit` in its environment a program prints the audit of the process when it ends by itself: see
/// [Watching a program](doc:WatchingAProgram).
///
/// *Representation*: a row of texts and numbers for each observer. A row is read from its observer in one step, and described
/// after that, so that no lock is held during a description of yours. An audit retains no object. While it is being taken it
/// retains the key, the sender and the target of one observer at a time, and nothing that a handler captured.
///
/// *Cost*: O(n log n) for n observers, under a lock of the center. So it is for tests and diagnosis.
public struct Audit: Sendable, RandomAccessCollection {
    /// One observer.
    public struct Row: Sendable, Hashable {
        /// The center that it is registered with: `ObserverCenter.default`, or its type and address.
        public let center: String
        /// The name that it observes; `nil` for any.
        public let name: Notification.Name?
        /// The sender that it observes, its type and address or its value; `nil` for any.
        public let sender: String?
        /// The owner that it is attached to, its type and address; `nil` for one that its token, or its sequence, holds.
        public let owner: String?
        /// The file of the line that registered it, as `Module/File.swift`.
        public let file: String
        /// The line that registered it.
        public let line: Int
        /// Its target; of an async sequence the buffering policy, as "sequence, newest 2".
        public let target: String
        /// How many deliveries wait for it, on its target or, kept while it is muted, until it is not.
        public let pending: Int
        /// How many deliveries to it were dropped: by its target, by its backlog, or while it was muted.
        public let dropped: Int
        /// How many mutings of it and of its owner are in force; 0 if it is not muted.
        public let muteCount: Int
        /// Whether it ends after it has run once.
        public let isOnce: Bool
        /// The key that makes it the only one.
        public let key: String?
        /// The holder of an observer without an owner.
        let holder: String
        /// Whether the sender that it observes is an object.
        package let isSenderObject: Bool
    }

    /// The rows, in registration order.
    public let rows: [Row]

    /// The position of the first row.
    public var startIndex: Int { rows.startIndex }
    /// The position past the last row.
    public var endIndex: Int { rows.endIndex }
    /// The row at a position.
    /// - Parameter position: The position of a row: `startIndex` or more, and less than `endIndex`. Any other stops the
    ///   program.
    public subscript(position: Int) -> Row { rows[position] }

    /// The notifications that wait in one posting queue.
    public struct WaitingPosts: Sendable, Hashable {
        /// The thread or dispatch queue that will post.
        public let place: String
        /// How many notifications wait for the end of a run loop pass.
        public let asap: Int
        /// How many notifications wait for the run loop to be idle.
        public let whenIdle: Int
    }

    /// The posting queues of the center with pending posts (Q2).
    public let waitingPosts: [WaitingPosts]

    /// How many enqueued posts were dropped because their queue or its thread ended.
    public let droppedPosts: Int

    init(_ registrations: [Unretained<Registration>], ledgers: [PostingLedger] = []) {
        rows = registrations.compactMap { $0.withMemory { Row($0) } }
        waitingPosts = ledgers.flatMap(\.live).compactMap { queue in
            let counts = queue.counts
            guard counts.asap + counts.whenIdle > 0 else { return nil }
            return WaitingPosts(place: queue.place, asap: counts.asap, whenIdle: counts.whenIdle)
        }
        droppedPosts = ledgers.reduce(0) { $0 + $1.droppedPosts }
    }

    /// The observers of all centers of the process: all of Tether's own, and the foreign ones that have observers
    /// through Tether; center after center, in registration order (L1).
    public static func process() -> Audit {
        let cores = CenterCore.ofOwnCenters + ForeignCenters.shared.cores
        return Audit(cores.flatMap { $0.registrations() }, ledgers: cores.map(\.ledger))
    }
}

extension Audit.Row {
    /// `nil` for an observer that is not registered, or ends meanwhile, whose values would be of different moments.
    fileprivate init?(_ registration: RegistrationMemory) {
        guard let seen = registration.look(Look.init), !registration.hasEnded else { return nil }
        let (report, kept) = seen.counts
        center = Audit.Row.description(of: seen.center)
        name = seen.name
        sender =
            switch seen.sender {
            case nil: nil
            case .object: seen.senderRecord?.description(as: "a sender")
            case .value(let value): value.description
            }
        isSenderObject = if case .object = seen.sender { true } else { false }
        owner = seen.owner?.description(as: "an owner")
        file = seen.site.file
        line = seen.site.line
        target = seen.keeperDescription ?? report.target.description
        pending = report.pending + report.kept + kept.pending
        dropped = report.dropped + kept.dropped
        muteCount = report.muted
        isOnce = seen.isOnce
        key = seen.key?.description
        holder = seen.keeperDescription == nil ? "token" : "sequence"
    }

    /// The parts of a registration that are read in one step. They are described after that, by the user's code.
    private struct Look: Sendable {
        let center: CenterCore
        let site: RegistrationSite
        let name: Notification.Name?
        let sender: SenderKey?
        let senderRecord: OwnerRecord?
        let key: ObserverKey?
        let keeperDescription: String?
        let owner: OwnerRecord?
        let isOnce: Bool
        let counts: (PendingDeliveries.Report, (pending: Int, dropped: Int))

        init?(_ registration: Registration) {
            guard let subject = registration.center.subject(of: registration) else { return nil }
            (center, site) = (registration.center, registration.site)
            (senderRecord, key) = (registration.details?.sender, registration.details?.key)
            keeperDescription = registration.keeper?.targetDescription
            (name, sender) = subject
            owner = registration.owned?.record
            isOnce = registration.isOnce
            counts = Audit.Row.counts(of: registration)
        }
    }

    /// The name of a center: a constant for the shared ones, type and address for others.
    private static func description(of core: CenterCore) -> String {
        switch core.face {
        case .shared: "ObserverCenter.default"
        case .own: core.ownCenter.map { describeInstance(of: "ObserverCenter", at: $0) } ?? "a center that has gone"
        case .foreign: ForeignCenters.shared.description(of: core)
        }
    }

    /// The elements that the inbox and that hook keep, each in one of the two.
    private static func counts(
        of registration: Registration
    ) -> (PendingDeliveries.Report, (pending: Int, dropped: Int)) {
        let keeper = registration.keeper
        if let pending = registration.pending { return pending.report(with: keeper) }
        return (PendingDeliveries.Report(), keeper?.counts ?? (0, 0))
    }
}

extension Audit.Row: CustomStringConvertible {
    /// The row in one line.
    public var description: String {
        let subject = "\(describeName(name)) from \(sender ?? "any sender")"
        let holder = owner.map { "for \($0)" } ?? "for its \(holder)"
        return "\(subject) \(holder) on \(target), registered at \(file):\(line)"
            + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")
    }
}

// MARK: JSON

extension Audit {
    /// The audit as JSON: an object with `observers`, `waitingPosts` and `droppedPosts`.
    ///
    /// An observer's `name`, `sender`, `owner` and `key` are absent where there is none.
    public func json() -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(Document(self)) else {
            fatalError("Audit.json(): strings and numbers are always encodable.")
        }
        return String(decoding: data, as: UTF8.self)
    }

    private struct Document: Encodable {
        let observers: [Observer]
        let waitingPosts: [Waiting]
        let droppedPosts: Int

        init(_ audit: Audit) {
            observers = audit.rows.map(Observer.init)
            waitingPosts = audit.waitingPosts.map(Waiting.init)
            droppedPosts = audit.droppedPosts
        }

        struct Observer: Encodable {
            let center, file, target: String
            let name, sender, owner, key: String?
            let line, pending, dropped, muteCount: Int
            let isOnce: Bool

            init(_ row: Row) {
                (center, file, target) = (row.center, row.file, row.target)
                (name, sender, owner, key) = (row.name?.rawValue, row.sender, row.owner, row.key)
                (line, pending, dropped) = (row.line, row.pending, row.dropped)
                (muteCount, isOnce) = (row.muteCount, row.isOnce)
            }
        }

        struct Waiting: Encodable {
            let place: String
            let asap, whenIdle: Int

            init(_ waiting: WaitingPosts) {
                (place, asap, whenIdle) = (waiting.place, waiting.asap, waiting.whenIdle)
            }
        }
    }
}
