import Dispatch
import Foundation
import Tether

/// The kinds of queues that a scenario can have in place of a scheduler.
enum LibraryQueueKind: CaseIterable {
    case operationQueue, dispatchQueue

    func makeTarget(isBatching: Bool) -> any LibraryTarget {
        switch self {
        case .operationQueue: LibraryOperationQueue(isBatching: isBatching)
        case .dispatchQueue: LibraryDispatchQueue(isBatching: isBatching)
        }
    }
}

/// A serial operation queue that is suspended except while its operations are run. Nothing else
/// happens meanwhile.
private final class LibraryOperationQueue: LibraryTarget {
    private let queue = OperationQueue.serial()

    let target: DeliveryTarget

    init(isBatching: Bool) {
        queue.isSuspended = true
        target = .operationQueue(queue, batching: isBatching)
    }

    var count: Int { queue.operationCount }

    func run() {
        let hasRun = DispatchSemaphore(value: 0)
        queue.addOperation { [queue] in
            queue.isSuspended = true
            hasRun.signal()
        }
        queue.isSuspended = false
        hasRun.wait()
    }

    func runOne(newest: Bool) {}
    func cancelOne(newest: Bool) {}

    func drop() {
        queue.cancelAllOperations()
        run()
    }
}

/// A serial dispatch queue that is suspended except while its blocks are run.
private final class LibraryDispatchQueue: LibraryTarget {
    private let queue = DispatchQueue.suspended()
    let target: DeliveryTarget

    init(isBatching: Bool) { target = .dispatchQueue(queue, batching: isBatching) }

    /// A suspended queue must not be released.
    deinit { queue.resume() }

    var count: Int { 0 }

    func run() {
        let hasRun = DispatchSemaphore(value: 0)
        queue.async { [queue] in
            queue.suspend()
            hasRun.signal()
        }
        queue.resume()
        hasRun.wait()
    }

    func runOne(newest: Bool) {}
    func cancelOne(newest: Bool) {}
    func drop() {}
}

extension DispatchQueue {
    static func suspended() -> DispatchQueue {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        return queue
    }
}
