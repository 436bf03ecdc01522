import Foundation
import Synchronization

/// Threads that keep cores busy during measurements, because a program's machine is rarely idle.
final class CoreLoad: Sendable {
    private let isStopped = Atomic(false)

    init(threads: Int) {
        for _ in 0..<threads {
            Thread.detachNewThread { [self] in while !isStopped.load(ordering: .relaxed) {} }
        }
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }
}
