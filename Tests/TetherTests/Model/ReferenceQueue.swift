/// The model of a posting queue that is flushed by hand (Q1, Q3, Q4, Q8).
final class ReferenceQueue: Counted {
    private let center: ReferenceCenter
    private var entries: [Entry] = []
    private var enqueued = 0

    private struct Entry {
        let notification: ReferenceNotification
        let isIdle: Bool
        let place: Int
    }

    init(center: ReferenceCenter) {
        self.center = center
        super.init()
        center.hold()
    }

    override func ended() {
        center.droppedPosts += entries.count
        remove { _ in true }
        center.letGo()
    }

    func count(isIdle: Bool) -> Int { entries.count { $0.isIdle == isIdle } }

    func enqueue(_ notification: ReferenceNotification, style: ModelOperation.Style, mask: ModelOperation.Mask) {
        dequeue(notification, mask: mask)
        guard style != .now else { return center.post(notification) }
        // X3: without an object whose end has begun.
        let isEnding = notification.sender.object?.isEnding == true
        let kept =
            isEnding
            ? ReferenceNotification(name: notification.name, sender: .nobody, number: notification.number)
            : notification
        if !isEnding { kept.hold() }
        enqueued += 1
        entries.append(Entry(notification: kept, isIdle: style == .whenIdle, place: enqueued))
    }

    func dequeue(_ notification: ReferenceNotification, mask: ModelOperation.Mask) {
        remove { entry in
            let isName = entry.notification.name == notification.name
            let isSender = entry.notification.sender == notification.sender
            return switch mask {
            case .none: false
            case .name: isName
            case .sender: isSender
            case .both: isName && isSender
            }
        }
    }

    func dequeueExactly(_ number: Int) { remove { $0.notification.number == number } }

    private func remove(where condition: (Entry) -> Bool) {
        let removed = entries.filter(condition)
        entries.removeAll { entry in removed.contains { $0.place == entry.place } }
        for entry in removed { entry.notification.letGo() }
    }

    /// Posts what waits, asap before idle; what handlers enqueue meanwhile waits.
    func flush() {
        let limit = enqueued
        for isIdle in [false, true] {
            while let index = entries.firstIndex(where: { $0.isIdle == isIdle && $0.place <= limit }) {
                let entry = entries.remove(at: index)
                center.post(entry.notification)
                entry.notification.letGo()
            }
        }
    }
}
