import Foundation

@testable import Tether

/// Tests of a sender. The log has the sender's end, and the release of its observers' captures.
protocol SenderEndSuite: Sendable {
    var log: Log<String> { get }
}

extension SenderEndSuite {
    func observe(
        _ center: ObserverCenter, _ sender: Holder<LoggedObject>,
        on target: DeliveryTarget = .postingThread,
        once: Bool = false
    ) -> NotificationObserver {
        let capture = LoggedObject("capture", log)
        return center.observe(.sample, from: sender.object!, on: target, once: once) { [log] note in
            capture.touch()
            log.add("handler, object \((note.object as? LoggedObject)?.name ?? "none")")
        }
    }

    /// A sender that posts in its `deinit`.
    func lastWordSender(_ center: ObserverCenter) -> Holder<LoggedObject> {
        Holder(LoggedObject("sender", log) { sender in center.post(name: .sample, object: sender) })
    }
}
