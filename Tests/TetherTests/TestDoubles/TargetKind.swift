import Dispatch
import Foundation
import Testing

@testable import Tether

/// A delivery target of each kind, to run a test on all.
enum TargetKind: CaseIterable, CustomTestStringConvertible {
    case postingThread, main, operationQueue, dispatchQueue, custom, thread

    /// The targets that deliver later.
    static let asynchronous = allCases.filter { $0 != .postingThread }

    func makePlace() -> TargetPlace { TargetPlace(self) }

    var testDescription: String { "\(self)" }
}

/// A target with a wait for its deliveries, and a check for the code that runs there.
final class TargetPlace: Sendable {
    let target: DeliveryTarget
    private let check: @Sendable () -> Bool
    private let run: @Sendable () -> Void
    private let end: @Sendable () -> Void

    /// Whether the calling code runs on the target.
    var isCurrent: Bool { check() }

    fileprivate init(_ kind: TargetKind) {
        switch kind {
        case .postingThread:
            target = .postingThread
            let postingThread = ObjectIdentifier(Thread.current)
            check = { ObjectIdentifier(Thread.current) == postingThread }
            (run, end) = ({}, {})
        case .main:
            target = .main
            check = { MainQueue.isCurrent }
            (run, end) = ({}, {})
        case .operationQueue:
            let queue = OperationQueue.serial()
            target = .operationQueue(queue)
            check = { OperationQueue.current === queue }
            (run, end) = ({}, {})
        case .dispatchQueue:
            let key = DispatchSpecificKey<Bool>()
            let queue = DispatchQueue(label: "TargetPlace")
            queue.setSpecific(key: key, value: true)
            target = .dispatchQueue(queue)
            check = { DispatchQueue.getSpecific(key: key) == true }
            (run, end) = ({}, {})
        case .custom:
            let (jobs, isRunning) = (ManualScheduler(), Box(false))
            target = .custom(jobs)
            check = { isRunning.value }
            run = {
                isRunning.set(true)
                jobs.runAll()
                isRunning.set(false)
            }
            end = {}
        case .thread:
            let thread = RunLoopThread(name: "TargetPlace")
            thread.start()
            target = .thread(thread)
            let worker = ObjectIdentifier(thread)
            check = { ObjectIdentifier(Thread.current) == worker }
            run = {}
            // SAFETY: a thread may be cancelled from any other.
            nonisolated(unsafe) let cancelled = thread
            end = { unsafe cancelled.cancel() }
        }
    }

    deinit { end() }

    /// Waits until all earlier posts have been delivered.
    func settle(sourceLocation: SourceLocation = #_sourceLocation) async {
        let (center, last) = (ObserverCenter(), Latch())
        // Behind all other deliveries: a target has one order for all observers.
        let token = center.observe(.sample, on: target) { _ in last.open() }
        center.post(name: .sample, object: nil)
        run()
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                last.pass(sourceLocation: sourceLocation)
                continuation.resume()
            }
        }
        withExtendedLifetime(token) {}
    }
}
