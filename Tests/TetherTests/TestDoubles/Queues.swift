import Dispatch
import Foundation
import Testing

extension DispatchQueue {
    /// Waits until all that was posted to observers on this queue before has run.
    func settle(sourceLocation: SourceLocation = #_sourceLocation) {
        // Twice, because a block may post, and on a concurrent queue another thread may run the
        // block of such a post.
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
        // Not with barriers: Foundation's queue may lose a barrier that is added while another
        // ends.
        guard maxConcurrentOperationCount == 1 else {
            while operationCount > 0 { waitUntilAllOperationsAreFinished() }
            return
        }
        // Twice, because a block may post.
        for _ in 0..<2 {
            let gate = Gate()
            addOperation { gate.open() }
            gate.pass(sourceLocation: sourceLocation)
        }
    }
}
