public import Foundation
internal import Synchronization

/// Who observes what, for whom, registered where, delivered to what: a picture of one moment.
///
/// ```swift
/// print(center.audit())
/// #expect(center.audit().isEmpty)
/// ```
///
/// Taking one retains nothing and calls nothing of yours. Complexity: O(n log n) for n observers; a lock of the center
/// is held for O(n), so it is for tests and diagnosis.
public struct Audit: Sendable, RandomAccessCollection {
    /// One observer.
    public struct Row: Sendable, Hashable {
        /// The name that it observes; `nil` for any.
        public let name: Notification.Name?
        /// The sender that it observes, its type and address or its value; `nil` for any.
        public let sender: String?
        /// The owner that it is attached to, its type and address; `nil` for one that its token holds.
        public let owner: String?
        /// The file, as `Module/File.swift`, in which it was registered.
        public let file: String
        /// The line at which it was registered.
        public let line: Int
        /// Where it delivers.
        public let target: String
        /// How many deliveries wait for it on its target.
        public let pending: Int
        /// How many deliveries to it were dropped.
        public let dropped: Int
        /// Whether it ends after it has run once.
        public let isOnce: Bool
        /// The key that makes it the only one.
        public let key: String?
    }

    /// The rows, in registration order.
    public let rows: [Row]

    /// The position of the first row.
    public var startIndex: Int { rows.startIndex }
    /// The position past the last row.
    public var endIndex: Int { rows.endIndex }
    /// The row at a position.
    public subscript(position: Int) -> Row { rows[position] }

    init(_ registrations: [Registration]) {
        rows = registrations.compactMap { $0.hasEnded ? nil : Row($0) }
    }
}

extension Audit.Row {
    fileprivate init(_ registration: Registration) {
        let details = registration.details
        let inbox = details.inbox.load()
        let counts = inbox?.counts ?? (pending: 0, dropped: 0)
        name = registration.center.subject(of: registration)?.name
        sender = details.senderDescription
        // Held for the description only.
        owner = details.attachment.map { attachment in
            attachment.record.reference.take().map(describeInstance) ?? "an owner that has gone"
        }
        file = registration.site.file.description
        line = Int(registration.site.line)
        target = (inbox?.target ?? .poster).description
        pending = counts.pending
        dropped = counts.dropped
        isOnce = details.isOnce
        key = details.key.map { String(reflecting: $0.key.base) }
    }
}

extension Audit.Row: CustomStringConvertible {
    /// The row in one line.
    public var description: String {
        let subject = "\(name?.rawValue ?? "any name") from \(sender ?? "any sender")"
        let holder = owner.map { "for \($0)" } ?? "for its token"
        var extras: [String] = []
        if isOnce { extras.append("once") }
        if let key { extras.append("key \(key)") }
        if pending > 0 { extras.append("\(pending) pending") }
        if dropped > 0 { extras.append("\(dropped) dropped") }
        return "\(subject) \(holder) on \(target), registered at \(file):\(line)"
            + (extras.isEmpty ? "" : " (\(extras.joined(separator: ", ")))")
    }
}

extension Audit: CustomStringConvertible {
    /// The rows, a line each.
    public var description: String {
        isEmpty ? "no observers" : map(\.description).joined(separator: "\n")
    }
}

extension NotifyingCenter {
    /// This center's observers, in registration order (L1).
    public func audit() -> Audit {
        let core = (self as? ObserverCenter)?.core ?? ForeignCenters.shared.knownCore(of: self)
        return Audit(core?.registrations() ?? [])
    }
}

// MARK: The observers of an owner

extension NotificationObserver {
    /// The live observers that are attached to an owner, on all centers, in order of attachment (O7).
    ///
    /// Complexity: O(observers of the owner). Any thread.
    public static func attached(to owner: AnyObject) -> [NotificationObserver] {
        OwnerTable.shared.observers(of: owner).filter(\.isActive)
    }

    /// Ends all observers that are attached to an owner, on all centers (O7).
    ///
    /// Complexity: O(observers of the owner). Any thread.
    public static func stopAll(attachedTo owner: AnyObject) {
        for observer in OwnerTable.shared.observers(of: owner) { observer.stop() }
    }

    /// The observers of an owner, on all centers, in order of attachment (L1).
    public static func audit(ofOwner owner: AnyObject) -> Audit {
        Audit(OwnerTable.shared.observers(of: owner).compactMap(\.registration))
    }
}
