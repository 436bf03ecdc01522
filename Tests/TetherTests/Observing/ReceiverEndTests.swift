import Foundation
import Testing

@testable import Tether

/// The ends of receivers and of owners whose observers call them.
@Suite(.ownThread) struct ReceiverEndTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    private func post(_ number: Int) {
        center.post(.sample, number: number)
        center.post(.other, number: number)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `O2 O3 neither is kept, and the observer ends before the deinit of the first to go`(mode: LifetimeMode) {
        for receiverGoesFirst in [true, false] {
            let (log, center) = (Log<String>(), mode.makeCenter())
            let screen = Holder(LoggedObject("receiver", log))
            let owner = Holder(LoggedObject("owner", log))
            let tokens = [
                center.connect(.sample, to: LoggedObject.touch, of: screen.object!, owner: owner.object!),
                center.connect(nil, to: LoggedObject.touch, of: screen.object!, owner: owner.object!),
            ]
            center.post(.sample, number: 1)
            let records = [Trace(owner.object!), Trace(screen.object!)]
            (receiverGoesFirst ? screen : owner).release()
            mode.expectAfterEnd(tokens.allSatisfy { !$0.isActive })
            #expect(log.entries == [receiverGoesFirst ? "receiver deinit" : "owner deinit"])
            #expect(center.core.isEmpty)
            #expect(records.allSatisfy { !$0.hasRecord })
            (receiverGoesFirst ? owner : screen).release()
            #expect(log.entries.count == 2)
        }
    }

    @Test func `O3 the observer has ended in the first line of its receiver's deinit`() {
        let (log, center) = (log, center)
        let token = Box<NotificationObserver?>(nil)
        do {
            let receiver = LoggedObject("receiver", log) { _ in
                log.add("active: \(token.value?.isActive == true)")
                center.post(.sample, number: 1)
            }
            token.set(configured(for: center) { $0.connect(.sample, to: LoggedObject.touch, of: receiver) })
        }
        #expect(log.entries == ["receiver deinit", "active: \(endsFollowDeinit)"])
    }

    @Test func `O4 what is enqueued for a receiver that has gone does not run`() {
        let (jobs, screen, owner) = (HeldJobs(), Holder(Screen(log)), Plain())
        center.connect(.sample, to: Screen.changed, of: screen.object!, owner: owner, on: .custom(jobs))
        post(1)
        screen.release()
        jobs.run()
        #expect(log.entries == ["screen deinit"])
        #expect(OwnerObservers(of: owner).isEmpty)
    }

    @Test func `O4 no method runs in or after the deinit of a receiver or owner that goes while others post`() throws {
        struct Round: Sendable {
            let center = ObserverCenter()
            let (owner, receiver): (SharedHolder<Ending>, SharedHolder<LateCaller>)
            let late: Counter
        }
        try race(
            rounds: 2000,
            setUp: { _ in
                let (hasGone, late) = (Flag(), Counter())
                let round = Round(
                    owner: SharedHolder(Ending { hasGone.raise() }),
                    receiver: SharedHolder(LateCaller(hasGone, late)),
                    late: late)
                round.center.connect(
                    .sample, to: LateCaller.call, of: round.receiver.value!, owner: round.owner.value!)
                return round
            },
            { for _ in 0..<3 { $0.center.post(.sample, number: 1) } },
            { $0.owner.drop() },
            { $0.receiver.drop() },
            check: { round in
                try require(round.late.count == 0, "a method ran late")
                try require(round.center.core.count == 0, "an observer is left")
            })
    }

    /// Counts the calls in which an object that is to be held has gone.
    private final class LateCaller: Sendable {
        private let hasGone: Flag
        private let late: Counter

        init(_ hasGone: Flag, _ late: Counter) {
            self.hasGone = hasGone
            self.late = late
        }

        func call() {
            if hasGone.isRaised { late.add() }
            sched_yield()
            if hasGone.isRaised { late.add() }
        }

        deinit { hasGone.raise() }
    }

    @Test func `O8 with an owner, receiver or sender that is being deinitialised it comes back inactive`() {
        let (log, center, other) = (log, center, Plain())
        for form in 0..<5 {
            let ending = LoggedObject("\(form)", log) { ending in
                let trace = [other].map(Trace.init)
                let observer = NotificationObserver(center: center)
                observer.observe(.sample) { _ in }
                switch form {
                case 0: _ = center.connect(.sample, to: Plain.touch, of: other, owner: ending)
                case 1: _ = center.connect(.sample, to: LoggedObject.touch, of: ending, owner: other)
                case 2:
                    _ = center.connect(.sample, from: ending, to: Plain.touch, of: other, owner: other)
                case 3:
                    let token = configured(for: center) { $0.connect(.sample, to: LoggedObject.touch, of: ending) }
                    log.add("\(token.isActive)")
                default:
                    observer.connect(.sample, to: LoggedObject.touch, of: ending)
                    log.add("\(observer.isActive)")
                }
                log.add("\(OwnerObservers(of: other).count) \(trace.contains { $0.hasRecord })")
            }
            withExtendedLifetime(ending) {}
        }
        #expect(
            log.entries == [
                "0 deinit", "0 false", "1 deinit", "0 false", "2 deinit", "0 false", "3 deinit", "false", "0 false",
                "4 deinit", "false", "0 false",
            ])
        #expect(center.core.isEmpty)
    }

    @Test func `O9 a method that drops the last references to its receiver and owner lets them go after it returns`() {
        let log = log
        final class Dropping: Sendable {
            let body: @Sendable () -> Void
            let log: Log<String>
            init(_ log: Log<String>, _ body: @escaping @Sendable () -> Void) { (self.log, self.body) = (log, body) }
            func run() { body() }
            deinit { log.add("receiver deinit") }
        }
        let (owner, receiver) = (SharedHolder(LoggedObject("owner", log)), SharedHolder<Dropping>())
        receiver.set(
            Dropping(log) {
                owner.drop()
                receiver.drop()
                log.add("returns")
            })
        center.connect(.sample, to: Dropping.run, of: receiver.value!, owner: owner.value!)
        post(1)
        #expect(log.entries.first == "returns")
        #expect(log.entries.dropFirst().sorted() == ["owner deinit", "receiver deinit"])
        #expect(center.core.isEmpty)
    }
}

extension Plain {
    fileprivate func touch() { withExtendedLifetime(self) {} }
}
