internal import Foundation

/// Drains on an operation queue.
struct OperationDrains: DrainScheduler {
    let queue: OperationQueue
    let isSerial: Bool

    var canCancel: Bool { true }

    func schedule(_ drain: Drain) { queue.addOperation(DrainOperation(drain)) }

    func sharesQueue(with other: any DrainScheduler) -> Bool {
        guard let other = other as? OperationDrains else { return false }
        return !isSerial && !other.isSerial && queue === other.queue
    }
}

/// One drain as an operation, so that cancelling the queue's operations drops what is pending (D2).
///
/// SAFETY: `drain` never changes and is Sendable; the rest is `Operation`'s own state.
private final class DrainOperation: Operation, @unchecked Sendable {
    private let drain: Drain

    init(_ drain: Drain) {
        self.drain = drain
    }

    override func main() { drain.run() }

    override func cancel() {
        super.cancel()
        drain.cancel()
    }
}
