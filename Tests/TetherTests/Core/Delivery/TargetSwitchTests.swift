import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct TargetSwitchTests {
    /// A center with an observer on a first scheduler, and a second scheduler for the switch.
    private struct Fixture {
        let center = ObserverCenter()
        let first = ManualScheduler()
        let second = ManualScheduler()
        let log = Log<String>()
    }

    @Test func `D2 D6 a block that is submitted again after a switch has its own delivery alone`() {
        let fixture = Fixture()
        let (center, first, second, log) = (
            fixture.center, fixture.first, fixture.second, fixture.log
        )
        let token = Box<NotificationObserver?>(nil)
        let tokens = [
            center.observe(.sample, on: .custom(first)) { notification in
                log.add("first \(notification.number)")
                guard notification.number == 1 else { return }
                token.value?.target = .custom(second)
                // One block for both. The delivery of this observer waits for the return, which
                // submits a block again.
                center.post(.sample, number: 2)
                second.runAll()
            },
            center.observe(.sample, on: .custom(second)) { log.add("second \($0.number)") },
        ]
        token.set(tokens[0])
        center.post(.sample, number: 1)
        first.runAll()
        second.runAll()
        center.post(.sample, number: 3)
        second.runAll()
        #expect(
            log.entries == ["first 1", "second 1", "second 2", "first 2", "first 3", "second 3"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `D6 a switch on another thread neither waits for a running handler nor overtakes`() {
        let fixture = Fixture()
        let (center, first, second, log) = (
            fixture.center, fixture.first, fixture.second, fixture.log
        )
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

    @Test func `D6 the setter runs no handler and never waits, not even for a suspended queue`() {
        let queue = DispatchQueue(label: "suspended")
        let (center, log) = (ObserverCenter(), Log<Int>())
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { log.add($0.number) }
        queue.suspend()
        center.post(.sample, number: 1)
        onThreads({ token.target = .postingThread })
        onThreads({ token.target = .dispatchQueue(queue) })
        #expect(log.entries == [])
        queue.resume()
        queue.settle()
        #expect(log.entries == [1])
    }

    @Test func `D6 a block that ran during a call calls on its own queue after two switches`() {
        let (center, log, key) = (ObserverCenter(), Log<String>(), DispatchSpecificKey<String>())
        let (first, second) = (DispatchQueue(label: "first"), DispatchQueue(label: "second"))
        for queue in [first, second] { queue.setSpecific(key: key, value: queue.label) }
        let (isRunning, mayReturn) = (Gate(), Gate())
        let token = center.observe(.sample, on: .dispatchQueue(first)) { notification in
            if notification.number == 1 {
                isRunning.open()
                mayReturn.pass()
            }
            log.add("\(notification.number) \(DispatchQueue.getSpecific(key: key) ?? "elsewhere")")
        }
        center.post(.sample, number: 1)
        isRunning.pass()
        token.target = .main
        token.target = .dispatchQueue(second)
        center.post(.sample, number: 2)
        second.settle()
        mayReturn.open()
        first.settle()
        second.settle()
        #expect(log.entries == ["1 first", "2 second"])
        withExtendedLifetime(token) {}
    }
}
