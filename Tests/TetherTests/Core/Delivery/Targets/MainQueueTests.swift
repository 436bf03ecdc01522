import Dispatch
import Foundation
import Testing
import Tether

/// The main queue is shared with all other tests, so inline delivery is only certain while nothing
/// is pending there; `MainThreadSyncTests` has the queue to itself.
@Suite struct MainQueueTests {
    private static let targets: [@Sendable () -> DeliveryTarget] = [
        { .main },
        { .dispatchQueue(.main) },
        { .operationQueue(.main) },
        { .dispatchQueue(DispatchQueue.main, concurrently: true) },
    ]

    private func onMain<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume(returning: body()) }
        }
    }

    @Test(arguments: targets.indices)
    func `D3 a post on the main queue is delivered inline, unless deliveries are pending`(
        _ index: Int
    ) async {
        let center = ObserverCenter()
        let log = Log<Int>()
        let token = center.observe(.sample, on: MainQueueTests.targets[index]()) {
            log.add($0.number)
        }
        let wasInline = await onMain {
            center.post(.sample, number: 1)
            return log.entries == [1]
        }
        #expect(wasInline)
        withExtendedLifetime(token) {}
    }
}
