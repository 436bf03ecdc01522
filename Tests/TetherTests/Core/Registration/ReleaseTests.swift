import Foundation
import Testing

@testable import Tether

/// When what a handler captured is released.
@Suite struct ReleaseTests {
    private final class Object: Sendable {}

    private let center = ObserverCenter()
    private let log = Log<String>()

    /// Registers an observer whose handler captures something that logs its release.
    private func observeCapturing(
        _ name: Notification.Name? = .sample, _ handler: @escaping @Sendable () -> Void = {}
    ) -> NotificationObserver {
        let log = log
        let captured = Ending { log.add("released") }
        return center.observe(name) { _ in
            captured.touch()
            handler()
        }
    }

    @Test func `R8 with nothing in flight it is released before stop returns, also while the token is kept`() {
        let token = observeCapturing()
        center.post(name: .sample, object: nil)
        #expect(log.entries == [])
        token.stop()
        #expect(log.entries == ["released"])
        withExtendedLifetime(token) {}
    }

    @Test func `R8 O3 it is released when the owner goes, also while the token is kept`() {
        let log = log
        let owner = SharedHolder(Ending { log.add("deinit") })
        let token = {
            let captured = Ending { log.add("released") }
            return center.observe(.sample, owner: owner.value!) { _, _ in captured.touch() }
        }()
        owner.drop()
        #expect(log.entries == (endsFollowDeinit ? ["deinit", "released"] : ["released", "deinit"]))
        withExtendedLifetime(token) {}
    }

    @Test func `R8 posts of another center do not keep it`() {
        let (log, token, elsewhere) = (log, observeCapturing(), ObserverCenter())
        let stopping = elsewhere.observe(.sample) { _ in
            token.stop()
            log.add("stopped")
        }
        elsewhere.post(name: .sample, object: nil)
        #expect(log.entries == ["released", "stopped"])
        withExtendedLifetime((token, stopping)) {}
    }

    @Test func `R8 stopped in its own handler, it is released when the post ends`() {
        let (log, token) = (log, SharedHolder<NotificationObserver>())
        token.set(
            observeCapturing {
                token.value!.stop()
                log.add("stopped")
            })
        let later = center.observe(.sample) { _ in log.add("later") }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["stopped", "later", "released"])
        #expect(!center.core.isEmpty)
        later.stop()
        #expect(center.core.isEmpty)
        token.drop()
    }

    @Test func `R8 stopped in a nested post, it is released when the outer post ends`() {
        let (log, center, token) = (log, center, observeCapturing(.other))
        let nesting = center.observe(.sample) { _ in
            center.post(name: .other, object: nil)
            log.add("inner post ended")
        }
        let stopping = center.observe(.other) { _ in token.stop() }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["inner post ended", "released"])
        withExtendedLifetime((nesting, stopping, token)) {}
    }

    @Test func `R8 an observer that no post can have seen is released when the post under way ends, at the latest`() {
        let (log, center) = (log, center)
        let adding = center.observe(.sample) { _ in
            let captured = Ending { log.add("released") }
            center.observe(.other) { _ in captured.touch() }.stop()
        }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["released"])
        withExtendedLifetime(adding) {}
    }

    @Test func `R8 with a post under way on another thread it is released when that post ends`() {
        let (log, center) = (log, center)
        let (isPosting, mayEnd) = (Turnstile(), Turnstile())
        let waiting = center.observe(.sample) { _ in
            isPosting.open()
            mayEnd.pass()
            log.add("post ends")
        }
        let token = observeCapturing { log.add("called") }
        let posting = Crew { center.post(name: .sample, object: nil) }
        isPosting.pass()
        token.stop()
        #expect(log.entries == [])
        mayEnd.open()
        posting.join()
        #expect(log.entries == ["post ends", "released"])
        withExtendedLifetime((waiting, token)) {}
    }

    /// A post that begins, says so, and ends when it may.
    private struct HeldPost {
        private let mayEnd = Turnstile()
        private let crew: Crew

        init(on center: ObserverCenter) {
            let (isPosting, mayEnd) = (Turnstile(), mayEnd)
            crew = Crew {
                center.post(name: .other, object: nil, userInfo: ["gates": [isPosting, mayEnd]])
            }
            isPosting.pass()
        }

        func end() {
            mayEnd.open()
            crew.join()
        }

        static func observer(on center: ObserverCenter) -> NotificationObserver {
            center.observe(.other) { note in
                guard let gates = note.userInfo?["gates"] as? [Turnstile] else { return }
                gates[0].open()
                gates[1].pass()
            }
        }
    }

    @Test
    func `R8 of overlapping posts the last that began before the stop releases it, though a later one still runs`() {
        let token = observeCapturing()
        let holding = HeldPost.observer(on: center)
        let first = HeldPost(on: center)
        let second = HeldPost(on: center)
        token.stop()
        let later = HeldPost(on: center)
        second.end()
        #expect(log.entries == [])
        first.end()
        #expect(log.entries == ["released"])
        later.end()
        #expect(log.entries == ["released"])
        withExtendedLifetime((token, holding)) {}
    }

    @Test func `R8 a post that began after the stop neither keeps it nor releases it early`() {
        let token = observeCapturing()
        let holding = HeldPost.observer(on: center)
        let earlier = HeldPost(on: center)
        token.stop()
        let later = HeldPost(on: center)
        later.end()
        center.post(name: .sample, object: nil)
        #expect(log.entries == [])
        earlier.end()
        #expect(log.entries == ["released"])
        withExtendedLifetime((token, holding)) {}
    }

    @Test func `R8 each of several stops waits for its own posts only`() {
        let (log, center) = (log, center)
        let tokens = (0..<3).map { number in
            let captured = Ending { log.add("\(number)") }
            return center.observe(.sample) { _ in captured.touch() }
        }
        let holding = HeldPost.observer(on: center)
        let zeroth = HeldPost(on: center)
        tokens[0].stop()
        let first = HeldPost(on: center)
        tokens[1].stop()
        let second = HeldPost(on: center)
        tokens[2].stop()
        zeroth.end()
        #expect(log.entries == ["0"])
        first.end()
        #expect(log.entries == ["0", "1"])
        second.end()
        #expect(log.entries == ["0", "1", "2"])
        holding.stop()
        #expect(center.core.isEmpty)
        withExtendedLifetime(tokens) {}
    }

    @Test func `R8 what is only enqueued keeps neither handler nor payload after the stop`() {
        let (log, jobs) = (log, HeldJobs())
        let token = observeCapturing()
        token.target = .custom(jobs)
        do {
            let payload = Ending { log.add("payload") }
            center.post(name: .sample, object: nil, userInfo: ["payload": payload])
        }
        #expect(log.entries == [])
        token.stop()
        #expect(log.entries.sorted() == ["payload", "released"])
        jobs.run()
        withExtendedLifetime(token) {}
    }

    @Test func `R8 a post does not keep the observers it does not reach`() {
        let (log, center) = (log, center)
        let token = observeCapturing(.other)
        let handler = center.observe(.sample) { _ in
            token.stop()
            log.add("stopped")
        }
        center.post(name: .sample, object: nil)
        // At the end of the post at the latest.
        #expect(log.entries.contains("released"))
        withExtendedLifetime((handler, token)) {}
    }
}
