import Foundation
import Testing

@testable import Tether

/// What becomes of a notification that is kept while its observer is muted.
@Suite struct KeptPayloadTests {
    private let center = ObserverCenter()
    private let scheduler = ManualScheduler()
    private let ended = Log<Int>()

    private func payload(_ number: Int, _ body: @escaping @Sendable () -> Void = {}) -> Ending {
        Ending { [ended] in
            ended.add(number)
            body()
        }
    }

    private func post(_ object: Ending) { center.post(name: .sample, object: object) }

    @Test func `D9 R8 the end of the token or of the center releases the kept notification`() {
        let token = Box<NotificationObserver?>(center.observe(.sample) { _ in })
        token.value?.mute(keepingNewest: true)
        post(payload(1))
        token.set(nil)
        #expect(ended.entries == [1])
        let second = Box(optional: ObserverCenter())
        let kept = second.value!.observe(.sample) { _ in }
        kept.mute(keepingNewest: true)
        second.value!.post(name: .sample, object: payload(2))
        second.drop()
        #expect(ended.entries == [1, 2])
        #expect(!kept.isActive)
    }

    @Test func `D9 R6 a kept notification is displaced and released with no lock held`() {
        let (center, box) = (center, Box<NotificationObserver?>(nil))
        // Each takes the lock under which the kept one was.
        let touch: @Sendable () -> Void = {
            box.value?.mute()
            box.value?.unmute()
            box.value?.backlog = .newest(3)
            _ = center.audit()
        }
        box.set(center.observe(.sample, on: .custom(scheduler), once: true) { _ in })
        box.value?.mute(keepingNewest: true)
        for number in 1...3 { post(payload(number, touch)) }
        #expect(ended.entries == [1, 2])
        box.value?.cancel()
        #expect(ended.entries == [1, 2, 3])
        box.set(nil)
    }
}
