import Foundation
import Synchronization
import Testing

@testable import Tether

@Suite(.ownThread) struct PostingTests {
    @Test func `M1 R8 a notification of a name alone stays whole when its name is forgotten`() {
        nonisolated(unsafe) var kept: Notification?
        let other = ObserverCenter()
        do {
            let center = ObserverCenter()
            // Not a constant, so the text is deallocated with its last reference.
            let name = Notification.Name("PostingTests." + String(repeating: "name", count: 10))
            let observer = Box<NotificationObserver?>(nil)
            observer.set(
                center.observe(name) { [weak center] notification in
                    observer.value?.cancel()
                    observer.set(nil)
                    // Drives the name out of the cache, which nobody observes any more.
                    for number in 0..<1000 {
                        for _ in 0..<2 {
                            center?.post(
                                name: Notification.Name("PostingTests.\(number)"), object: nil)
                        }
                    }
                    unsafe kept = notification
                    other.post(notification)
                })
            center.post(
                name: Notification.Name("PostingTests." + String(repeating: "name", count: 10)),
                object: nil)
            center.post(name: name, object: nil)
        }
        let whole = unsafe kept
        #expect(whole?.name.rawValue == "PostingTests." + String(repeating: "name", count: 10))
        #expect(whole?.object == nil)
        #expect(whole?.userInfo == nil)
    }

    @Test func `R8 a post takes no lock to look for the garbage of an earlier post under way`() {
        let center = ObserverCenter()
        let (isPosting, mayReturn, hasPosted) = (Latch(), Latch(), Gate())
        let tokens = [
            center.observe(.sample) { _ in },
            center.observe(.other) { _ in
                isPosting.open()
                mayReturn.pass()
            },
        ]
        for _ in 0..<2 { center.post(name: .sample, object: nil) }
        let earlier = SystemThread { center.post(name: .other, object: nil) }
        isPosting.pass()
        center.observe(.sample) { _ in }.cancel()
        // The thread's exit is counted. The measured part begins after the exit.
        center.post(name: .sample, object: nil)
        center.core.state.withLock { _ in
            Thread.detachNewThread {
                center.post(name: .sample, object: nil)
                hasPosted.open()
            }
            hasPosted.pass()
        }
        mayReturn.open()
        earlier.join()
        #expect(center.core.state.withLock { $0.garbage.isEmpty })
        withExtendedLifetime(tokens) {}
    }
}
