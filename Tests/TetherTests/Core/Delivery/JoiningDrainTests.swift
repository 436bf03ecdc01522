import Foundation
import Testing
import Tether

/// What is posted while a drain runs, after a switch to the poster: that drain delivers it, because no post may follow.
@Suite(.ownThread) struct JoiningDrainTests {
    private struct Fixture {
        let center = ObserverCenter()
        let scheduler = ManualScheduler()
        let log = Log<Int>()
        let token = Box<NotificationObserver?>(nil)

        /// An observer on the scheduler, whose handler does something at a number.
        func observe(once: Bool = false, at number: Int, _ action: @escaping @Sendable () -> Void) {
            let log = log
            token.set(
                center.observe(.sample, on: .custom(scheduler), once: once) { notification in
                    log.add(notification.number)
                    if notification.number == number { action() }
                })
        }

        func switchToPoster() { token.value?.target = .poster }
    }

    @Test func `D6 what a handler posts after it switched to the poster is delivered by the drain that calls it`() {
        let fixture = Fixture()
        fixture.observe(at: 1) {
            fixture.center.post(.sample, number: 2)
            fixture.switchToPoster()
            fixture.center.post(.sample, numbers: 3...4)
        }
        fixture.center.post(.sample, number: 1)
        fixture.scheduler.runNext()
        #expect(fixture.log.entries == [1, 2, 3, 4])
        #expect(fixture.center.audit().map(\.pending) == [0])
        #expect(fixture.center.audit().map(\.target) == ["poster"])
        fixture.scheduler.runAll()
        #expect(fixture.log.entries == [1, 2, 3, 4])
        fixture.token.set(nil)
    }

    @Test func `D6 what other threads post while a drain runs is delivered by it, after a switch to the poster`() {
        let fixture = Fixture()
        let (isRunning, mayGoOn) = (Gate(), Gate())
        fixture.observe(at: 1) {
            isRunning.open()
            mayGoOn.pass()
        }
        fixture.center.post(.sample, number: 1)
        onThreads(
            { fixture.scheduler.runNext() },
            {
                isRunning.pass()
                fixture.center.post(.sample, number: 2)
                fixture.switchToPoster()
                fixture.center.post(.sample, number: 3)
                mayGoOn.open()
            })
        #expect(fixture.log.entries == [1, 2, 3])
        fixture.token.set(nil)
    }

