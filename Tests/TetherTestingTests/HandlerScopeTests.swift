import Dispatch
import Foundation
import Testing
import Tether

@testable import TetherTesting

/// A registration inside a handler belongs to the test of the handler's observer, also if another
/// test posts.
@Suite struct HandlerScopeTests {
    private let center = ObserverCenter()
    private let first = LeakTracker()
    private let second = LeakTracker()
    private let keep = Keep()

    /// The current scopes in calls with a value.
    private final class Seen: Sendable {
        private let scopes = Locked<[LeakTracker?]>([])
        private let lastTask = Locked<Task<Void, Never>?>(nil)

        func look() {
            let scope = LeakTracker.current
            scopes.withLock { $0.append(scope) }
        }

        func wait(for task: Task<Void, Never>) { lastTask.withLock { $0 = task } }

        var all: [LeakTracker?] { scopes.withLock(\.self) }
        var task: Task<Void, Never>? { lastTask.withLock(\.self) }
    }

    private func post(_ name: Notification.Name = .modelDidChange) {
        center.post(name: name, object: nil)
    }

    @Test func `L2 L4 a handler in another test's post registers for its own test`()
        async
    {
        let (center, keep) = (center, keep)
        let token = first.adopt {
            center.observe(.modelDidChange) { _ in keep.add(center.observe(.modelDidClose) { _ in })
            }
        }
        second.adopt { post() }
        let limits = LeakTracker.Limits(deliveryWait: .zero, holderSearch: .seconds(300))
        #expect(await second.verify(limits).map(\.message) == [])
        #expect(
            await first.verify(limits).count {
                $0.message.contains("the observer of modelDidClose")
            } == 1)
        #expect(second.unattributed().isEmpty && first.unattributed().isEmpty)
        token.cancel()
        keep.drop()
    }

    @Test func `L4 a handler has its observer's scope, and the thread its own after the post`() {
        let (seen, foreign) = (Seen(), NotificationCenter())
        let tokens = first.adopt {
            [
                center.observe(.modelDidChange) { _ in seen.look() },
                foreign.observe(.modelDidChange) { _ in seen.look() },
            ]
        }
        second.adopt {
            post()
            foreign.post(name: .modelDidChange, object: nil)
            #expect(LeakTracker.current === second)
        }
        post()
        #expect(LeakTracker.current == nil)
        #expect(seen.all.map { $0 === first } == [true, true, true])
        withExtendedLifetime(tokens) {}
    }

    @Test func `L4 a task of a handler with a scope is not inside the handler on any thread`()
        async
    {
        let (center, second, seen) = (center, second, Seen())
        let tokens = first.adopt {
            [
                center.observe(.modelDidClose) { _ in seen.look() },
                center.observe(.modelDidChange) { _ in
                    second.adopt {
                        seen.wait(for: Task { center.post(name: .modelDidClose, object: nil) })
                    }
                },
            ]
        }
        for _ in 0..<100 {
            post()
            // The task may run on the posting thread.
            await seen.task?.value
        }
        #expect(seen.all.count == 100 && seen.all.allSatisfy { $0 === first })
        withExtendedLifetime(tokens) {}
    }

    @Test func `L4 a handler that outlives its test leaves nothing to the test that posts`() {
        let seen = Seen()
        let token = LeakTracker().adopt { center.observe(.modelDidChange) { _ in seen.look() } }
        second.adopt { post() }
        #expect(seen.all.count == 1 && seen.all[0] == nil)
        withExtendedLifetime(token) {}
    }
}
