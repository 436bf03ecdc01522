import Foundation
import Testing

@testable import Tether

/// The batch of a drain is pending like all else.
@Suite(.ownThread) struct BatchTests {
    private let queue = DispatchQueue(label: "BatchTests")
    private let center = ObserverCenter()
    private let log = Log<String>()

    private func post(_ numbers: ClosedRange<Int>, with payload: (Int) -> any Sendable = { _ in 0 }) {
        for number in numbers {
            center.post(name: .sample, object: nil, userInfo: ["number": number, "payload": payload(number)])
        }
    }

    /// Has what is posted wait, so that one drain takes all of it.
    private func inOneDrain(_ posts: () -> Void) {
        queue.suspend()
        posts()
        queue.resume()
        queue.sync {}
        queue.sync {}
    }

    @Test func `R1 a delivery that a drain took before its observer ended elsewhere is not made`() throws {
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { [log] in log.add("\($0.number)") }
        let registration = try #require(token.registration)
        // As the drain does, with what it took.
        let deliveries = [1, 2].map { number in
            Inbox.Delivery(
                ticket: 0, StoredNotification(Notification(name: .sample, userInfo: ["number": number])),
                registration: registration)
        }
        registration.run(deliveries[0])
        token.stop()
        registration.run(deliveries[1])
        #expect(log.entries == ["1"])
    }

    @Test func `R1 R8 a stop in a drain lets go at once of what the drain was going to deliver`() {
        let observer = Box<NotificationObserver?>(nil)
        observer.set(
            center.observe(.sample, on: .dispatchQueue(queue)) { [log] notification in
                log.add("delivered \(notification.number)")
                if notification.number == 2 {
                    observer.value?.stop()
                    log.add("stopped")
                }
            })
        inOneDrain {
            post(1...4) { [log] number in Ending { log.add("let go of \(number)") } }
        }
        #expect(Array(log.entries.prefix(2)) == ["delivered 1", "let go of 1"])
        let atStop = log.entries.dropFirst(2)
        #expect(atStop.first == "delivered 2")
        #expect(Set(atStop.dropFirst().prefix(2)) == ["let go of 3", "let go of 4"])
        #expect(atStop.dropFirst(3) == ["stopped", "let go of 2"])
        observer.set(nil)
    }

    @Test func `L1 in a drain the audit counts what it was going to deliver, and what is posted meanwhile`() {
        let observer = center.observe(.sample, on: .dispatchQueue(queue)) { [center, log] notification in
            log.add("\(notification.number): \(center.audit().rows.map(\.pending))")
            if notification.number == 1 { center.post(name: .sample, object: nil, userInfo: ["number": 4]) }
        }
        inOneDrain { post(1...3) }
        #expect(log.entries == ["1: [2]", "2: [2]", "3: [1]", "4: [0]"])
        withExtendedLifetime(observer) {}
    }

    @Test func `D8 a backlog that is bounded in a drain drops the oldest of what the drain was going to deliver`() {
        let observer = Box<NotificationObserver?>(nil)
        observer.set(
            center.observe(.sample, on: .dispatchQueue(queue)) { [log] notification in
                log.add("\(notification.number)")
                if notification.number == 2 { observer.value?.backlog = .newest(2) }
            })
        inOneDrain { post(1...6) }
        #expect(log.entries == ["1", "2", "5", "6"])
        #expect(center.audit().rows.map(\.dropped) == [2])
        observer.set(nil)
    }

    @Test func `D6 D9 a switch and a muting in a drain leave what the drain was going to deliver to it`() async {
        let elsewhere = DispatchQueue(label: "BatchTests.elsewhere")
        let observer = Box<NotificationObserver?>(nil)
        observer.set(
            center.observe(.sample, on: .dispatchQueue(queue)) { [log, queue] notification in
                dispatchPrecondition(condition: .onQueue(notification.number < 5 ? queue : elsewhere))
                log.add("\(notification.number)")
                if notification.number == 2 {
                    observer.value?.target = .dispatchQueue(elsewhere)
                    observer.value?.mute()
                }
            })
        inOneDrain { post(1...4) }
        #expect(log.entries == ["1", "2", "3", "4"])
        observer.value?.unmute()
        post(5...5)
        elsewhere.sync {}
        #expect(log.entries == ["1", "2", "3", "4", "5"])
        observer.set(nil)
    }

    @Test func `D2 operations that are cancelled in a drain drop, and count, what the drain was going to deliver`() {
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        let observer = center.observe(.sample, on: .operationQueue(operations)) { [center, log] notification in
            log.add("delivered \(notification.number)")
            guard notification.number == 2 else { return }
            operations.cancelAllOperations()
            log.add("dropped \(center.audit().rows.map(\.dropped))")
        }
        operations.isSuspended = true
        post(1...5) { [log] number in Ending { log.add("let go of \(number)") } }
        operations.isSuspended = false
        operations.waitUntilAllOperationsAreFinished()
        #expect(Array(log.entries.prefix(3)) == ["delivered 1", "let go of 1", "delivered 2"])
        #expect(Set(log.entries.dropFirst(3).prefix(3)) == ["let go of 3", "let go of 4", "let go of 5"])
        #expect(log.entries.dropFirst(6) == ["dropped [3]", "let go of 2"])
        withExtendedLifetime(observer) {}
    }

    @Test func `D2 a drain that another thread cancels delivers no more, however long the dropping takes`() {
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        let (isRunning, mayGoOn, isDone) = (Gate(), Gate(), Gate())
        let observer = center.observe(.sample, on: .operationQueue(operations)) { [log] notification in
            log.add("delivered \(notification.number)")
            guard notification.number == 1 else { return }
            isRunning.open()
            mayGoOn.pass()
        }
        // What it captured ends where it is dropped, between the dropping of one delivery and that of the others.
        let captured = Ending {
            mayGoOn.open()
            isDone.pass()
        }
        let once = center.observe(.other, on: .operationQueue(operations), once: true) { [captured] _ in
            captured.touch()
        }
        operations.isSuspended = true
        post(1...1)
        center.post(name: .other, object: nil)
        post(2...4)
        _ = consume captured
        let hasCancelled = Gate()
        let canceller = Thread {
            isRunning.pass()
            operations.cancelAllOperations()
            hasCancelled.open()
        }
        canceller.start()
        operations.isSuspended = false
        operations.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["delivered 1"])
        isDone.open()
        hasCancelled.pass()
        #expect(log.entries == ["delivered 1"])
        #expect(center.audit().rows.map(\.dropped) == [3])
        withExtendedLifetime((observer, once)) {}
    }
}
