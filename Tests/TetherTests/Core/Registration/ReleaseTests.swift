import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Tether

/// The moment of the release of a handler's captures.
@Suite(.ownThread) struct ReleaseTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    /// Registers an observer whose handler's capture logs its release.
    private func observeCapturing(_ handler: @escaping @Sendable () -> Void = {})
        -> NotificationObserver
    {
        let log = log
        let captured = Ending { log.add("released") }
        return center.observe(.sample) { _ in
            captured.touch()
            handler()
        }
    }

    @Test func `R8 an observer cancelled in its handler's nested post lives until the outer ends`()
    {
        let (log, center, token) = (log, center, Box<NotificationObserver?>())
        token.set(
            observeCapturing {
                center.post(name: .other, object: nil)
                log.add("inner post ended")
                // In some builds a running handler retains its captures itself.
                #expect(center.core.state.withLock { $0.garbage.called.count } == 1)
            })
        let stopping = center.observe(.other) { _ in token.value!.cancel() }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["inner post ended", "released"])
        withExtendedLifetime(stopping) {}
        token.drop()
    }

    @Test func `R8 a cancelled observer's pending deliveries end with their last block`() {
        let queue = DispatchQueue(label: "ReleaseTests")
        queue.suspend()
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { _ in }
        for _ in 0..<2 { center.post(name: .sample, object: nil) }
        weak let mailbox = token.live?.mailbox
        token.cancel()
        #expect(mailbox != nil)
        queue.resume()
        queue.sync {}
        #expect(mailbox == nil)
    }

    @Test func `R8 a cancelled observer's pending deliveries end with a thread that never starts`()
    {
        var thread: RunLoopThread? = RunLoopThread(name: "ReleaseTests")
        let token = center.observe(.sample, on: .thread(thread!)) { _ in }
        center.post(name: .sample, object: nil)
        weak let mailbox = token.live?.mailbox
        token.cancel()
        #expect(mailbox != nil)
        thread = nil
        #expect(mailbox == nil)
    }

    @Test func `R8 another thread's post to other observers delays no release of captures`() {
        let (log, center, token) = (log, center, observeCapturing())
        let kept = { center.core.state.withLock(\.garbage.count) }
        let holding = HeldPost.observer(on: center)
        let post = HeldPost(on: center)
        token.cancel()
        #expect(log.entries == ["released"])
        // The memory, because the post may read the state, and the name, which had no other
        // observer.
        #expect(kept() == 2)
        post.end()
        #expect(kept() == 0)
        withExtendedLifetime((holding, token)) {}
    }

    /// A post under way: its handler has been called, and returns at `end()`.
    private struct HeldPost {
        private let mayEnd = Latch()
        private let thread: JoinableThread

        init(_ name: Notification.Name = .other, on center: ObserverCenter) {
            let (isPosting, mayEnd) = (Latch(), mayEnd)
            thread = JoinableThread {
                center.post(name: name, object: nil, userInfo: ["gates": [isPosting, mayEnd]])
            }
            isPosting.pass()
        }

        func end() {
            mayEnd.open()
            thread.join()
        }

        /// The observer for held posts, whose capture reports its release.
        static func observer(
            _ name: Notification.Name = .other, on center: ObserverCenter,
            _ release: @escaping @Sendable () -> Void = {}
        ) -> NotificationObserver {
            let captured = Ending(release)
            return center.observe(name) { note in
                captured.touch()
                guard let gates = note.userInfo?["gates"] as? [Latch] else { return }
                gates[0].open()
                gates[1].pass()
            }
        }
    }

    @Test func `R8 the last post at an observer releases its captures, though other posts run`() {
        let log = log
        let token = HeldPost.observer(on: center) { log.add("released") }
        let holding = HeldPost.observer(.third, on: center)
        let first = HeldPost(on: center)
        let second = HeldPost(on: center)
        let other = HeldPost(.third, on: center)
        token.cancel()
        let later = HeldPost(.third, on: center)
        second.end()
        #expect(log.entries == [])
        first.end()
        #expect(log.entries == ["released"])
        later.end()
        other.end()
        #expect(log.entries == ["released"])
        withExtendedLifetime((token, holding)) {}
    }

    @Test func `R8 a post that begins after a cancellation neither keeps nor releases captures`() {
        let log = log
        let token = HeldPost.observer(on: center) { log.add("released") }
        let holding = HeldPost.observer(.third, on: center)
        let earlier = HeldPost(on: center)
        token.cancel()
        let later = HeldPost(.third, on: center)
        later.end()
        center.post(name: .sample, object: nil)
        #expect(log.entries == [])
        earlier.end()
        #expect(log.entries == ["released"])
        withExtendedLifetime((token, holding)) {}
    }

    @Test func `R8 a post that begins after a cancellation collects nothing during the handler`() {
        let token = HeldPost.observer(on: center)
        let post = HeldPost(on: center)
        token.cancel()
        let reclamation = { [core = center.core] epoch in core.reclamation.hasGarbage(since: epoch)
        }
        let epoch = center.core.reclamation.epoch.load(ordering: .acquiring)
        #expect(reclamation(epoch - 1) && !reclamation(epoch))
        post.end()
        #expect(center.isEmpty)
    }

    @Test func `R8 each of several cancelled observers waits for its own handler only`() {
        let log = log
        let names = [Notification.Name.sample, .other, .third]
        let tokens = names.map { name in
            HeldPost.observer(name, on: center) { log.add(name.rawValue) }
        }
        let posts = names.map { HeldPost($0, on: center) }
        for token in tokens { token.cancel() }
        for index in [1, 0, 2] { posts[index].end() }
        #expect(log.entries == [1, 0, 2].map { names[$0].rawValue })
        #expect(center.isEmpty)
        withExtendedLifetime(tokens) {}
    }
}