    @Test(arguments: [TargetKind.main, .operationQueue, .dispatchQueue, .thread])
    func `D6 a drain of any queue or thread delivers what joins it after a switch to the poster`(
        _ kind: TargetKind
    ) async {
        let (center, place, log, arrived) = (ObserverCenter(), kind.makePlace(), Log<Int>(), AsyncGate())
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample, on: place.target) { notification in
                log.add(notification.number)
                if notification.number == 3 { return arrived.open() }
                token.value?.target = .poster
                // From elsewhere, because a post on the target itself is inline when nothing else is pending.
                let next = notification.number + 1
                onThreads({ center.post(.sample, number: next) })
            })
        await Task.detached { center.post(.sample, number: 1) }.value
        await arrived.pass()
        #expect(log.entries == [1, 2, 3])
        token.set(nil)
    }

    @Test func `D6 an observer whose turn in the drain is over is delivered to when the drain ends`() {
        let fixture = Fixture()
        let center = fixture.center
        fixture.observe(at: 0) {}
        let other = center.observe(.sample, on: .custom(fixture.scheduler)) { notification in
            guard notification.number == 1 else { return }
            center.post(.sample, number: 2)
            fixture.switchToPoster()
        }
        center.post(.sample, number: 1)
        fixture.scheduler.runNext()
        #expect(fixture.log.entries == [1, 2])
        #expect(center.audit().map(\.pending) == [0, 1])
        fixture.scheduler.runAll()
        #expect(center.audit().map(\.pending) == [0, 0])
        fixture.token.set(nil)
        withExtendedLifetime(other) {}
    }

    @Test func `D6 R7 a once observer that joined the drain is called by it and ends`() {
        let fixture = Fixture()
        let center = fixture.center
        let other = center.observe(.other, on: .custom(fixture.scheduler)) { _ in
            center.post(.sample, numbers: 1...2)
            fixture.switchToPoster()
        }
        fixture.observe(once: true, at: 0) {}
        center.post(.other, number: 0)
        fixture.scheduler.runNext()
        #expect(fixture.log.entries == [1])
        #expect(fixture.token.value?.isActive == false)
        withExtendedLifetime(other) {}
    }

    @Test func `D6 D9 what is kept while muted joins the drain when the observer is unmuted in it`() {
        let fixture = Fixture()
        fixture.observe(at: 1) {
            fixture.switchToPoster()
            fixture.token.value?.mute(keepingNewest: true)
            fixture.center.post(.sample, numbers: 2...3)
            fixture.token.value?.unmute()
            fixture.center.post(.sample, number: 4)
        }
        fixture.center.post(.sample, number: 1)
        fixture.scheduler.runNext()
        #expect(fixture.log.entries == [1, 3, 4])
        #expect(fixture.center.audit().map(\.dropped) == [1])
        fixture.token.set(nil)
    }

    @Test func `D6 D9 what joined the drain before a muting is delivered by it, and what is posted while muted is not`()
    {
        let fixture = Fixture()
        fixture.observe(at: 1) {
            fixture.switchToPoster()
            fixture.center.post(.sample, number: 2)
            fixture.token.value?.mute()
            fixture.center.post(.sample, number: 3)
        }
        fixture.center.post(.sample, number: 1)
        fixture.scheduler.runNext()
        #expect(fixture.log.entries == [1, 2])
        #expect(fixture.center.audit().map(\.dropped) == [1])
        fixture.token.set(nil)
    }

    @Test func `D6 R1 what joined the drain of an observer that is stopped is not delivered`() {
        let fixture = Fixture()
        fixture.observe(at: 2) { fixture.token.value?.stop() }
        let other = fixture.center.observe(.other, on: .custom(fixture.scheduler)) { _ in
            fixture.center.post(.sample, numbers: 1...3)
            fixture.switchToPoster()
        }
        fixture.center.post(.other, number: 0)
        fixture.scheduler.runNext()
        #expect(fixture.log.entries == [1, 2])
        fixture.token.set(nil)
        withExtendedLifetime(other) {}
    }

    @Test func `D2 D6 a drain that is cancelled drops what is pending, and delivers what joins it after that`() {
        let (center, queue, log) = (ObserverCenter(), OperationQueue.serial(), Log<Int>())
        let token = Box<NotificationObserver?>(nil)
        token.set(
            center.observe(.sample, on: .operationQueue(queue)) { notification in
                log.add(notification.number)
                guard notification.number == 1 else { return }
                token.value?.target = .poster
                center.post(.sample, number: 3)
                queue.cancelAllOperations()
                center.post(.sample, number: 4)
            })
        queue.isSuspended = true
        center.post(.sample, numbers: 1...2)
        queue.isSuspended = false
        // Not by an operation of the test's own, which would be cancelled too.
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [1, 4])
        #expect(center.audit().map(\.dropped) == [2])
        token.set(nil)
    }

    @Test func `D6 a switch to the poster and on to a queue takes what joined the drain along`() {
        let fixture = Fixture()
        let second = ManualScheduler()
        fixture.observe(at: 1) {
            fixture.switchToPoster()
            fixture.center.post(.sample, number: 2)
            fixture.token.value?.target = .custom(second)
        }
        fixture.center.post(.sample, number: 1)
        fixture.scheduler.runNext()
        #expect(fixture.log.entries == [1])
        second.runAll()
        #expect(fixture.log.entries == [1, 2])
        fixture.token.set(nil)
    }

    @Test func `D6 an observer is switched away again by what the end of the drain delivers to it`() {
        let fixture = Fixture()
        let second = ManualScheduler()
        fixture.observe(at: 2) {
            fixture.token.value?.target = .custom(second)
            fixture.center.post(.sample, number: 4)
        }
        let other = fixture.center.observe(.other, on: .custom(fixture.scheduler)) { _ in
            fixture.center.post(.sample, numbers: 2...3)
            fixture.switchToPoster()
        }
        fixture.center.post(.other, number: 0)
        fixture.scheduler.runNext()
        #expect(fixture.log.entries == [2, 3])
        fixture.center.post(.sample, number: 5)
        #expect(fixture.log.entries == [2, 3])
        second.runAll()
        #expect(fixture.log.entries == [2, 3, 4, 5])
        fixture.token.set(nil)
        withExtendedLifetime(other) {}
    }
}
