import Foundation
import Testing

@testable import Tether

/// Tests of messages that only the main queue can make.
protocol MessageFlowSuite: Sendable, SendableMetatype {
    var center: ObserverCenter { get }
}

extension MessageFlowSuite {
    /// The payloads that may be posted under the name of `AlbumDidClose`, here or elsewhere; `nil`
    /// makes no message.
    func postNote(_ number: Int?) {
        center.post(name: AlbumDidClose.name, object: nil, userInfo: number.map { ["number": $0] })
    }

    /// Posts notes on a thread that cannot make messages, because only the main queue can, and the
    /// test occupies it.
    func postElsewhere(_ numbers: Int?...) {
        onThreads { for number in numbers { postNote(number) } }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor func observed(once: Bool) -> (log: Log<Int>, token: NotificationObserver) {
        let log = Log<Int>()
        return (log, center.observe(for: .didClose, once: once) { log.add($0.number) })
    }

    /// The notifications that messages travel as, which may be posted again anywhere.
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
