import CAllocations
import Foundation
import Synchronization
import Testing
import Tether

/// Posts at the end of their thread.
@Suite(.ownThread) struct ThreadEndTests {
    @Test(.enabled(if: counts_allocations()))
    func `M9 a destructor that posts in its thread's last round leaves nothing behind`() async {
        await #expect(processExitsWith: .success) {
            let center = ObserverCenter()
            let token = center.observe(.sample) { _ in }
            ThreadEndTests.posting.center.set(center)
            // Tether's destructor has its place before later destructors.
            ThreadEndTests.posting.makeKey()
            for _ in 0..<100 { SystemThread { ThreadEndTests.posting.arm() }.join() }
            let before = heap_bytes_in_use()
            for _ in 0..<2000 { SystemThread { ThreadEndTests.posting.arm() }.join() }
            #expect(heap_bytes_in_use() < before + 50_000)
            let posts = ThreadEndTests.posting.posts.load(ordering: .relaxed)
            #expect(posts > 2000 * 2)
            token.cancel()
        }
    }

    /// A destructor of threads, which posts, and registers itself for another call.
    private final class PostingDestructor: Sendable {
        let center = Box<ObserverCenter?>()
        let posts = Atomic<Int>(0)
        private let key = Locked<pthread_key_t>(0)

        func makeKey() {
            center.value?.post(name: .sample, object: nil)
            key.withLock { key in
                _ = unsafe pthread_key_create(&key) { _ in
                    ThreadEndTests.posting.center.value?.post(name: .sample, object: nil)
                    ThreadEndTests.posting.posts.wrappingAdd(1, ordering: .relaxed)
                    ThreadEndTests.posting.arm()
                }
            }
        }

        /// Registers the destructor for the calling thread's exit.
        func arm() {
            _ = unsafe pthread_setspecific(key.withLock(\.self), UnsafeRawPointer(bitPattern: 1))
        }
    }

    private static let posting = PostingDestructor()
}
