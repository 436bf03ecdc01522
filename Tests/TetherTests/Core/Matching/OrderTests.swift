import Foundation
import Testing
import Tether

/// The order of deliveries.
@Suite struct OrderTests {
    private final class Sender: Sendable {}

    private let center = ObserverCenter()
    private let log = Log<Int>()

    /// A registration of any of the six kinds for a post of `.sample` from `object` or from 7.
    private func observe(_ number: Int, kind: Int, object: Sender) -> NotificationObserver {
        let log = log
        let handler: @Sendable (Notification) -> Void = { _ in log.add(number) }
        return switch kind {
        case 0: center.observe(.sample, from: object, handler)
        case 1: center.observe(nil, from: object, handler)
        case 2: center.addObserver(forName: .sample, object: 7, queue: nil, using: handler)
        case 3: center.addObserver(forName: nil, object: 7, queue: nil, using: handler)
        case 4: center.observe(.sample, handler)
        default: center.observe(nil, handler)
        }
    }

    @Test(arguments: 0..<6)
    func `M3 registration order holds through any number of removals and additions`(seed: Int) {
        var dice = SplitMix64(seed: UInt64(seed))
        let object = Sender()
        var live: [(number: Int, kind: Int, token: NotificationObserver)] = []
        for number in 0..<400 {
            // More are added than removed at first, then more removed.
            if !live.isEmpty, Int.random(in: 0..<400, using: &dice) < 100 + number / 2 {
                live.remove(at: Int.random(in: 0..<live.count, using: &dice)).token.cancel()
            } else {
                let kind = Int.random(in: 0..<6, using: &dice)
                live.append((number, kind, observe(number, kind: kind, object: object)))
            }
            guard number % 5 == 0 else { continue }
            let before = log.entries.count
            center.post(name: .sample, object: object)
            #expect(
                log.entries.dropFirst(before)
                    == live.filter { [0, 1, 4, 5].contains($0.kind) }.map(\.number)[...])
            let middle = log.entries.count
            center.post(name: .sample, object: 7)
            #expect(
                log.entries.dropFirst(middle) == live.filter { $0.kind >= 2 }.map(\.number)[...])
        }
        withExtendedLifetime((live, object)) {}
    }
}
