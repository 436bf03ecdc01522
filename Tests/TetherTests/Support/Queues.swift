import Dispatch
import Foundation
import Testing

extension DispatchQueue {
    /// Waits until all that was posted to observers on this queue before has run.
    func settle(sourceLocation: SourceLocation = #_sourceLocation) {
        // Twice, because a drain under way leaves what was posted meanwhile to another one.
        for _ in 0..<2 {
            let gate = Gate()
            async(flags: .barrier) { gate.open() }
            gate.pass(sourceLocation: sourceLocation)
        }
    }
}

extension OperationQueue {
    /// A queue that runs one operation at a time.
    static func serial() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }

    /// Waits until all that was posted to observers on this queue before has run.
    func settle(sourceLocation: SourceLocation = #_sourceLocation) {
        // Twice, because a drain under way leaves what was posted meanwhile to another one.
        for _ in 0..<2 {
            let gate = Gate()
            addBarrierBlock { gate.open() }
            gate.pass(sourceLocation: sourceLocation)
        }
    }
}
