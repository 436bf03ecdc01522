import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct TargetSwitchTests {
    /// A center with one observer on a first scheduler, and a second one to switch to.
    private struct Fixture {
        let center = ObserverCenter()
        let first = ManualScheduler()
        let second = ManualScheduler()
        let log = Log<String>()
    }

    @Test func `D6 pending deliveries move to the new target, before later posts`() {
        let fixture = Fixture()
        let (center, first, second, log) = (fixture.center, fixture.first, fixture.second, fixture.log)
        let token = center.observe(.sample, on: .custom(first)) { log.add("\($0.number)") }
        center.post(.sample, numbers: 1...2)
        token.target = .custom(second)
        center.post(.sample, numbers: 3...4)
        #expect(log.entries == [])
        first.runAll()
        #expect(log.entries == [])
        second.runAll()
        #expect(log.entries == ["1", "2", "3", "4"])
        #expect(second.scheduled == 4)
        #expect(center.audit().map(\.dropped) == [0])
        withExtendedLifetime(token) {}
    }

    @Test func `D6 a switch moves one observer and leaves the others where they are`() {
        let fixture = Fixture()
        let (center, first, second, log) = (fixture.center, fixture.first, fixture.second, fixture.log)
        let stays = center.observe(.sample, on: .custom(first)) { log.add("stays\($0.number)") }
        let moves = center.observe(.sample, on: .custom(first)) { log.add("moves\($0.number)") }
        center.post(.sample, numbers: 1...2)
        moves.target = .custom(second)
        first.runAll()
        #expect(log.entries == ["stays1", "stays2"])
        second.runAll()
        #expect(log.entries == ["stays1", "stays2", "moves1", "moves2"])
        withExtendedLifetime((stays, moves)) {}
    }

    @Test func `D6 what moved stands behind what the new target has already`() {
        let fixture = Fixture()
        let (center, first, second, log) = (fixture.center, fixture.first, fixture.second, fixture.log)
        let moves = center.observe(.sample, on: .custom(first)) { log.add("moved\($0.number)") }
        let waits = center.observe(.other, on: .custom(second)) { log.add("waited\($0.number)") }
        center.post(.sample, number: 1)
        center.post(.other, number: 2)
        moves.target = .custom(second)
        center.post(.other, number: 3)
        second.runAll()
        #expect(log.entries == ["waited2", "moved1", "waited3"])
        withExtendedLifetime((moves, waits)) {}
    }

    @Test func `D6 a switch from another thread while a handler runs does not wait, and does not overtake it`() {
        let fixture = Fixture()
        let (center, first, second, log) = (fixture.center, fixture.first, fixture.second, fixture.log)
        let isRunning = Gate()
        let mayGoOn = Gate()
        let token = center.observe(.sample, on: .custom(first)) { notification in
            log.add("\(notification.number) begins")
            if notification.number == 1 {
                isRunning.open()
                mayGoOn.pass()
            }
            log.add("\(notification.number) ends")
        }
        center.post(.sample, number: 1)
        onThreads(
            { first.runNext() },
            {
                isRunning.pass()
                token.target = .custom(second)
                center.post(.sample, number: 2)
                second.runAll()
                log.add("switched")
                mayGoOn.open()
            })
        first.runAll()
        second.runAll()
        #expect(log.entries == ["1 begins", "switched", "1 ends", "2 begins", "2 ends"])
        withExtendedLifetime(token) {}
    }

    @Test func `D6 a switch inside the handler moves what is pending, behind the call that is running`() {
        let fixture = Fixture()
        let (center, first, second, log) = (fixture.center, fixture.first, fixture.second, fixture.log)
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample, on: .custom(first)) { notification in
                log.add("\(notification.number)")
                token.value?.target = .custom(second)
            })
        center.post(.sample, numbers: 1...2)
        first.runAll()
        #expect(log.entries == ["1"])
        center.post(.sample, number: 3)
        #expect(first.waiting == 0)
        second.runAll()
        #expect(log.entries == ["1", "2", "3"])
        token.set(nil)
    }

    @Test func `D6 switching there and back keeps the order and loses nothing`() {
        let fixture = Fixture()
        let (center, first, second, log) = (fixture.center, fixture.first, fixture.second, fixture.log)
        let token = center.observe(.sample, on: .custom(first)) { log.add("\($0.number)") }
        for number in 1...6 {
            center.post(.sample, number: number)
            token.target = .custom(number.isMultiple(of: 2) ? first : second)
        }
        second.runAll()
        #expect(log.entries == [])
        first.runAll()
        #expect(log.entries == (1...6).map(String.init))
        #expect(center.audit().map(\.dropped) == [0])
        withExtendedLifetime(token) {}
    }

    @Test func `D6 switching to the target it has changes nothing`() {
        let fixture = Fixture()
        let (center, first, log) = (fixture.center, fixture.first, fixture.log)
        let token = center.observe(.sample, on: .custom(first)) { log.add("\($0.number)") }
        center.post(.sample, number: 1)
        token.target = .custom(first)
        center.post(.sample, number: 2)
        #expect(first.scheduled == 2)
        first.runAll()
        #expect(log.entries == ["1", "2"])
        withExtendedLifetime(token) {}
    }

    @Test func `D6 the target reads as it was set last, also while the switch waits for a drain`() {
        let fixture = Fixture()
        let (center, first, second, log) = (fixture.center, fixture.first, fixture.second, fixture.log)
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample, on: .custom(first)) { _ in
                token.value?.target = .custom(second)
                token.value?.target = .dispatchQueue(DispatchQueue(label: "last"))
                log.add(token.value?.target.description ?? "")
            })
        center.post(.sample, number: 1)
        first.runAll()
        #expect(log.entries == ["dispatch queue last"])
        #expect(token.value?.target.description == "dispatch queue last")
        token.set(nil)
    }
}
