internal import Foundation

extension Audit {
    /// The audit as JSON: an object with `observers`, `waitingPosts` and `droppedPosts`.
    ///
    /// An observer's `name`, `sender`, `owner` and `key` are absent where there is none.
    public func json() -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(Document(self)) else {
            // Not covered: nothing leads here.
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
