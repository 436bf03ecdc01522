import Foundation
import Testing
import Tether

/// The main thread as a target where the main queue runs without a run loop, as in these tests on
/// Linux.
@Suite struct ThreadWithoutRunLoopTests {
    @Test func `D5 without a main run loop the main queue delivers to the main thread in order`()
        async
    {
        let center = ObserverCenter()
        let log = Log<String>()
        let target = await MainActor.run { DeliveryTarget.currentThread }
        let token = center.observe(.sample, on: target) { notification in
            dispatchPrecondition(condition: .onQueue(.main))
            log.add(notification.label)
        }
        let custom = center.observe(
            .sample, on: .thread(.mainThread, modes: [RunLoop.Mode("custom")])
        ) { _ in
            log.add("in a mode in which no run loop runs")
        }
        await Task.detached { for label in ["1", "2", "3"] { center.post(.labelled(label)) } }.value
        await withCheckedContinuation { continuation in
            // Behind the delivery of the others.
            DispatchQueue.main.async {
                center.post(.labelled("inline"))
                log.add("behind it")
                continuation.resume()
            }
        }
        #expect(log.entries == ["1", "2", "3", "inline", "behind it"])
        // Deliveries on a thread without a run loop are not lost silently.
        #expect(center.audit().map(\.pending) == [0, 4])
        withExtendedLifetime((token, custom)) {}
    }
}
