import Foundation
import Testing

@testable import Tether

/// Observing with a method of an object. The object is the owner, or has another owner.
@Suite(.ownThread) struct ConnectTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    private func post(_ number: Int) {
        center.post(.sample, number: number)
        center.post(.other, number: number)
    }

    @Test(arguments: CenterKind.allCases, TargetKind.allCases)
    func `F1 D1 D5 a method is called on every kind of target`(
        kind: CenterKind, target: TargetKind
    ) async {
        let (center, owner, screen, place) = (
            kind.makeCenter(), Plain(), Screen(log), target.makePlace()
        )
        center.connect(.sample, to: Screen.changed, of: screen, on: place.target)
        center.connect(.other, to: Screen.closed, of: screen, owner: owner, on: place.target)
        onThreads({
            for (number, name) in [Notification.Name.sample, .other, .third, .sample].enumerated() {
                center.post(name, number: number)
            }
        })
        await place.settle()
        #expect(log.entries == ["changed 0", "closed", "changed 3"])
        #expect(center.audit().map(\.owner) == [describeInstance(screen), describeInstance(owner)])
        withExtendedLifetime(owner) {}
    }

    @Test func `O7 an observer with an owner of its own is listed there, not at its receiver`() {
        let (owner, screen) = (Plain(), Screen(log))
        let token = center.connect(.sample, to: Screen.changed, of: screen, owner: owner)
        #expect(Array(OwnerObservers(of: owner)) == [token])
        #expect(OwnerObservers(of: screen).isEmpty)
        OwnerObservers(of: screen).cancel()
        center.removeObservers(owner: screen)
        center.removeObserver(screen)
        #expect(token.isActive)
        OwnerObservers(of: owner).cancel()
        #expect(!token.isActive)
        #expect(center.isEmpty)
    }

    @Test(arguments: [false, true])
    func `O3 O7 a receiver that is its own owner ends its observer before its deinit`(isNamed: Bool)
    {
        let screen = Holder(Screen(log))
        let token =
            isNamed
            ? center.connect(.sample, to: Screen.changed, of: screen.object!, owner: screen.object!)
            : center.connect(.sample, to: Screen.changed, of: screen.object!)
        #expect(Array(OwnerObservers(of: screen.object!)) == [token])
        post(1)
        screen.release()
        post(2)
        #expect(log.entries == ["changed 1", "screen deinit"])
        #expect(!token.isActive)
        #expect(center.isEmpty)
    }

    @Test func `R1 R7 M7 a method's observer can be cancelled, run once, and have a key`() {
        let (owner, screen) = (Plain(), Screen(log))
        let stopped = center.connect(.sample, to: Screen.changed, of: screen)
        post(1)
        stopped.cancel()
        post(2)
        let once = center.connect(.sample, to: Screen.changed, of: screen, once: true)
        post(3)
        post(4)
        #expect(!once.isActive)
        let first = center.connect(.other, to: Screen.closed, of: screen, owner: owner, key: 1)
        let second = center.connect(.sample, to: Screen.changed, of: screen, owner: owner, key: 1)
        post(5)
        #expect([first.isActive, second.isActive] == [false, true])
        #expect(log.entries == ["changed 1", "changed 3", "changed 5"])
    }

    // MARK: The end of a receiver or of its owner

    @Test func `O2 O4 receivers and owners are not retained, and no method runs after an end`() {
        for receiverEndsFirst in [true, false] {
            let (log, center) = (Log<String>(), ObserverCenter())
            let screen = Holder(LoggedObject("receiver", log))
            let owner = Holder(LoggedObject("owner", log))
            let token = center.connect(
                nil, to: LoggedObject.touch, of: screen.object!, owner: owner.object!)
            center.post(.sample, number: 1)
            (receiverEndsFirst ? screen : owner).release()
            #expect(log.entries == [receiverEndsFirst ? "receiver deinit" : "owner deinit"])
            if !receiverEndsFirst { #expect(!token.isActive) }
            center.post(.sample, number: 2)
            #expect(!token.isActive)
            #expect(center.isEmpty)
            (receiverEndsFirst ? owner : screen).release()
            #expect(log.entries.count == 2)
        }
    }

    @Test func `O4 a pending delivery calls no deallocated receiver, and ends the observer`() {
        let (jobs, screen, owner) = (ManualScheduler(), Holder(Screen(log)), Plain())
        center.connect(
            .sample, to: Screen.changed, of: screen.object!, owner: owner, on: .custom(jobs))
        post(1)
        screen.release()
        jobs.runAll()
        #expect(log.entries == ["screen deinit"])
        #expect(OwnerObservers(of: owner).isEmpty)
    }

    @Test func `O4 no method runs after the end of its receiver or owner while others post`()
        throws
    {
        struct Round: Sendable {
            let center = ObserverCenter()
            let (owner, receiver): (Box<Ending?>, Box<LateCaller?>)
            let late: Counter
        }
        try race(
            rounds: 600,
            setUp: { _ in
                let (hasEnded, late) = (Flag(), Counter())
                let round = Round(
                    owner: Box(optional: Ending { hasEnded.raise() }),
                    receiver: Box(optional: LateCaller(hasEnded, late)),
                    late: late)
                round.center.connect(
                    .sample, to: LateCaller.call, of: round.receiver.value!,
                    owner: round.owner.value!)
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

    /// Counts the calls during which `hasEnded` is raised.
    private final class LateCaller: Sendable {
        private let hasEnded: Flag
        private let late: Counter

        init(_ hasEnded: Flag, _ late: Counter) {
            self.hasEnded = hasEnded
            self.late = late
        }

        func call() {
            if hasEnded.isRaised { late.add() }
            sched_yield()
            if hasEnded.isRaised { late.add() }
        }

        deinit { hasEnded.raise() }
    }

    @Test func `O8 an observer of an owner, receiver or sender in its deinit is inactive`() {
        let (log, center, other) = (log, center, Plain())
        for form in 0..<4 {
            let ending = LoggedObject("\(form)", log) { ending in
                let token =
                    switch form {
                    case 0: center.connect(.sample, to: Plain.touch, of: other, owner: ending)
                    case 1:
                        center.connect(.sample, to: LoggedObject.touch, of: ending, owner: other)
                    case 2:
                        center.connect(
                            .sample, from: ending, to: Plain.touch, of: other, owner: other)
                    default: center.connect(.sample, to: LoggedObject.touch, of: ending)
                    }
                log.add("\(token.isActive) \(OwnerObservers(of: other).count)")
            }
            withExtendedLifetime(ending) {}
        }
        #expect(log.entries == (0..<4).flatMap { ["\($0) deinit", "false 0"] })
        #expect(center.isEmpty)
    }

    @Test func `O9 a method that drops its receiver and owner releases both after its return`() {
        let log = log
        final class Dropping: Sendable {
            let body: @Sendable () -> Void
            let log: Log<String>
            init(_ log: Log<String>, _ body: @escaping @Sendable () -> Void) {
                (self.log, self.body) = (log, body)
            }
            func run() { body() }
            deinit { log.add("receiver deinit") }
        }
        let (owner, receiver) = (Box(optional: LoggedObject("owner", log)), Box<Dropping?>())
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
        post(2)
        #expect(center.isEmpty)
    }
}

extension Plain {
    fileprivate func touch() { withExtendedLifetime(self) {} }
}
