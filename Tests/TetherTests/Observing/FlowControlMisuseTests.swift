import Foundation
import Testing
import Tether

/// Flow control that could not work, or is ended more often than begun.
@Suite struct FlowControlMisuseTests {
    private final class Owner: Sendable {}

    private func sentence(_ result: ExitTest.Result) -> String {
        String(decoding: result.standardErrorContent, as: UTF8.self)
    }

    @Test func `X1 D8 a backlog of no size is refused`() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = BufferingPolicy.newest(0)
        }
        #expect(sentence(result).contains("BufferingPolicy.newest(_:): a buffer of 0 keeps nothing"))
        #expect(sentence(result).contains("pass 1 or more"))
        let negative = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ObserverCenter().observe(.sample) { _ in }.backlog = .newest(-3)
        }
        #expect(sentence(negative).contains("a buffer of -3"))
    }

    @Test func `X1 D9 unmuting a token more often than it was muted is refused`() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let center = ObserverCenter()
            let token = center.observe(.sample) { _ in }
            token.mute()
            token.unmute()
            withExtendedLifetime(center) { token.unmute() }
        }
        #expect(sentence(result).contains("NotificationObserver.unmute(): the observer registered at TetherTests/"))
        #expect(sentence(result).contains("was not muted by its token; call unmute() once for each mute("))
    }

    @Test func `X1 D9 a token does not end its owner's muting`() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (owner, center) = (Owner(), ObserverCenter())
            let token = center.observe(.sample, owner: owner) { _, _ in }
            OwnerObservers(of: owner).mute()
            token.unmute()
            withExtendedLifetime((owner, center)) {}
        }
        #expect(sentence(result).contains("OwnerObservers.unmute() for each OwnerObservers.mute("))
    }

    private actor Index {}

    private static let isolated: [(name: String, switch: @Sendable (ObserverCenter) async -> Void)] = [
        (
            "the main actor's",
            { center in
                let token = center.observe(.sample, on: .mainActor) { _ in }
                token.target = .main
            }
        ),
        (
            "an actor's",
            { center in
                let index = Index()
                center.observe(.sample, owner: index) { (_: isolated Index, _) in }.target = .main
                withExtendedLifetime(index) {}
            }
        ),
        (
            "an async one",
            { center in
                let token = center.observe(.sample) { _ in await Task.yield() }
                token.target = .postingThread
            }
        ),
        (
            "a sequence's",
            { center in
                let owner = Owner()
                let notifications = center.notifications(named: .sample, owner: owner)
                for observer in OwnerObservers(of: owner) { observer.target = .main }
                withExtendedLifetime((owner, notifications)) {}
            }
        ),
    ]

    @Test(arguments: 0..<4)
    func `X1 P1 P4 S2 setting the target of an isolated or async handler, or of a sequence, is refused`(
        form: Int
    ) async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [form] in await FlowControlMisuseTests.isolated[form].switch(ObserverCenter())
        }
        #expect(sentence(result).contains("NotificationObserver.target: the handler registered at TetherTests/"))
        #expect(sentence(result).contains("stays where it is; register one that is neither, with on:."))
    }
}
