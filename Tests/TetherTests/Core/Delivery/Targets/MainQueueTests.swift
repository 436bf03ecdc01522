import Dispatch
import Foundation
import Testing

@testable import Tether

/// The main queue is shared with all other tests, so inline delivery is only certain while nothing is pending there;
/// `MainRunLoopTests` has the queue to itself.
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
    func `D3 posted to from the main queue it delivers inline, unless something is pending there`(
        _ index: Int
    ) async {
        let center = ObserverCenter()
        let log = Log<Int>()
        let token = center.observe(.sample, on: MainQueueTests.targets[index]()) { log.add($0.number) }
        let wasInline = await onMain {
            center.post(.sample, number: 1)
            return log.entries == [1]
        }
        #expect(wasInline)
        withExtendedLifetime(token) {}
    }

    @Test(arguments: targets.indices)
    func `D3 D2 posted to from another thread it delivers on the main queue, and the poster does not wait`(
        _ index: Int
    ) async {
        let center = ObserverCenter()
        let log = Log<String>()
        let mayGoOn = Gate()
        let token = center.observe(.sample, on: MainQueueTests.targets[index]()) { _ in
            log.add(MainQueue.isCurrent ? "on main" : "elsewhere")
        }
        DispatchQueue.main.async { mayGoOn.pass() }
        await withCheckedContinuation { continuation in
            Thread {
                center.post(.sample, number: 1)
                log.add("posted")
                mayGoOn.open()
                continuation.resume()
            }.start()
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { DispatchQueue.main.async { continuation.resume() } }
        }
        #expect(log.entries == ["posted", "on main"])
        withExtendedLifetime(token) {}
    }

    @Test func `D3 the main queue's wrappers, got anew each time, are one target`() {
        for _ in 0..<3 {
            for target in MainQueueTests.targets {
                #expect(BoundTarget.bind(target()) is MainQueueTarget)
                #expect(target().description == "main")
            }
        }
        #expect(BoundTarget.bind(.dispatchQueue(DispatchQueue(label: "other"))) is DispatchQueueTarget)
        #expect(BoundTarget.bind(.dispatchQueue(.global())) is DispatchQueueTarget)
    }

    @Test func `D3 on main is the main queue, whichever thread runs it`() async {
        let isCurrent = await onMain { MainQueue.isCurrent }
        #expect(isCurrent)
        let isCurrentOnActor = await MainActor.run { MainQueue.isCurrent }
        #expect(isCurrentOnActor)
        #expect(!MainQueue.isCurrent)
    }

    @Test func `D3 D4 posted to from the main queue it queues behind what is pending there`() async {
        let center = ObserverCenter()
        let log = Log<Int>()
        let token = center.observe(.sample, on: .main) { log.add($0.number) }
        let beforeDrain = await onMain {
            // On a thread of its own, while the main queue is held here: pending for certain.
            onThreads({ center.post(.sample, numbers: 1...2) })
            center.post(.sample, number: 3)
            return log.entries
        }
        #expect(beforeDrain == [])
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { DispatchQueue.main.async { continuation.resume() } }
        }
        #expect(log.entries == [1, 2, 3])
        withExtendedLifetime(token) {}
    }
}
