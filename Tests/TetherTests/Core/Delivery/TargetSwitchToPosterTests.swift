import Dispatch
import Foundation
import Testing
import Tether

@Suite(.ownThread) struct TargetSwitchToPosterTests {
    @Test func `D6 after a switch to the poster the next post delivers what was pending first, in that post`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let token = center.observe(.sample, on: .custom(scheduler)) { log.add($0.number) }
        center.post(.sample, numbers: 1...2)
        token.target = .poster
        scheduler.runAll()
        #expect(log.entries == [])
        #expect(center.audit().map(\.pending) == [2])
        center.post(.sample, number: 3)
        #expect(log.entries == [1, 2, 3])
        center.post(.sample, number: 4)
        #expect(log.entries == [1, 2, 3, 4])
        #expect(center.audit().map(\.pending) == [0])
        withExtendedLifetime(token) {}
    }

    @Test func `D6 a post that does not match leaves pending what waits for the poster`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let token = center.observe(.sample, on: .custom(scheduler)) { log.add($0.number) }
        center.post(.sample, number: 1)
        token.target = .poster
        center.post(.other, number: 2)
        #expect(log.entries == [])
        center.post(.sample, number: 3)
        #expect(log.entries == [1, 3])
        withExtendedLifetime(token) {}
    }

    @Test func `D6 posts nested in the delivery of what was pending join in order`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let token = center.observe(.sample, on: .custom(scheduler)) { [weak center] notification in
            if notification.number == 1 { center?.post(.sample, number: 10) }
            log.add(notification.number)
        }
        center.post(.sample, numbers: 1...2)
        token.target = .poster
        center.post(.sample, number: 3)
        #expect(log.entries == [1, 2, 3, 10])
        withExtendedLifetime(token) {}
    }

    @Test func `D6 concurrent posts join the poster that delivers what was pending`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let isRunning = Gate()
        let mayGoOn = Gate()
        let token = center.observe(.sample, on: .custom(scheduler)) { notification in
            if notification.number == 1 {
                isRunning.open()
                mayGoOn.pass()
            }
            log.add(notification.number)
        }
        center.post(.sample, numbers: 1...2)
        token.target = .poster
        onThreads(
            { center.post(.sample, number: 3) },
            {
                isRunning.pass()
                center.post(.sample, numbers: 4...5)
                mayGoOn.open()
            })
        #expect(log.entries == [1, 2, 3, 4, 5])
        withExtendedLifetime(token) {}
    }

    @Test func `D6 a switch away from the poster takes what is still pending along`() {
        let center = ObserverCenter()
        let first = ManualScheduler()
        let second = ManualScheduler()
        let log = Log<Int>()
        let token = center.observe(.sample, on: .custom(first)) { log.add($0.number) }
        center.post(.sample, numbers: 1...2)
        token.target = .poster
        token.target = .custom(second)
        center.post(.sample, number: 3)
        first.runAll()
        #expect(log.entries == [])
        second.runAll()
        #expect(log.entries == [1, 2, 3])
        withExtendedLifetime(token) {}
    }

    @Test func `D6 a switch away from a poster that delivers what was pending waits until it has`() {
        let center = ObserverCenter()
        let first = ManualScheduler()
        let second = ManualScheduler()
        let log = Log<Int>()
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample, on: .custom(first)) { notification in
                if notification.number == 1 { token.value?.target = .custom(second) }
                log.add(notification.number)
            })
        center.post(.sample, numbers: 1...2)
        token.value?.target = .poster
        center.post(.sample, number: 3)
        #expect(log.entries == [1, 2, 3])
        #expect(token.value?.target.description == "custom ManualScheduler")
        center.post(.sample, number: 4)
        #expect(log.entries == [1, 2, 3])
        second.runAll()
        #expect(log.entries == [1, 2, 3, 4])
        token.set(nil)
    }

    @Test func `D6 a switch to the poster while a drain runs lets the drain finish`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample, on: .custom(scheduler)) { notification in
                if notification.number == 1 { token.value?.target = .poster }
                log.add(notification.number)
            })
        center.post(.sample, numbers: 1...2)
        scheduler.runNext()
        #expect(log.entries == [1, 2])
        center.post(.sample, number: 3)
        #expect(log.entries == [1, 2, 3])
        #expect(scheduler.waiting == 0)
        token.set(nil)
    }

    @Test func `D6 the setter runs no handler and never waits, not even for a suspended queue`() {
        let center = ObserverCenter()
        let queue = DispatchQueue(label: "suspended")
        let log = Log<Int>()
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { log.add($0.number) }
        queue.suspend()
        center.post(.sample, number: 1)
        onThreads({ token.target = .poster })
        #expect(log.entries == [])
        center.post(.sample, number: 2)
        #expect(log.entries == [1, 2])
        onThreads({ token.target = .dispatchQueue(queue) })
        center.post(.sample, number: 3)
        #expect(log.entries == [1, 2])
        queue.resume()
        queue.settle()
        #expect(log.entries == [1, 2, 3])
        withExtendedLifetime(token) {}
    }

    @Test func `D6 R1 an observer that is stopped after a switch delivers nothing that was pending`() {
        let center = ObserverCenter()
        let first = ManualScheduler()
        let second = ManualScheduler()
        let log = Log<Int>()
        for target in [DeliveryTarget.poster, .custom(second)] {
            let token = center.observe(.sample, on: .custom(first)) { log.add($0.number) }
            center.post(.sample, number: 1)
            token.target = target
            token.stop()
            center.post(.sample, number: 2)
            first.runAll()
            second.runAll()
        }
        #expect(log.entries == [])
    }

    @Test func `D6 switching an observer that has ended does nothing, and it reads as poster`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let token = center.observe(.sample, on: .custom(scheduler)) { log.add($0.number) }
        token.stop()
        token.target = .custom(scheduler)
        #expect(token.target.description == "poster")
        center.post(.sample, number: 1)
        scheduler.runAll()
        #expect(log.entries == [])
        #expect(scheduler.scheduled == 0)
    }

    @Test func `D6 an observer that ended in its own handler reads as poster there, whatever it is switched to`() {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<String>()
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample) { _ in
                token.value?.target = .custom(scheduler)
                log.add(token.value?.target.description ?? "")
                token.value?.stop()
                log.add(token.value?.target.description ?? "")
                token.value?.target = .custom(scheduler)
                log.add(token.value?.target.description ?? "")
            })
        center.post(.sample, number: 1)
        #expect(log.entries == ["custom ManualScheduler", "poster", "poster"])
        token.set(nil)
    }
}
