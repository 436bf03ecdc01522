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

    @Test func `D9 what is posted while muted is dropped, and counted`() {
        let token = observe()
        #expect(!token.isMuted)
        center.post(.sample, number: 1)
        token.mute()
        #expect(token.isMuted && token.isActive)
        center.post(.sample, numbers: 2...4)
        #expect(counts == [[0, 3, 1]])
        token.unmute()
        #expect(!token.isMuted)
        center.post(.sample, number: 5)
        #expect(log.entries == [1, 5])
        #expect(counts == [[0, 3, 0]])
    }

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

    @Test func `D9 muting is one observer's`() {
        let tokens = [observe(), observe(), observe()]
        tokens[1].mute()
        center.post(.sample, number: 1)
        #expect(log.entries == [1, 1])
        #expect(counts == [[0, 0, 0], [0, 1, 1], [0, 0, 0]])
        withExtendedLifetime(tokens) {}
    }

    @Test func `D9 what was posted before is delivered while muted, on an asynchronous target`() {
        let token = observe(on: .custom(scheduler))
        center.post(.sample, numbers: 1...2)
        token.mute()
        center.post(.sample, number: 3)
        #expect(counts == [[2, 1, 1]])
        scheduler.runAll()
        #expect(log.entries == [1, 2])
        token.unmute()
        scheduler.runAll()
        center.post(.sample, number: 4)
        scheduler.runAll()
        #expect(log.entries == [1, 2, 4])
    }

    @Test func `D9 D6 muting stays when the target is switched, on every target`() {
        let token = observe()
        token.mute()
        for target in [
            DeliveryTarget.custom(scheduler), .dispatchQueue(DispatchQueue(label: "queue")), .main, .postingThread,
        ] {
            token.target = target
            center.post(.sample, number: 1)
            #expect(token.isMuted)
        }
        #expect(counts == [[0, 4, 1]])
        scheduler.runAll()
        token.unmute()
        center.post(.sample, number: 2)
        #expect(log.entries == [2])
    }

    @Test(arguments: [true, false])
    func `D9 R7 what is dropped while muted does not use up a once observer`(isAsynchronous: Bool) {
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

    @Test func `D9 R5 a handler may mute itself, and the rest of what is pending is delivered`() {
        let (log, box) = (log, Box<NotificationObserver?>(nil))
        for target in [DeliveryTarget.postingThread, .custom(scheduler)] {
            box.set(
                center.observe(.sample, on: target) { notification in
                    log.add(notification.number)
                    if notification.number == 1 { box.value?.mute() }
                })
            center.post(.sample, numbers: 1...3)
            scheduler.runAll()
            center.post(.sample, number: 4)
            scheduler.runAll()
            box.set(nil)
        }
        #expect(log.entries == [1, 1, 2, 3])
    }

    @Test func `D9 R5 a handler may unmute itself while what was pending before is delivered`() {
        let (log, box) = (log, Box<NotificationObserver?>(nil))
        box.set(
            center.observe(.sample, on: .custom(scheduler)) { notification in
                log.add(notification.number)
                if notification.number == 1 { box.value?.unmute() }
            })
        center.post(.sample, number: 1)
        box.value?.mute(keepingNewest: true)
        center.post(.sample, number: 2)
        scheduler.runAll()
        #expect(log.entries == [1, 2])
        #expect(box.value?.isMuted == false)
        box.set(nil)
    }

    @Test func `D9 R4 an earlier handler of the same post may mute a later one`() {
        let (log, box) = (log, Box<NotificationObserver?>(nil))
        let first = center.observe(.sample) { _ in box.value?.mute() }
        box.set(center.observe(.sample) { log.add($0.number) })
        center.post(.sample, number: 1)
        #expect(log.entries == [])
        #expect(counts == [[0, 0, 0], [0, 1, 1]])
        withExtendedLifetime(first) {}
        box.set(nil)
    }

    @Test func `D9 muting and unmuting an observer that has ended does nothing`() {
        let token = observe()
        token.mute()
        token.cancel()
        token.unmute()
        token.unmute()
        token.mute()
        #expect(!token.isMuted && !token.isActive)
        center.post(.sample, number: 1)
        #expect(log.entries == [])
        let replaced = center.observe(.sample, key: 1) { _ in }
        replaced.mute()
        let second = center.observe(.sample, key: 1) { [log] in log.add($0.number) }
        replaced.unmute()
        #expect(!second.isMuted)
        center.post(.sample, number: 2)
        #expect(log.entries == [2])
    }

    @Test func `D9 R8 a muted observer's captures go when it ends`() {
        let released = Counter()
        let token = {
            let capture = Ending { released.add() }
            return center.observe(.sample) { _ in capture.touch() }
        }()
        token.mute()
        center.post(.sample, number: 1)
        token.cancel()
        #expect(released.count == 1)
        #expect(center.audit().isEmpty)
    }

    @Test func `D9 a property is muted, whatever handler it has`() {
        let (log, property) = (log, NotificationObserver(center: center))
        property.mute()
        #expect(property.isMuted)
        property.observe(.sample) { log.add($0.number) }
        center.post(.sample, number: 1)
        property.mute()
        #expect(counts == [[0, 1, 2]])
        property.observe(.sample) { log.add(-$0.number) }
        #expect(counts == [[0, 0, 2]])
        center.post(.sample, number: 2)
        property.unmute()
        property.cancel()
        #expect(property.isMuted)
        property.unmute()
        #expect(!property.isMuted)
        property.observe(.sample) { log.add(-$0.number) }
        center.post(.sample, number: 3)
        #expect(log.entries == [-3])
    }

    @Test func `D9 L1 the audit says that an observer is muted`() throws {
        let tokens = [observe(), observe()]
        tokens[0].mute()
        tokens[1].mute()
        tokens[1].mute()
        center.post(.sample, number: 1)
        #expect(center.audit()[0].description.hasSuffix("(1 dropped, muted)"))
        #expect(center.audit()[1].description.hasSuffix("(1 dropped, muted 2 times)"))
        #expect(center.audit().json().contains("\"muteCount\" : 2"))
        withExtendedLifetime(tokens) {}
    }

    @Test func `D9 F1 an observer on a foreign center is muted and bounded too`() {
        let foreign = SmallCenter()
        let token = foreign.observe(.sample, on: .custom(scheduler)) { [log] in log.add($0.number) }
        token.backlog = .newest(2)
        for number in 1...4 { foreign.post(.sample, number: number) }
        token.mute(keepingNewest: true)
        for number in 5...6 { foreign.post(.sample, number: number) }
        #expect(foreign.audit().map { [$0.pending, $0.dropped, $0.muteCount] } == [[3, 3, 1]])
        scheduler.runAll()
        token.unmute()
        scheduler.runAll()
        #expect(log.entries == [3, 4, 6])
    }
}
