import Dispatch
import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Verifications in tests that are themselves a block of the main queue, as tests on the main actor
/// are.
@MainActor @Suite struct MainActorVerificationTests {
    /// How an observer's deliveries come to wait for the main queue.
    nonisolated enum Form: CaseIterable {
        case target, handler, thread

        @MainActor func observe(
            _ center: ObserverCenter, _ received: @escaping @Sendable () -> Void
        ) -> NotificationObserver {
            switch self {
            case .target: center.observe(.modelDidChange, on: .main) { _ in received() }
            case .handler: center.observe(.modelDidChange, on: .mainActor) { _ in received() }
            case .thread: center.observe(.modelDidChange, on: .currentThread) { _ in received() }
            }
        }
    }

    private func postElsewhere(_ center: ObserverCenter) {
        let posted = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            center.post(name: .modelDidChange, object: nil)
            posted.signal()
        }
        posted.wait()
    }

    @Test(arguments: Form.allCases)
    func `L2 a delivery to the main queue that a verification blocks is reported with the remedy`(
        _ form: Form
    ) {
        let (center, keep, issues) = (ObserverCenter(), Keep(), Issues())
        withKnownIssue {
            verifyNoLeaks(limits: .init(deliveryWait: .zero)) {
                keep.add(form.observe(center) {})
                postElsewhere(center)
            }
        } matching: { issue in
            issues.add(issue)
            return true
        }
        #expect(issues.messages.contains { $0.contains("still waiting for 1 delivery pending on") })
        #expect(
            issues.messages.contains {
                $0.contains("This call blocks that target") && $0.contains("'await'")
            })
        keep.drop()
    }

    @Test(arguments: Form.allCases)
    func
        `L2 a delivery to the main queue is made while an async verification in a test on the main actor waits`(
            _ form: Form
        ) async
    {
        let (center, keep) = (ObserverCenter(), Keep())
        let received = Keep()
        await verifyNoLeaks {
            keep.add(
                form.observe(center) {
                    received.add(1)
                    keep.drop()
                })
            postElsewhere(center)
            #expect(received.isEmpty)
        }
        #expect(!received.isEmpty)
    }
}
