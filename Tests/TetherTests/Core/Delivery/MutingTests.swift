import Dispatch
import Foundation
import Testing
import Tether

/// Muting by an observer's token, where what is posted meanwhile is dropped.
@Suite struct MutingTests {
    private let center = ObserverCenter()
    private let scheduler = ManualScheduler()
    private let log = Log<Int>()

    private func observe(on target: DeliveryTarget = .postingThread, once: Bool = false) -> NotificationObserver {
        center.observe(.sample, on: target, once: once) { [log] in log.add($0.number) }
    }

    private var counts: [[Int]] { center.audit().map { [$0.pending, $0.dropped, $0.muteCount] } }

    @Test func `D9 an observer that was muted twice is unmuted by the second unmute`() {
        let token = observe()
        token.mute()
        token.mute()
        #expect(counts == [[0, 0, 2]])
        token.unmute()
        center.post(.sample, number: 1)
        #expect(token.isMuted)
        token.unmute()
        center.post(.sample, number: 2)
        #expect(log.entries == [2])
        #expect(center.audit().map(\.dropped) == [1])
    }

    @Test(arguments: [true, false])
    func `D9 R7 a post dropped while muted does not use up a once observer`(isAsynchronous: Bool) {
        let token = observe(on: isAsynchronous ? .custom(scheduler) : .postingThread, once: true)
        token.mute()
        center.post(.sample, numbers: 1...3)
        scheduler.runAll()
        #expect(token.isActive)
        #expect(counts == [[0, 3, 1]])
        token.unmute()
        #expect(token.isActive)
        center.post(.sample, numbers: 4...5)
        scheduler.runAll()
        #expect(log.entries == [4])
        #expect(!token.isActive && !token.isMuted)
    }

    @Test func `D9 an observer is muted while a closure runs, also one that throws`() {
        struct Thrown: Error {}
        let (log, center) = (log, center)
        let token = center.observe(.sample) { log.add($0.number) }
        let isMuted = token.muted {
            center.post(.sample, number: 1)
            return token.isMuted
        }
        #expect(isMuted && !token.isMuted)
        token.muted(keepingNewest: true) { center.post(.sample, numbers: 2...3) }
        #expect(log.entries == [3])
        #expect(throws: Thrown.self) {
            try token.muted { () throws(Thrown) in
                center.post(.sample, number: 4)
                throw Thrown()
            }
        }
        #expect(!token.isMuted && log.entries == [3])
    }

    @Test func `D9 an owner's observers are muted while a closure runs`() {
        let (log, center, owner) = (log, center, Plain())
        center.observe(.sample, owner: owner) { log.add($1.number) }
        OwnerObservers(of: owner).muted(keepingNewest: true) {
            center.post(.sample, numbers: 1...2)
            center.observe(.sample, owner: owner) { log.add(-$1.number) }
            center.post(.sample, number: 3)
        }
        #expect(log.entries == [-3, 3])
        center.post(.sample, number: 4)
        #expect(log.entries == [-3, 3, 4, -4])
    }

    @Test func `D9 L1 the audit says that an observer is muted`() throws {
        let tokens = [observe(), observe()]
        tokens[0].mute()
        tokens[1].mute()
        tokens[1].mute()
        center.post(.sample, number: 1)
        #expect(center.audit()[0].description.hasSuffix("(dropped: 1 while muted, muted)"))
        #expect(center.audit()[1].description.hasSuffix("(dropped: 1 while muted, muted 2 times)"))
        #expect(center.audit().json().contains("\"muteCount\" : 2"))
        withExtendedLifetime(tokens) {}
    }
}
