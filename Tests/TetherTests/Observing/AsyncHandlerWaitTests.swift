import Foundation
import Testing

@testable import Tether

/// Waits for async handlers.
@Suite struct AsyncHandlerWaitTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    private final class TaskScheduler: DeliveryScheduler {
        func schedule(_ job: @escaping @Sendable () -> Void) { Task { job() } }
    }

    @Test func `R2 P4 a delivery in a scheduler's task is no part of the posting async handler`()
        async
    {
        let (log, center, delivered, done) = (Log<Bool>(), center, AsyncGate(), AsyncGate())
        let token = center.observe(.other, on: .custom(TaskScheduler())) { _ in
            log.add(AsyncRun.current != nil)
            delivered.open()
        }
        let posting = center.observe(.sample) { _ in
            center.post(.other, number: 1)
            await delivered.pass()
            done.open()
        }
        center.post(.sample, number: 1)
        await done.pass()
        #expect(log.entries == [false])
        withExtendedLifetime((token, posting)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `R2 cancelAndWait waits for an async handler that is suspended`() async throws {
        let (log, gate, begun, ended) = (log, AsyncGate(), AsyncGate(), AsyncGate())
        let token = center.observe(for: .didSave) { _ in
            begun.open()
            await gate.pass()
            log.add("returned")
        }
        let registration = try #require(token.registration).address
        center.post(AlbumDidSave(number: 1))
        await begun.pass()
        Thread.detachNewThread {
            let result = token.cancelAndWait()
            log.add("\(result)")
            ended.open()
        }
        #expect(await isWaitedFor(registration))
        gate.open()
        await ended.pass()
        #expect(log.entries == ["returned", "finished"])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `R2 an async handler that cancels itself in its task or a child does not wait`()
        async
    {
        let (log, gate, token) = (log, AsyncGate(), Box<NotificationObserver?>())
        token.set(
            center.observe(for: .didSave) { _ in
                let own = await token.value?.cancelAndWait()
                async let child = token.value?.cancelAndWait()
                log.add("\(own as Any) \(await child as Any)")
                gate.open()
            })
        center.post(AlbumDidSave(number: 1))
        center.post(AlbumDidSave(number: 2))
        await gate.pass()
        let finished = NotificationObserver.WaitResult?.some(.finished)
        #expect(log.entries == ["\(finished as Any) \(finished as Any)"])
        token.drop()
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `R2 of two async handlers that wait for each other the later call says so`() async {
        let (log, gate) = (log, AsyncGate())
        let (one, two) = (Box<NotificationObserver?>(), Box<NotificationObserver?>())
        let (oneRuns, twoRuns) = (AsyncGate(), AsyncGate())
        one.set(
            center.observe(for: .didSave) { _ in
                oneRuns.open()
                await twoRuns.pass()
                log.add("\(await two.value?.cancelAndWait() ?? .finished)")
                gate.open()
            })
        two.set(
            center.observe(for: .didSave) { _ in
                twoRuns.open()
                await oneRuns.pass()
                log.add("\(await one.value?.cancelAndWait() ?? .finished)")
                gate.open()
            })
        center.post(AlbumDidSave(number: 1))
        await gate.pass()
        await gate.pass()
        #expect(log.entries == ["wouldDeadlock", "finished"])
        one.drop()
        two.drop()
    }

    @Test(.ownThread)
    func `R2 a blocking wait for a handler that waits for the caller returns wouldDeadlock`()
        async throws
    {
        let (log, center, runs) = (log, center, AsyncGate())
        let (addresses, tokens) = (Box<[RegistrationAddress]>([]), Box<[NotificationObserver]>([]))
        tokens.set([
            center.observe(.sample) { _ in
                runs.open()
                _ = await isWaitedFor(addresses.value[0])
                let wait = { tokens.value[1].cancelAndWait() }
                log.add("\(wait())")
            },
            center.observe(.other) { _ in log.add("\(tokens.value[0].cancelAndWait())") },
        ])
        addresses.set(try tokens.value.map { try #require($0.registration).address })
        center.post(.sample, number: 1)
        await runs.pass()
        onThreads({ center.post(.other, number: 2) })
        #expect(log.entries == ["wouldDeadlock", "finished"])
        tokens.set([])
    }
}
