import Foundation
import Testing
import Tether

/// What is posted while the end of a drain delivers what joined it: a further drain delivers it, or a post that comes first.
@Suite(.ownThread) struct RemainderTests {
    private let center = ObserverCenter()
    private let scheduler = ManualScheduler()
    private let log = Log<Int>()
    private let token = Box<NotificationObserver?>(nil)

    /// An observer on the scheduler that switches to the poster at 1, and posts the next number at each up to the last.
    private func observe(
        until last: Int, at number: Int = 0, _ action: @escaping @Sendable () -> Void = {}
    ) {
        token.set(
            center.observe(.sample, on: .custom(scheduler)) { [center, log, token] notification in
                log.add(notification.number)
                if notification.number == 1 { token.value?.target = .poster }
                if notification.number == number { action() }
                if notification.number < last { center.post(.sample, number: notification.number + 1) }
            })
    }

    @Test func `D6 D7 what the last deliveries of such a drain post is delivered by further ones, one step each`() {
        observe(until: 4)
        center.post(.sample, number: 1)
        scheduler.runNext()
        #expect(log.entries == [1, 2])
        #expect(center.audit().map(\.pending) == [1])
        scheduler.runNext()
        #expect(log.entries == [1, 2, 3])
        scheduler.runNext()
        #expect(log.entries == [1, 2, 3, 4])
        #expect(scheduler.waiting == 0)
        #expect(scheduler.scheduled == 3)
        token.set(nil)
    }

    @Test func `D6 a post that comes before the further drain delivers what is left first`() {
        observe(until: 3)
        center.post(.sample, number: 1)
        scheduler.runNext()
        center.post(.sample, number: 5)
        #expect(log.entries == [1, 2, 3, 5])
        scheduler.runAll()
        #expect(log.entries == [1, 2, 3, 5])
        #expect(center.audit().map(\.pending) == [0])
        token.set(nil)
    }

    @Test func `D7 a handler that posts to itself after a switch to the poster does not starve its queue`() async {
        let (center, token, stops) = (center, token, Flag())
        let queue = DispatchQueue(label: "RemainderTests")
        token.set(
            center.observe(.sample, on: .dispatchQueue(queue)) { notification in
                if notification.number == 3 { token.value?.target = .poster }
                if !stops.isRaised { center.post(.sample, number: notification.number + 1) }
            })
        center.post(.sample, number: 1)
        for _ in 0..<10 {
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        }
        stops.raise()
        token.set(nil)
    }

    @Test func `D6 what is left goes along with a switch to another queue`() {
        let second = ManualScheduler()
        observe(until: 3, at: 2) { [token] in token.value?.target = .custom(second) }
        center.post(.sample, number: 1)
        scheduler.runAll()
        #expect(log.entries == [1, 2])
        second.runAll()
        #expect(log.entries == [1, 2, 3])
        token.set(nil)
    }

    @Test func `D2 D6 what is left waits for the next post if the further drain is dropped`() {
        observe(until: 3)
        center.post(.sample, number: 1)
        scheduler.runNext()
        scheduler.dropAll()
        #expect(center.audit().map(\.pending) == [1])
        #expect(center.audit().map(\.dropped) == [0])
        center.post(.sample, number: 4)
        #expect(log.entries == [1, 2, 3, 4])
        token.set(nil)
    }

    /// Posts twice when it ends, each time when it may.
    private final class Farewell: Sendable {
        let center: ObserverCenter
        let (mayPost, isPosted, mayPostAgain) = (Gate(), Gate(), Gate())

        init(_ center: ObserverCenter) {
            self.center = center
        }

        deinit {
            mayPost.pass()
            post(1)
            isPosted.open()
            mayPostAgain.pass()
            post(2)
        }

        private func post(_ number: Int) {
            center.post(name: .sample, object: self, userInfo: ["number": number])
        }
    }

    @Test(arguments: [false, true])
    func `M5 D6 what is left of a sender that has gone is delivered, or dropped with its drain`(_ isDropped: Bool) {
        var sender: Farewell? = Farewell(center)
        let (mayPost, isPosted, mayPostAgain) = (sender!.mayPost, sender!.isPosted, sender!.mayPostAgain)
        let hasGone = Gate()
        token.set(
            center.observe(.sample, from: sender!, on: .custom(scheduler)) { [log] notification in
                log.add(notification.number)
                guard notification.number == 1 else { return }
                mayPostAgain.open()
                hasGone.pass()
            })
        let held = Box(sender)
        sender = nil
        onThreads(
            {
                held.set(nil)
                hasGone.open()
            },
            { [center, scheduler, token] in
                let other = center.observe(.other, on: .custom(scheduler)) { _ in
                    mayPost.open()
                    isPosted.pass()
                    token.value?.target = .poster
                }
                center.post(name: .other, object: nil)
                scheduler.runNext()
                withExtendedLifetime(other) {}
            })
        #expect(log.entries == [1])
        #expect(token.value?.isActive == true)
        if isDropped { scheduler.dropAll() } else { scheduler.runAll() }
        #expect(log.entries == (isDropped ? [1] : [1, 2]))
        #expect(token.value?.isActive == false)
        token.set(nil)
    }

    @Test func `R1 R8 what is left of an observer that is stopped is let go of, and its drain delivers nothing`() {
        observe(until: 3)
        center.post(.sample, number: 1)
        scheduler.runNext()
        token.value?.stop()
        scheduler.runAll()
        #expect(log.entries == [1, 2])
        #expect(center.audit().isEmpty)
        token.set(nil)
    }
}
