import Foundation
import Testing

@testable import Tether

/// Registrations as the test support sees them.
@Suite struct RegistrationWatchTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    private func watch(_ token: NotificationObserver) throws -> WatchedRegistration {
        WatchedRegistration(try #require(token.registration), name: .sample, token: token)
    }

    @Test func `L2 a watched registration is reported, and not retained`() throws {
        let (log, scheduler) = (log, ManualScheduler())
        let token = {
            let captured = Ending { log.add("released") }
            return center.observe(.sample, on: .custom(scheduler)) { _ in captured.touch() }
        }()
        let watched = try watch(token)
        center.post(.sample, numbers: 1...2)
        token.mute(keepingNewest: true)
        center.post(.sample, number: 3)
        #expect(watched.isActive)
        #expect(watched.pending == (2, "custom ManualScheduler"))
        #expect(watched.pendingNotifications.map(\.name) == [.sample, .sample, .sample])
        #expect(watched.handler != nil)
        token.cancel()
        #expect(log.entries == ["released"])
        #expect(!watched.isActive)
        #expect(watched.pending == (0, "posting thread"))
        #expect(watched.pendingNotifications.isEmpty)
        #expect(watched.handler == nil)
        #expect(watched.retainUntilIdle(Ending {}) == nil)
        withExtendedLifetime(scheduler) {}
    }

    @Test func `L2 a signal is retained until nothing is pending, and refused where nothing is`() throws {
        let (log, scheduler) = (log, ManualScheduler())
        let token = center.observe(.sample, on: .custom(scheduler)) { log.add("\($0.number)") }
        let watched = try watch(token)
        #expect(watched.retainUntilIdle(Ending { log.add("refused") }) == nil)
        center.post(.sample, number: 1)
        #expect(watched.retainUntilIdle(Ending { log.add("signal") }) != nil)
        #expect(log.entries == ["refused"])
        scheduler.runAll()
        #expect(log.entries == ["refused", "1", "signal"])
        withExtendedLifetime(token) {}
    }

    @Test func `L2 a signal that nobody waits for any more is released`() throws {
        let (log, scheduler) = (log, ManualScheduler())
        let token = center.observe(.sample, on: .custom(scheduler)) { _ in }
        center.post(.sample, number: 1)
        let cancel = try #require(try watch(token).retainUntilIdle(Ending { log.add("signal") }))
        #expect(log.entries == [])
        cancel()
        #expect(log.entries == ["signal"])
        withExtendedLifetime(token) {}
    }
}
