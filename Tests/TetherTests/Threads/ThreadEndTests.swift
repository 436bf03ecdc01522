import CAllocations
import Foundation
import Synchronization
import Testing

@testable import Tether

/// Handlers and destructors at the end of their thread. A thread that ends in the middle of a call lets go of nothing that is
/// on its stack, so what is on it here is kept anyway, by a static.
// AddressSanitizer is not told that the frames of a stack are given up, and takes what comes after for an overflow.
@Suite(.ownThread, .enabled(if: counts_allocations())) struct ThreadEndTests {
    private final class Scene: Sendable {
        let center = ObserverCenter()
        let isRunning = Gate()
        let mayEnd = Turnstile()
        let gone = Atomic<Bool>(false)
        let token = SharedHolder<NotificationObserver>()
        private let threads = Guarded<[SystemThread]>([])

        var hasGone: Bool { gone.load(ordering: .relaxed) }

        func post() { center.post(name: .sample, object: nil) }

        /// Posts on a thread that is kept, as what it does is, if it never returns.
        func startPosting() -> SystemThread {
            let thread = SystemThread { [unowned self] in post() }
            threads.withLock { $0.append(thread) }
            return thread
        }
    }

    private static let kept = Guarded<[Scene]>([])

    /// A center whose observer ends its thread, when it may.
    private func makeScene() -> Scene {
        let scene = Scene()
        ThreadEndTests.kept.withLock { $0.append(scene) }
        scene.token.set(
            scene.center.observe(.sample) { [unowned scene] _ in
                scene.isRunning.open()
                scene.mayEnd.pass()
                Thread.exit()
            })
        return scene
    }

    @Test func `R8 what is captured later goes at its observer's end though a handler has ended its thread`() {
        let scene = makeScene()
        scene.mayEnd.open()
        scene.startPosting().join()
        whileAnotherThreadPosts { observeAndStop(scene) }
        #expect(scene.hasGone)
    }

    @Test func `M9 what was unlinked during a handler that ends its thread is reclaimed with the thread`() {
        let scene = makeScene()
        let hasRetired = { @Sendable in scene.center.core.state.withLock { !$0.retired.isEmpty } }
        let thread = scene.startPosting()
        scene.isRunning.pass()
        observeAndStop(scene)
        #expect(scene.hasGone && hasRetired())
        scene.mayEnd.open()
        thread.join()
        #expect(!hasRetired())
    }

    @Test func `R2 stopAndWait returns when the handler that it waits for ends its thread`() {
        let scene = makeScene()
        let thread = scene.startPosting()
        onThreads {
            scene.isRunning.pass()
            scene.mayEnd.open()
            #expect(scene.token.value?.stopAndWait() == .finished)
        }
        thread.join()
    }

    // What the drain has at hand is lost with its stack, which LeakSanitizer would find.
    @Test(.enabled(if: counts_allocations()))
    func `R2 stopAndWait returns though a drain's handler has ended the thread before`() {
        let scene = makeScene()
        let thread = RunLoopThread(name: "ends itself")
        scene.token.value?.target = .thread(thread)
        scene.mayEnd.open()
        scene.post()
        thread.start()
        scene.isRunning.pass()
        whileAnotherThreadPosts { onThreads { #expect(scene.token.value?.stopAndWait() == .finished) } }
    }

    @Test(.enabled(if: counts_allocations()))
    func `M9 a destructor that posts in its thread's last round leaves nothing behind`() async {
        await #expect(processExitsWith: .success) {
            let center = ObserverCenter()
            let token = center.observe(.sample) { _ in }
            ThreadEndTests.posting.center.set(center)
            // Tether's own destructor has its place before those that are made later.
            ThreadEndTests.posting.makeKey()
            for _ in 0..<100 { SystemThread { ThreadEndTests.posting.arm() }.join() }
            let before = heap_bytes_in_use()
            for _ in 0..<2000 { SystemThread { ThreadEndTests.posting.arm() }.join() }
            #expect(heap_bytes_in_use() < before + 50_000)
            let posts = ThreadEndTests.posting.posts.load(ordering: .relaxed)
            #expect(posts > 2000 * 2)
            token.stop()
        }
    }

    /// A destructor of threads that posts, and asks to be called again.
    private final class PostingDestructor: Sendable {
        let center = SharedHolder<ObserverCenter>()
        let posts = Atomic<Int>(0)
        private let key = Guarded<pthread_key_t>(0)

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

        /// Has it called when the calling thread exits.
        func arm() { _ = unsafe pthread_setspecific(key.withLock(\.self), UnsafeRawPointer(bitPattern: 1)) }
    }

    private static let posting = PostingDestructor()

    /// Does something while a new thread, which may have taken the place of one that has ended, is in a post.
    private func whileAnotherThreadPosts(_ body: () -> Void) {
        let (center, isPosting, mayEnd) = (ObserverCenter(), Gate(), Gate())
        let token = center.observe(.sample) { _ in
            isPosting.open()
            mayEnd.pass()
        }
        let thread = SystemThread { center.post(name: .sample, object: nil) }
        isPosting.pass()
        body()
        mayEnd.open()
        thread.join()
        token.stop()
    }

    private func observeAndStop(_ scene: Scene) {
        let capture = Holder(Ending { scene.gone.store(true, ordering: .relaxed) })
        let token = scene.center.observe(.other) { [object = capture.object!] _ in object.touch() }
        capture.release()
        token.stop()
    }
}
