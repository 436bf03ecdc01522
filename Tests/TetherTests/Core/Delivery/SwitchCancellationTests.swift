import Foundation
import Testing

@testable import Tether

/// What a cancelled queue drops of an observer whose target is switched while a drain runs.
@Suite(.ownThread) struct SwitchCancellationTests {
    private let center = ObserverCenter()
    private let log = Log<Int>()
    private let isRunning = Gate()
    private let mayGoOn = Gate()

    /// Makes an observer whose first delivery is being made, until `mayGoOn`.
    private func observeAndRun(on target: DeliveryTarget) -> NotificationObserver {
        let token = center.observe(.sample, on: target) { [log, isRunning, mayGoOn] in
            log.add($0.number)
            if $0.number == 1 {
                isRunning.open()
                mayGoOn.pass()
            }
        }
        center.post(.sample, number: 1)
        isRunning.pass()
        return token
    }

    @Test(arguments: [false, true])
    func `D2 D6 what is posted after a switch to a queue is not cancelled with the old one`(andBack: Bool) {
        let (old, new) = (OperationQueue.serial(), DispatchQueue(label: "new"))
        let token = observeAndRun(on: .operationQueue(old))
        center.post(.sample, number: 2)
        token.target = .dispatchQueue(new)
        center.post(.sample, number: 3)
        if andBack { token.target = .operationQueue(old) }
        old.cancelAllOperations()
        center.post(.sample, number: 4)
        mayGoOn.open()
        old.settle()
        new.settle()
        old.settle()
        #expect(log.entries == [1, 2, 3, 4])
        #expect(center.audit().map(\.dropped) == [0])
        token.stop()
    }

    @Test(arguments: [1, OperationQueue.defaultMaxConcurrentOperationCount])
    func `D2 D6 what is pending is cancelled though the target was set once more to the same queue`(width: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        let token = observeAndRun(on: .operationQueue(queue))
        center.post(.sample, number: 2)
        token.target = .operationQueue(queue)
        center.post(.sample, number: 3)
        queue.cancelAllOperations()
        center.post(.sample, number: 4)
        mayGoOn.open()
        queue.settle()
        #expect(log.entries == [1, 4])
        #expect(center.audit().map(\.dropped) == [2])
        token.stop()
    }

    /// Posts three times when it ends, the last two when the first is being delivered.
    private final class Farewell: Sendable {
        let (center, isRunning) = (ObserverCenter(), Gate())
        private let whileRunning: @Sendable () -> Void
        private let atEnd: @Sendable () -> Void

        init(whileRunning: @escaping @Sendable () -> Void = {}, atEnd: @escaping @Sendable () -> Void = {}) {
            (self.whileRunning, self.atEnd) = (whileRunning, atEnd)
        }

        deinit {
            post(1)
            isRunning.pass()
            whileRunning()
            post(2)
            post(3)
            atEnd()
        }

        private func post(_ number: Int) {
            center.post(name: .sample, object: self, userInfo: ["number": number])
        }
    }

    @Test func `D2 D6 a switch that comes to nothing spares nothing that a later drain begins with`() {
        let (queue, log, dropped) = (OperationQueue.serial(), Log<Int>(), Log<Int>())
        let (mayGoOn, isCancelled) = (Gate(), Gate())
        var sender: Farewell? = Farewell()
        let (center, isRunning) = (sender!.center, sender!.isRunning)
        let observer = NotificationObserver(center: center)
        observer.observe(.sample, from: sender!, on: .operationQueue(queue)) { [unowned observer] in
            log.add($0.number)
            if $0.number == 1 {
                isRunning.open()
                mayGoOn.pass()
            } else {
                observer.target = .dispatchQueue(DispatchQueue(label: "another"))
                queue.cancelAllOperations()
                for row in center.audit() { dropped.add(row.dropped) }
                isCancelled.open()
            }
        }
        sender = nil
        // Refused when the drain ends, because no post comes that would deliver there.
        observer.target = .poster
        mayGoOn.open()
        isCancelled.pass()
        queue.settle()
        #expect(log.entries == [1, 2])
        #expect(dropped.entries == [1])
        observer.stop()
    }

    @Test(arguments: [false, true])
    func `D2 D6 what was spared for a queue is delivered by the drain when it goes to the poster`(isLate: Bool) {
        let queue = OperationQueue.serial()
        let token = observeAndRun(on: .operationQueue(queue))
        token.target = .dispatchQueue(DispatchQueue(label: "another"))
        center.post(.sample, number: 2)
        queue.cancelAllOperations()
        token.target = .poster
        center.post(.sample, number: 3)
        // What has joined the drain meanwhile is cancelled with it.
        if isLate { queue.cancelAllOperations() }
        mayGoOn.open()
        queue.settle()
        #expect(log.entries == (isLate ? [1, 2] : [1, 2, 3]))
        #expect(center.audit().map(\.dropped) == [isLate ? 1 : 0])
        token.stop()
    }

    @Test func `M5 D6 what was spared of a sender that has gone is delivered where it was, if the poster is next`() {
        let (queue, log, mayGoOn, isCancelled) = (OperationQueue.serial(), Log<Int>(), Gate(), Gate())
        let token = Box<NotificationObserver?>(nil)
        var sender: Farewell? = Farewell {
            token.value?.target = .dispatchQueue(DispatchQueue(label: "another"))
        } atEnd: {
            queue.cancelAllOperations()
            isCancelled.open()
        }
        let (center, isRunning) = (sender!.center, sender!.isRunning)
        token.set(
            center.observe(.sample, from: sender!, on: .operationQueue(queue)) {
                log.add($0.number)
                if $0.number == 1 {
                    isRunning.open()
                    mayGoOn.pass()
                }
            })
        sender = nil
        isCancelled.pass()
        token.value?.target = .poster
        mayGoOn.open()
        queue.settle()
        #expect(log.entries == [1, 2, 3])
        #expect(token.value?.isActive == false)
        token.set(nil)
    }
}
