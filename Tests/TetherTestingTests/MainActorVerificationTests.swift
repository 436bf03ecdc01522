import Dispatch
import Foundation
import Synchronization
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Verifications in tests that are themselves a block of the main queue, as tests on the main actor
/// are.
@MainActor @Suite(.collectsIssues) struct MainActorVerificationTests {
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
    func `L2 a verification that blocks its delivery to the main queue names the remedy`(
        _ form: Form
    ) {
        let (center, keep, issues) = (ObserverCenter(), Keep(), Issues())
        Issues.$current.withValue(issues) {
            verifyNoLeaks(limits: .init(deliveryWait: .zero)) {
                keep.add(form.observe(center) {})
                postElsewhere(center)
            }
        }
        #expect(issues.messages.contains { $0.contains("still waiting for 1 delivery pending on") })
        #expect(
            issues.messages.contains {
                $0.contains("This call blocks the target") && $0.contains("'await'")
            })
        keep.drop()
    }

    @Test(arguments: Form.allCases)
    func `L2 an async verification on the main actor lets deliveries to the main queue run`(
        _ form: Form
    ) async {
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

/// Verifications that block a thread of Swift's tasks, as a test without an actor does.
@Suite(.collectsIssues) struct TaskThreadVerificationTests {
    /// An actor whose jobs wait for the test.
    private actor Held {
        final class Executor: SerialExecutor {
            private let jobs = Mutex<[UnownedJob]>([])

            func enqueue(_ job: consuming ExecutorJob) {
                let job = UnownedJob(job)
                jobs.withLock { $0.append(job) }
            }

            func run() {
                let waiting = jobs.withLock { jobs in
                    defer { jobs = [] }
                    return jobs
                }
                for job in waiting { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
            }
        }

        let executor = Executor()
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe executor.asUnownedSerialExecutor()
        }
    }

    private let center = ObserverCenter()
    private let actor = Held()
    private let issues = Issues()

    private func observeAndPost() {
        center.observe(.modelDidChange, owner: actor) { (_: isolated Held, _) in }
        center.post(name: .modelDidChange, object: nil)
    }

    private func expectOneIssue(_ remedy: String) {
        #expect(issues.messages.contains { $0.contains("pending on actor Held for") })
        #expect(issues.messages.contains { $0.hasSuffix(remedy) })
        actor.executor.run()
    }

    @Test func `L2 a verification that blocks a task's thread names the remedy for a delivery`() {
        Issues.$current.withValue(issues) {
            verifyNoLeaks(limits: .init(deliveryWait: .zero)) { observeAndPost() }
        }
        expectOneIssue(
            "This call blocks a thread that the task may need. Write 'await' before the call, in an async test."
        )
    }

    @Test func `L2 an async verification does not call a delivery to a task blocked`()
        async
    {
        await Issues.$current.withValue(issues) {
            await verifyNoLeaks(limits: .init(deliveryWait: .zero)) { observeAndPost() }
        }
        expectOneIssue("Let that target run, or cancel() the observer, before the test ends.")
    }
}
