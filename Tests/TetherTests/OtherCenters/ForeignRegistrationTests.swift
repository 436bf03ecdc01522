import Foundation
import Testing

@testable import Tether

/// The calls of another center, and their moments.
@Suite(.ownThread) struct ForeignRegistrationTests {
    private let center = SmallCenter()

    @Test func `F2 ending an observer does not call the foreign center, whose lock may be held`() {
        let token = center.observe(.sample) { _ in }
        let owner = Box<Ending?>(Ending {})
        center.observe(.sample, owner: owner.value!) { _, _ in }
        onThreads({ [center] in
            center.whileLocked {
                token.cancel()
                owner.set(nil)
            }
        })
        #expect(!token.isActive)
        center.waitForCancellations(2)
        #expect(center.cancelled.sorted() == [1, 2])
        #expect(center.count == 0)
    }

    @Test func `F2 each registration is cancelled once, however often its observer is cancelled`() {
        let count = 200
        let tokens = (0..<count).map { _ in center.observe(.sample) { _ in } }
        onThreads(
            { [center] in center.removeObservers(named: .sample) },
            { for token in tokens { token.cancel() } },
            { for token in tokens.reversed() { token.cancel() } })
        center.waitForCancellations(count)
        #expect(center.cancelled.sorted() == Array(1...count))
        #expect(center.count == 0)
    }

    @Test func `F1 R1 an observer removed during its registration is taken off`() {
        let log = Log<Int>()
        center.interruptRegistration { [center] in
            center.post(.sample, number: 1)
            center.removeObservers(named: .sample)
            center.post(.sample, number: 2)
        }
        let observer = center.observe(.sample) { log.add($0.number) }
        #expect(!observer.isActive)
        center.waitForCancellations(1)
        #expect(center.cancelled == [1] && center.count == 0)
        #expect(log.entries == [1])
    }

    @Test func `F1 M7 an observer replaced during its registration ends, and the other stays`() {
        let log = Log<String>()
        let second = Box<NotificationObserver?>(nil)
        center.interruptRegistration { [center] in
            second.set(center.observe(.sample, key: "key") { _ in log.add("second") })
        }
        let first = center.observe(.sample, key: "key") { _ in log.add("first") }
        #expect(!first.isActive && second.value?.isActive == true)
        center.waitForCancellations(1)
        #expect(center.registered == 2 && center.cancelled == [1])
        center.post(.sample)
        #expect(log.entries == ["second"])
    }

    @Test func `F1 an observer whose center releases its closure unasked ends`() {
        let token = center.observe(.sample) { _ in }
        center.forgetAll()
        ForeignSubscription.settle()
        #expect(!token.isActive)
        #expect(center.audit().isEmpty)
        #expect(center.cancelled == [])
    }

    /// Observes itself in its `deinit`.
    private final class LateCenter: NotifyingCenter {
        private struct NoRegistration: NotifyingRegistration { func cancel() {} }

        private let receivers = Locked<[@Sendable (Notification) -> Void]>([])
        private let atEnd: @Sendable (LateCenter) -> Void

        init(atEnd: @escaping @Sendable (LateCenter) -> Void) {
            self.atEnd = atEnd
        }

        deinit {
            atEnd(self)
            for receiver in receivers.withLock(\.self) { receiver(Notification(name: .sample)) }
        }

        func register(
            name: Notification.Name?, sender: AnyObject?,
            handler: @escaping @Sendable (Notification) -> Void
        ) -> any NotifyingRegistration {
            receivers.withLock { $0.append(handler) }
            return NoRegistration()
        }
    }

    @Test func `F1 R10 observers of a center that is being deinitialised end with it`() {
        let (log, owner) = (Log<String>(), Ending {})
        do {
            let center = LateCenter { center in
                for _ in 0..<2 {
                    let captured = Ending {
                        log.add(
                            "audit: " + OwnerObservers(of: owner).audit().map(\.center).joined())
                    }
                    center.observe(.sample, owner: owner) { _, _ in
                        captured.touch()
                        log.add("called")
                    }
                }
            }
            withExtendedLifetime(center) {}
        }
        #expect(log.entries == ["called", "called", "audit: a deallocated center", "audit: "])
        #expect(OwnerObservers(of: owner).isEmpty)
    }

    /// A center whose closures another object has, as a running post on another thread may.
    private final class OutlivedCenter: NotifyingCenter {
        typealias Closures = Box<[@Sendable (Notification) -> Void]>

        private struct NoRegistration: NotifyingRegistration { func cancel() {} }

        private let closures: Closures

        init(_ closures: Closures) { self.closures = closures }

        func register(
            name: Notification.Name?, sender: AnyObject?,
            handler: @escaping @Sendable (Notification) -> Void
        ) -> any NotifyingRegistration {
            closures.set(closures.value + [handler])
            return NoRegistration()
        }
    }

    /// With the Objective-C runtime the new center may have the dead one's address.
    @Test func `F1 R10 observers of a center do not end with an earlier center's late closures`() {
        let (late, owner) = (OutlivedCenter.Closures([]), Plain())
        for _ in 0..<100 {
            do {
                let center = OutlivedCenter(late)
                center.observe(.sample, owner: owner) { _, _ in }
            }
            let next = OutlivedCenter(.init([]))
            #expect(next.audit().isEmpty)
            let token = next.observe(.sample) { _ in }
            late.set([])
            ForeignSubscription.settle()
            #expect(token.isActive)
            #expect(next.audit().count == 1)
        }
    }
}
