import Foundation
import Synchronization
import Testing

@testable import Tether

/// Audits while other threads register and cancel observers.
@Suite(.ownThread) struct AuditMomentTests {
    private final class Object: Sendable {}

    @Test func `L1 a row of an observer that ends meanwhile is as registered, or is left out`() {
        let (center, sender) = (ObserverCenter(), Object())
        let isDone = Atomic<Bool>(false)
        let odd = Log<String>()
        let adder: @Sendable () -> Void = {
            while !isDone.load(ordering: .relaxed) {
                let tokens = (0..<20).map { _ in center.observe(.sample, from: sender) { _ in } }
                for token in tokens { token.cancel() }
            }
        }
        let auditor: @Sendable () -> Void = {
            var rows = 0
            for _ in 0..<20_000 where rows < 20_000 && odd.entries.isEmpty {
                for row in center.audit() {
                    rows += 1
                    if row.name == nil || row.sender == nil { odd.add(row.description) }
                }
            }
            isDone.store(true, ordering: .relaxed)
        }
        onThreads([adder, adder, auditor])
        #expect(odd.entries == [])
    }

    /// A queue whose name is code of the user's.
    private final class NamedQueue: OperationQueue, @unchecked Sendable {
        let token = Box<NotificationObserver?>(nil)
        let log = Log<String>()

        override var name: String? {
            get {
                if let token = token.value {
                    log.add("\(token.isActive), \(token.target.isPostingThread)")
                }
                return "named"
            }
            set { super.name = newValue }
        }
    }

    @Test func `L1 R6 a queue's name is asked with no lock held`() {
        let (center, queue) = (ObserverCenter(), NamedQueue())
        queue.token.set(center.observe(.sample, on: .operationQueue(queue)) { _ in })
        #expect(center.audit().map(\.target) == ["operation queue named"])
        #expect(queue.log.entries == ["true, false"])
        queue.token.set(nil)
    }

    @Test func `L1 an attached observer without a registration is not in its owner's audit`() {
        let (center, owner) = (ObserverCenter(), Object())
        let isDone = Atomic<Bool>(false)
        let odd = Log<String>()
        let adder: @Sendable () -> Void = {
            while !isDone.load(ordering: .relaxed) {
                center.observe(.sample, owner: owner) { _, _ in }.cancel()
            }
        }
        let auditor: @Sendable () -> Void = {
            for _ in 0..<20_000 where odd.entries.isEmpty {
                for row in OwnerObservers(of: owner).audit() where row.name == nil {
                    odd.add(row.description)
                }
            }
            isDone.store(true, ordering: .relaxed)
        }
        onThreads([adder, auditor])
        #expect(odd.entries == [])
    }
}
