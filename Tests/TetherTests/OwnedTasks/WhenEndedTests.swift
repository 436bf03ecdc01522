import Foundation
import Testing

@testable import Tether

/// Closures that are called at the ends of objects.
@Suite struct WhenEndedTests {
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

    @Test func `O14 O7 the list of an owner audits a closure, and forgets it`() {
        let log = log
        let owner = Holder(LoggedObject("owner", log))
        OwnerLifetime.whenEnded(owner.object!) { log.add("ended") }
        let observers = OwnerObservers(of: owner.object!)
        #expect(observers.audit().map(\.target) == ["owner's end"])
        observers.cancel()
        #expect(observers.isEmpty)
        owner.release()
        #expect(log.entries == ["owner deinit"])
    }
}
