import Dispatch
import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Registrations that resemble leaks, without a leak.
@Suite(.collectsIssues) struct FalsePositiveTests {
    final class Owner: Sendable {}

    private let center = ObserverCenter()

    @Test func `L2 an owner that the test keeps on purpose is no leak, nor are its observers`()
        async
    {
        let (center, owner) = (center, Owner())
        await verifyNoLeaks {
            LeakTracker.current?.keep(owner)
            center.observe(.modelDidChange, owner: owner) { _, _ in }
        }
        #expect(center.audit().count == 1)
    }

    @Test(.verifiesNoLeaks) func `L2 an owner that lives to the last line of the test is no leak`()
    {
        let owner = track(Owner())
        center.observe(.modelDidChange, owner: owner) { _, _ in }
        let token = center.observe(.modelDidChange) { _ in }
        center.post(name: .modelDidChange, object: nil)
        withExtendedLifetime((owner, token)) {}
    }

    @Test func `L2 the object of an ended observer's delivery is no leak on a target at rest`()
        async
    {
        let center = center
        await verifyNoLeaks(limits: .init(deliveryWait: .seconds(5))) {
            let (target, owner) = (track(ManualTarget()), Owner())
            center.observe(.modelDidChange, owner: owner, on: target.target) { _, _ in }
            center.post(name: .modelDidChange, object: nil)
            // Mostly while the delivery is waited for.
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.1) {
                withExtendedLifetime(owner) {}
            }
        }
    }

    @Test func `L2 an owner in the middle of a delivery on another thread is waited for`() async {
        let center = center
        let (entered, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        await verifyNoLeaks {
            let owner = Owner()
            center.observe(.modelDidChange, owner: owner) { _, _ in
                entered.signal()
                leave.wait()
            }
            Thread.detachNewThread { center.post(name: .modelDidChange, object: nil) }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    #expect(entered.wait(timeout: .now() + 300) == .success)
                    continuation.resume()
                }
            }
            // Only the running handler retains its owner, until after the body.
            Thread.detachNewThread { leave.signal() }
        }
        #expect(center.audit().isEmpty)
    }

    @Test func `L2 a handler that never returns is reported`() async {
        let center = center
        let (entered, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let keep = Keep()
        let messages = await planted {
            keep.add(
                center.observe(.modelDidChange) { _ in
                    entered.signal()
                    leave.wait()
                })
            Thread.detachNewThread { center.post(name: .modelDidChange, object: nil) }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    #expect(entered.wait(timeout: .now() + 300) == .success)
                    continuation.resume()
                }
            }
        }
        #expect(
            messages.contains {
                $0.hasPrefix("still waiting for the handler registered at ")
                    && $0.contains("running on another thread")
            })
        leave.signal()
        keep.drop()
    }

    @Test func `L2 the check waits for all objects that a thread of the test is about to release`()
        async
    {
        let keeps = (0..<5).map { _ in Keep() }
        await verifyNoLeaks {
            for keep in keeps { keep.add(track(Owner())) }
            Thread.detachNewThread { for keep in keeps { keep.drop() } }
        }
    }

    @Test func `L2 a check waits its whole limit for one object, also if another is released`() {
        let (early, late, began) = (Keep(), Keep(), DispatchTime.now())
        let leaks = findLeaks(limits: .init(releaseWait: .seconds(1), holderSearch: .zero)) {
            early.add(track(Owner()))
            late.add(track(Owner()))
            Thread.detachNewThread {
                // Usually the check waits by then. Otherwise the test passes without its case.
                Thread.sleep(forTimeInterval: 0.1)
                early.drop()
            }
        }
        #expect(!leaks.isEmpty)
        #expect(DispatchTime.now() >= began + 1)
        late.drop()
    }

    @Test func `L2 a throwing body is not verified, and its error comes through`() async {
        struct Failure: Error {}
        let (center, keep) = (center, Keep())
        await #expect(throws: Failure.self) {
            try await verifyNoLeaks {
                keep.add(center.observe(.modelDidChange) { _ in })
                throw Failure()
            }
        }
        keep.drop()
    }

    @Test func `L2 the result of a body comes through`() async {
        #expect(await verifyNoLeaks { 5 } == 5)
    }
}
