import Dispatch
import Foundation
import Testing

@testable import Tether

@globalActor actor Kitchen {
    static let shared = Kitchen()
}

@Suite struct IsolationTests {
    /// Posts on a thread of its own, and returns what was logged once `count` entries are there.
    private func afterPosting<Entry: Sendable>(
        _ numbers: ClosedRange<Int>, to center: ObserverCenter, log: Log<Entry>, count: Int
    ) async -> [Entry] {
        await withCheckedContinuation { continuation in
            Thread {
                center.post(.sample, numbers: numbers)
                continuation.resume()
            }.start()
        }
        // Each turn lets the actors run; a delivery that never comes is the failure.
        for _ in 0..<100_000 where log.entries.count < count {
            await MainActor.run {}
            await Kitchen.run {}
        }
        return log.entries
    }

    @MainActor final class Window {
        let log: Log<String>

        init(log: Log<String>) {
            self.log = log
        }

        func changed(_ notification: Notification) {
            MainActor.assertIsolated()
            log.add("changed \(notification.number)")
        }

        func refresh() {
            MainActor.assertIsolated()
            log.add("refresh")
        }
    }

    final class Plain: Sendable {
        let log: Log<String>

        init(log: Log<String>) {
            self.log = log
        }

        func anywhere(_ notification: Notification) { log.add("anywhere \(notification.number)") }
    }

    @Kitchen final class Stove {
        let log: Log<String>

        init(log: Log<String>) {
            self.log = log
        }

        func changed(_ number: Int) {
            Kitchen.assertIsolated()
            log.add("changed \(number)")
        }

        func refresh() {
            Kitchen.assertIsolated()
            log.add("refresh")
        }
    }

    @Test func `P1 a main-actor handler runs on the main actor, whatever the poster, in posting order`() async {
        let center = ObserverCenter()
        let log = Log<Int>()
        let owner = Ending {}
        let token = center.observe(.sample, on: .mainActor) { notification in
            MainActor.assertIsolated()
            log.add(notification.number)
        }
        center.observe(.sample, owner: owner, on: .mainActor) { owner, notification in
            MainActor.assertIsolated()
            owner.touch()
            log.add(-notification.number)
        }
        let entries = await afterPosting(1...3, to: center, log: log, count: 6)
        #expect(entries == [1, -1, 2, -2, 3, -3])
        withExtendedLifetime((token, owner)) {}
    }

    @Test func `P1 a main-actor method given to connect runs on the main actor, whatever the poster`() async {
        let center = ObserverCenter()
        let log = Log<String>()
        let window = await Window(log: log)
        let byDefault = center.connect(.sample, to: Window.changed, of: window)
        let named = center.connect(.sample, to: Window.refresh, of: window, on: .mainActor)
        #expect(byDefault.target.description == "main")
        #expect(named.target.description == "main")
        let entries = await afterPosting(1...2, to: center, log: log, count: 4)
        #expect(entries == ["changed 1", "refresh", "changed 2", "refresh"])
        withExtendedLifetime(window) {}
    }

    @Test func `P1 a method that is not isolated stays on the target asked for`() {
        let center = ObserverCenter()
        let log = Log<String>()
        let scheduler = ManualScheduler()
        let owner = Plain(log: log)
        center.connect(.sample, to: Plain.anywhere, of: owner)
        let queued = center.connect(.sample, to: Plain.anywhere, of: owner, on: .custom(scheduler))
        center.post(.sample, number: 1)
        #expect(log.entries == ["anywhere 1"])
        scheduler.runAll()
        #expect(log.entries == ["anywhere 1", "anywhere 1"])
        queued.target = .postingThread
        center.post(.sample, number: 2)
        #expect(log.entries == ["anywhere 1", "anywhere 1", "anywhere 2", "anywhere 2"])
        withExtendedLifetime(owner) {}
    }
}

extension Kitchen {
    static func run<Value: Sendable>(_ body: @Sendable @Kitchen () -> Value) async -> Value { await body() }
}
