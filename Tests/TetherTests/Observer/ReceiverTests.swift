import Foundation
import Testing

@testable import Tether

/// Methods of an object that is not the owner.
@Suite struct ReceiverTests {
    private final class Screen: Sendable {
        let log: Log<String>

        init(_ log: Log<String>) { self.log = log }

        func changed(_ note: Notification) { log.add("changed \(note.number)") }
        func closed() { log.add("closed") }

        deinit { log.add("screen deinit") }
    }

    private let center = ObserverCenter()
    private let log = Log<String>()

    private func post(_ number: Int) {
        center.post(.sample, number: number)
        center.post(.other, number: number)
    }

    @Test(arguments: CenterKind.allCases, TargetKind.allCases)
    func `F1 D1 D2 D3 D5 a receiver's method is called on every kind of target`(
        kind: CenterKind, target: TargetKind
    ) async {
        let (center, owner, screen, place) = (kind.makeCenter(), Plain(), Screen(log), target.makePlace())
        let token = configured(for: center) { $0.connect(.sample, to: Screen.changed, of: screen, on: place.target) }
        center.connect(.other, to: Screen.closed, of: screen, owner: owner, on: place.target)
        let observer = NotificationObserver(center: center)
        observer.connect(.third, to: Screen.changed, of: screen, on: place.target)
        onThreads({
            for (number, name) in [Notification.Name.sample, .other, .third, .sample].enumerated() {
                center.post(name, number: number)
            }
        })
        await place.settle()
        #expect(log.entries == ["changed 0", "closed", "changed 2", "changed 3"])
        #expect(center.audit().map(\.owner) == [nil, describeInstance(owner), nil])
        withExtendedLifetime((token, observer, owner)) {}
    }

    @Test func `M9 an observer that is stopped while it is configured leaves nothing at its receiver`() {
        let (screen, observer) = (Screen(log), NotificationObserver(center: center))
        let ending = Holder(Ending { observer.stop() })
        observer.observe(.other) { [last = ending.object!] _ in last.touch() }
        ending.release()
        // Replacing the first handler releases what it captured, which stops the second one before it is attached.
        observer.connect(.sample, to: Screen.changed, of: screen)
        #expect(!observer.isActive)
        #expect(!OwnerTable.shared.hasRecord(of: ObjectIdentifier(screen)))
        #expect(center.core.isEmpty)
        withExtendedLifetime(screen) {}
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

    @Test func `O7 the observer is listed at its owner, not at its receiver`() {
        let (owner, screen) = (Plain(), Screen(log))
        let token = center.connect(.sample, to: Screen.changed, of: screen, owner: owner)
        #expect(Array(OwnerObservers(of: owner)) == [token])
        #expect(OwnerObservers(of: screen).isEmpty)
        #expect(OwnerObservers(of: screen).audit().isEmpty)
        OwnerObservers(of: screen).stop()
        center.removeObservers(owner: screen)
        center.removeObserver(screen)
        #expect(token.isActive)
        OwnerObservers(of: owner).stop()
        #expect(!token.isActive)
        #expect(center.core.isEmpty)
    }

    @Test func `O7 a property's method may have an owner, with which it idles and among whose observers it is`() {
        let (owner, screen) = (Holder(Plain()), Screen(log))
        let property = NotificationObserver(center: center)
        property.observe(.other) { _ in Issue.record("The first handler was called.") }
        let token = property.connect(.sample, to: Screen.changed, of: screen, owner: owner.object!)
        #expect(token === property && Array(OwnerObservers(of: owner.object!)) == [property])
        post(1)
        owner.release()
        #expect(!property.isActive)
        post(2)
        property.connect(.sample, to: Screen.closed, of: screen)
        post(3)
        #expect(log.entries == ["changed 1", "closed"])
        property.stop()
        #expect(center.core.isEmpty)
    }

    @Test func `O7 methods are connected from a table`() {
        let screen = Screen(log)
        let table: [(Notification.Name, NotificationMethod<Screen>)] = [
            (.sample, Screen.changed), (.other, Screen.changed),
        ]
        for (name, method) in table { center.connect(name, to: method, of: screen) }
        post(1)
        #expect(log.entries == ["changed 1", "changed 1"])
        #expect(OwnerObservers(of: screen).count == 2)
    }

    @Test func `O7 one object can be both`() {
        let screen = Holder(Screen(log))
        let token = center.connect(.sample, to: Screen.changed, of: screen.object!, owner: screen.object!)
        #expect(Array(OwnerObservers(of: screen.object!)) == [token])
        post(1)
        screen.release()
        post(2)
        #expect(log.entries == ["changed 1", "screen deinit"])
        #expect(!token.isActive)
        #expect(center.core.isEmpty)
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

    @Test func `R1 R7 M7 stopping, once and keys hold for it`() {
        let (owner, screen) = (Plain(), Screen(log))
        var token: NotificationObserver? = configured(for: center) {
            $0.connect(.sample, to: Screen.changed, of: screen)
        }
        post(1)
        withExtendedLifetime(token) {}
        token = nil
        post(2)
        let once = configured(for: center) { $0.connect(.sample, to: Screen.changed, of: screen, once: true) }
        post(3)
        post(4)
        #expect(!once.isActive)
        let first = center.connect(.other, to: Screen.closed, of: screen, owner: owner, key: 1)
        let second = center.connect(.sample, to: Screen.changed, of: screen, owner: owner, key: 1)
        post(5)
        #expect([first.isActive, second.isActive] == [false, true])
        #expect(log.entries == ["changed 1", "changed 3", "changed 5"])
    }

    @Test(arguments: CenterKind.allCases)
    func `P1 a receiver's main-actor method runs on the main actor, whoever posts`(kind: CenterKind) async {
        @MainActor final class Window {
            let log: Log<String>
            nonisolated init(_ log: Log<String>) { self.log = log }
            func changed(_ note: Notification) {
                MainActor.assertIsolated()
                log.add("\(note.number)")
            }
            func closed() {
                MainActor.assertIsolated()
                log.add("closed")
            }
        }
        let (center, owner, window) = (kind.makeCenter(), Plain(), Window(log))
        let observers = (0..<2).map { _ in NotificationObserver(center: center) }
        observers[0].connect(.sample, to: Window.changed, of: window, on: .mainActor)
        observers[1].connect(.sample, to: Window.changed, of: window)
        let tokens = [
            configured(for: center) { $0.connect(.sample, to: Window.changed, of: window, on: .mainActor) },
            configured(for: center) { $0.connect(.sample, to: Window.changed, of: window) },
            center.connect(.sample, to: Window.changed, of: window, owner: owner, on: .mainActor),
            center.connect(.sample, to: Window.changed, of: window, owner: owner),
        ]
        onThreads({ center.post(.sample, number: 1) })
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == Array(repeating: "1", count: 6))

        observers[0].connect(.other, to: Window.closed, of: window, on: .mainActor)
        let token = configured(for: center) { $0.connect(.other, to: Window.closed, of: window, on: .mainActor) }
        center.connect(.other, to: Window.closed, of: window, owner: owner, on: .mainActor)
        onThreads({ center.post(.other) })
        await TargetKind.main.makePlace().settle()
        #expect(log.entries.dropFirst(6) == ["closed", "closed", "closed"])
        withExtendedLifetime(token) {}
        withExtendedLifetime((observers, tokens, owner, window)) {}
    }
}

extension Plain {
    fileprivate func touch() { withExtendedLifetime(self) {} }
}
