import Foundation
import Testing
import Tether

/// Closures that are called at the ends of objects.
@Suite(.ownThread) struct WhenEndedTests {
    private let log = Log<String>()

    @Test func `O14 O3 a closure is called once, before the deinit, on the ending thread`() {
        let log = log
        let owner = Holder(LoggedObject("owner", log))
        let thread = Box<ObjectIdentifier?>()
        OwnerLifetime.whenEnded(owner.object!) {
            thread.set(ObjectIdentifier(Thread.current))
            log.add("ended")
        }
        #expect(log.entries == [])
        owner.release()
        #expect(log.entries == ["ended", "owner deinit"])
        #expect(thread.value == ObjectIdentifier(Thread.current))
    }

    @Test func `O14 closures and observers of an object end in the order of attachment`() {
        let (center, log) = (ObserverCenter(), log)
        let owner = Holder(LoggedObject("owner", log))
        OwnerLifetime.whenEnded(owner.object!) { log.add("first") }
        let captured = Holder(LoggedObject("observer", log))
        center.observe(.sample, owner: owner.object!) { [captured = captured.object!] _, _ in
            captured.touch()
        }
        captured.release()
        OwnerLifetime.whenEnded(owner.object!) { log.add("last") }
        owner.release()
        #expect(log.entries == ["first", "observer deinit", "last", "owner deinit"])
    }

    @Test func `O14 R8 a cancelled closure is released at once, and never called`() {
        let log = log
        let owner = Holder(LoggedObject("owner", log))
        let captured = Holder(LoggedObject("captured", log))
        let token = OwnerLifetime.whenEnded(owner.object!) { [captured = captured.object!] in
            log.add("called by \(captured.name)")
        }
        captured.release()
        #expect(token.isActive && log.entries == [])
        token.cancel()
        #expect(!token.isActive && log.entries == ["captured deinit"])
        #expect(!ObjectProbe(owner.object!).hasRecord)
        owner.release()
        #expect(log.entries == ["captured deinit", "owner deinit"])
    }

    @Test func `O14 O8 a closure for an object that is being deinitialised is called at once`() {
        let log = log
        let owner = Holder(
            LoggedObject("owner", log) { owner in
                let token = OwnerLifetime.whenEnded(owner) { log.add("ended") }
                log.add("\(token.isActive)")
            })
        owner.release()
        #expect(log.entries == ["owner deinit", "ended", "false"])
    }

    @Test func `O14 R6 a closure may post, observe, wait for another object's end and end it`() {
        let (center, log) = (ObserverCenter(), log)
        let other = Holder(LoggedObject("other", log))
        let owner = Holder(LoggedObject("owner", log))
        let token = center.observe(.sample) { _ in log.add("post") }
        OwnerLifetime.whenEnded(owner.object!) {
            center.post(name: .sample, object: nil)
            OwnerLifetime.whenEnded(other.object!) { log.add("other ended") }
            other.release()
        }
        owner.release()
        #expect(log.entries == ["post", "other ended", "other deinit", "owner deinit"])
        withExtendedLifetime(token) {}
    }

    @Test func `O14 R11 an owner's cancel and finish leave its closures to its end`() async {
        let log = log
        let owner = Holder(LoggedObject("owner", log))
        OwnerLifetime.whenEnded(owner.object!) { log.add("ended") }
        let observers = OwnerObservers(of: owner.object!)
        #expect(observers.isEmpty && observers.audit().map(\.target) == ["owner's end"])
        observers.cancel()
        #expect(await observers.finish() == .finished)
        #expect(await observers.cancelAndWait() == .finished)
        #expect(log.entries == [] && observers.audit().count == 1)
        owner.release()
        #expect(log.entries == ["ended", "owner deinit"])
    }

    @Test func `O14 D9 a muting of an owner leaves its loops and closures alone`() async {
        let log = log
        let owner = Holder(LoggedObject("owner", log))
        let numbers = AsyncStream<Int>.makeStream()
        numbers.stream.observe(owner: owner.object!) { _, number in log.add("\(number)") }
        OwnerLifetime.whenEnded(owner.object!) { log.add("ended") }
        let observers = OwnerObservers(of: owner.object!)
        observers.mute(keepingNewest: true)
        for observer in observers {
            observer.mute()
            #expect(!observer.isMuted)
            observer.unmute()
        }
        numbers.continuation.yield(1)
        #expect(await log.hasLogged(1))
        observers.unmute()
        owner.release()
        #expect(log.entries == ["1", "ended", "owner deinit"])
    }

    // MARK: Actors

    @MainActor private static func addOnMain(to log: Log<String>) {
        MainActor.assertIsolated()
        log.add("main")
    }

    /// A closure, a variable and a method by name, each of the main actor.
    @MainActor private func endOnMainActor(with owner: LoggedObject) {
        let log = log
        OwnerLifetime.whenEnded(owner) { @MainActor in WhenEndedTests.addOnMain(to: log) }
        let variable: @MainActor () -> Void = { WhenEndedTests.addOnMain(to: log) }
        OwnerLifetime.whenEnded(owner, variable)
        OwnerLifetime.whenEnded(owner, MainActorLog(log).add)
    }

    @MainActor private final class MainActorLog {
        private let log: Log<String>
        init(_ log: Log<String>) { self.log = log }
        func add() { WhenEndedTests.addOnMain(to: log) }
    }

    @MainActor @Test
    func `O14 a closure of the main actor runs inside an end on the main actor`() {
        let owner = Holder(LoggedObject("owner", log))
        endOnMainActor(with: owner.object!)
        owner.release()
        #expect(log.entries == ["main", "main", "main", "owner deinit"])
    }

    @Test func `O14 a closure of the main actor runs there after an end on another thread`() async {
        let owner = Holder(LoggedObject("owner", log))
        await endOnMainActor(with: owner.object!)
        onThreads({ owner.release() })
        #expect(await log.hasLogged(4))
        #expect(log.entries.filter { $0 == "main" }.count == 3)
    }

    @Test func `O14 a closure of the main actor races with no other code of the main actor`() async
    {
        let counter = MainActorCounter()
        let owners = (1...100).map { _ in Holder(LoggedObject("owner", log)) }
        for owner in owners {
            OwnerLifetime.whenEnded(owner.object!) { @MainActor in counter.count += 1 }
        }
        await withTaskGroup(of: Void.self) { group in
            for owner in owners { group.addTask { owner.release() } }
            for _ in owners { group.addTask { await counter.add() } }
        }
        #expect(await inTime { while await counter.count < 200 { await Task.yield() } })
    }

    @MainActor private final class MainActorCounter {
        var count = 0
        func add() { count += 1 }
    }

    @Test func `O14 a closure of another global actor runs on that actor`() async {
        let log = log
        let owner = Holder(LoggedObject("owner", log))
        OwnerLifetime.whenEnded(owner.object!) { @OtherActor in
            OtherActor.assertIsolated()
            log.add("ended")
        }
        owner.release()
        #expect(await log.hasLogged(2))
    }

    @globalActor private actor OtherActor { static let shared = OtherActor() }
}
