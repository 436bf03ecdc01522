import Foundation
import Testing
import Tether

/// Tests of messages that are made on the main queue.
protocol MessageFlowSuite: Sendable, SendableMetatype {
    var center: ObserverCenter { get }
}

extension MessageFlowSuite {
    /// The payloads of notifications with the name of `AlbumDidClose`, here or elsewhere. `nil`
    /// makes no message.
    func postNote(_ number: Int?) {
        center.post(name: AlbumDidClose.name, object: nil, userInfo: number.map { ["number": $0] })
    }

    /// Posts notes on another thread. The notes become messages on the main queue only, which the
    /// test occupies.
    func postElsewhere(_ numbers: Int?...) {
        onThreads { for number in numbers { postNote(number) } }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor func observed(once: Bool) -> (log: Log<Int>, token: NotificationObserver) {
        let log = Log<Int>()
        return (log, center.observe(for: .didClose, once: once) { log.add($0.number) })
    }

    /// The notifications of messages, which may be posted again on any thread.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor func envelopes(_ numbers: [Int]) -> [MessageTravel] {
        let (other, log) = (ObserverCenter(), Log<MessageTravel>())
        let token = other.observe(nil) { log.add(MessageTravel(notification: $0)) }
        for number in numbers { other.post(AlbumDidClose(number: number)) }
        return withExtendedLifetime(token) { log.entries }
    }
}

/// SAFETY: not changed.
struct MessageTravel: @unchecked Sendable { let notification: Notification }
