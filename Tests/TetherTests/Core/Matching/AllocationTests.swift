import CAllocations
import Foundation
import Testing

@testable import Tether

/// The allocations of a post, counted by calls, not by live memory.
@Suite(.ownThread, .enabled(if: counts_allocations(), "A sanitizer has an allocator of its own."))
struct AllocationTests {
    /// How many allocations the calling thread makes in a post, after a few posts.
    private func allocations(of post: () -> Void) -> Int {
        for _ in 0..<10 { post() }
        let before = allocations_on_this_thread()
        for _ in 0..<100 { post() }
        return allocations_on_this_thread() - before
    }

    @Test func `M6 a post of a name without observers allocates nothing`() {
        let center = ObserverCenter()
        let token = center.observe(.other) { _ in }
        #expect(allocations { center.post(name: .sample, object: nil) } == 0)
        withExtendedLifetime(token) {}
    }

    @Test func `M6 to ask whether a post would reach an observer allocates nothing`() {
        let (center, sender) = (ObserverCenter(), NSObject())
        let token = center.observe(.sample, from: sender) { _ in }
        for name in [Notification.Name.sample, .other] {
            #expect(allocations { _ = center.hasObservers(named: name) } == 0)
            #expect(allocations { _ = center.hasObservers(named: name, from: sender) } == 0)
        }
        withExtendedLifetime(token) {}
    }

    @Test func `M1 a post allocates nothing for each observer on the posting thread`() {
        let (few, many) = (ObserverCenter(), ObserverCenter())
        var tokens = [few.observe(.sample) { _ in }]
        for _ in 0..<500 { tokens.append(many.observe(.sample) { _ in }) }
        let notification = Notification(name: .sample)
        #expect(allocations { many.post(notification) } == allocations { few.post(notification) })
        withExtendedLifetime(tokens) {}
    }

    @Test func `R2 posts to others allocate nothing while someone waits for a handler`() {
        let center = ObserverCenter()
        let (hasBegun, mayReturn) = (Gate(), Gate())
        let waited = center.observe(.sample) { _ in
            hasBegun.open()
            mayReturn.pass()
        }
        Thread.detachNewThread { center.post(name: .sample, object: nil) }
        hasBegun.pass()
        let hasWaited = Gate()
        let address = waited.registration!.address
        Thread.detachNewThread {
            waited.cancelAndWait()
            hasWaited.open()
        }
        while !HandlerWait.isAwaited(address) { sched_yield() }
        let others = ObserverCenter()
        let token = others.observe(.sample) { _ in }
        let notification = Notification(name: .sample)
        #expect(allocations { others.post(notification) } == 0)
        mayReturn.open()
        hasWaited.pass()
        withExtendedLifetime(token) {}
    }
}
