import Foundation
import Synchronization
import Testing

@testable import Tether

@Suite(.ownThread) struct OwnerEndTests {
    private let log = Log<String>()

    // MARK: O3

    @Test func `O3 an owner's observers end before the first line of its deinit`() {
        let center = ObserverCenter()
        let token = Holder<NotificationObserver>()
        let owner = Holder(
            LoggedObject("owner", log) { [log] owner in
                log.add("active \(token.object?.isActive == true), observers \(center.core.count)")
                log.add("attached \(OwnerObservers(of: owner).count), empty \(center.core.isEmpty)")
            })
        let trace = Trace(owner.object!)
        do {
            let capture = LoggedObject("capture", log)
            token.object = center.observe(.sample, owner: owner.object!) { _, _ in capture.touch() }
        }
        #expect(token.object?.isActive == true)
        log.add("release")
        owner.release()
        log.add("released")
        #expect(
            log.entries
                == (endsFollowDeinit
                    ? [
                        "release", "owner deinit", "active true, observers 1", "attached 0, empty false",
                        "capture deinit", "released",
                    ]
                    : [
                        "release", "capture deinit", "owner deinit", "active false, observers 0",
                        "attached 0, empty true", "released",
                    ]))
        #expect(!trace.hasRecord)
    }

    @Test func `O3 observers end on the thread that released the owner`() {
        let center = ObserverCenter()
        let threads = Log<ObjectIdentifier>()
        let owner = Holder(LoggedObject("owner", log) { _ in threads.add(ObjectIdentifier(Thread.current)) })
        do {
            let capture = LoggedObject("capture", log) { _ in threads.add(ObjectIdentifier(Thread.current)) }
            center.observe(.sample, owner: owner.object!) { _, _ in capture.touch() }
        }
        allAtOnce {
            threads.add(ObjectIdentifier(Thread.current))
            owner.release()
        }
        let order = ["capture deinit", "owner deinit"]
        #expect(log.entries == (endsFollowDeinit ? order.reversed() : order))
        #expect(threads.entries.count == 3)
        #expect(Set(threads.entries).count == 1)
        #expect(center.core.isEmpty)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `O3 all observers of an owner end with it, whatever they observe`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let sender = LoggedObject("sender", log)
        let calls = Atomic<Int>(0)
        let owner = Holder(LoggedObject("owner", log))
        for index in 0..<100 {
            center.observe(.sample, owner: owner.object!, key: index) { _, _ in calls.wrappingAdd(1, ordering: .relaxed)
            }
            center.observe(.sample, from: sender, owner: owner.object!) { _, _ in
                calls.wrappingAdd(1, ordering: .relaxed)
            }
            center.observe(nil, owner: owner.object!, on: .custom(HeldJobs())) { _, _ in
                calls.wrappingAdd(1, ordering: .relaxed)
            }
            center.observe(nil, from: sender, owner: owner.object!, once: true) { _, _ in
                calls.wrappingAdd(1, ordering: .relaxed)
            }
        }
        #expect(center.core.count == 400)
        owner.release()
        center.post(name: .sample, object: sender)
        #expect(calls.load(ordering: .relaxed) == 0)
        mode.expectAfterEnd(center.core.isEmpty)
    }

    @Test func `O3 R8 what is enqueued for an owner is let go before its deinit`() {
        let center = ObserverCenter()
        let scheduler = HeldJobs()
        let owner = Holder(LoggedObject("owner", log))
        center.observe(.sample, owner: owner.object!, on: .custom(scheduler)) { [log] _, _ in log.add("handler") }
        center.post(name: .sample, object: LoggedObject("payload", log))
        #expect(log.entries == [])
        owner.release()
        let order = ["payload deinit", "owner deinit"]
        #expect(log.entries == (endsFollowDeinit ? order.reversed() : order))
        scheduler.run()
        #expect(log.entries.count == 2)
        #expect(center.core.isEmpty)
    }

    @Test func `O3 R6 a chain of owners, each held by the observer of the one before, ends in order`() {
        let center = ObserverCenter()
        let first = Holder<LoggedObject>()
        for index in (0..<500).reversed() {
            let owner = LoggedObject("\(index)", log)
            if let next = first.object { center.observe(.sample, owner: owner) { _, _ in next.touch() } }
            first.object = owner
        }
        #expect(center.core.count == 499)
        first.release()
        // Where what an observer captured goes before its owner's deinit, the last of the chain is the first to go.
        let order = (0..<500).map { "\($0) deinit" }
        #expect(log.entries == (endsFollowDeinit ? order : order.reversed()))
        #expect(center.core.isEmpty)
    }

    // MARK: O4

    @Test(arguments: LifetimeMode.allCases)
    func `O4 no handler of an owner runs during or after its deinit`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let owner = Holder(
            LoggedObject("owner", log) { _ in
                center.post(name: .sample, object: nil)
                allAtOnce { center.post(name: .sample, object: nil) }
            })
        center.observe(.sample, owner: owner.object!) { [log] _, _ in log.add("handed") }
        center.observe(.sample, owner: owner.object!) { [log] _, _ in log.add("not handed") }
        center.connect(.sample, to: LoggedObject.touch, of: owner.object!)
        center.post(name: .sample, object: nil)
        owner.release()
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["handed", "not handed", "owner deinit"])
        mode.expectAfterEnd(center.core.isEmpty)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `O4 R1 what is enqueued for an owner that has gone never runs`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let scheduler = HeldJobs()
        let owner = Holder(LoggedObject("owner", log) { _ in scheduler.run() })
        center.observe(.sample, owner: owner.object!, on: .custom(scheduler)) { [log] _, _ in log.add("handed") }
        center.observe(.sample, owner: owner.object!, on: .custom(scheduler)) { [log] _, _ in log.add("not handed") }
        center.post(name: .sample, object: nil)
        scheduler.run()
        center.post(name: .sample, object: nil)
        #expect(scheduler.count == 1)
        owner.release()
        scheduler.run()
        #expect(log.entries == ["handed", "not handed", "owner deinit"])
        mode.expectAfterEnd(center.core.isEmpty)
    }

    // MARK: O8

    @Test(arguments: LifetimeMode.allCases)
    func `O8 an owner that is being deinitialised attaches nothing`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let late = Holder<NotificationObserver>()
        let owner = Holder(
            LoggedObject("owner", log) { [log] owner in
                let capture = LoggedObject("capture", log)
                late.object = center.observe(.sample, owner: owner) { _, _ in capture.touch() }
                // Before a sweep, which another test may cause at any time, the earlier one is still listed.
                let attached = OwnerObservers(of: owner)
                let hasEnded = mode == .hook && !endsFollowDeinit
                log.add("attached \(attached.count { hasEnded || $0 === late.object })")
            })
        let trace = Trace(owner.object!)
        center.observe(.other, owner: owner.object!) { _, _ in }
        owner.release()
        center.post(name: .sample, object: nil)
        #expect(late.object?.isActive == false)
        mode.expectAfterEnd(center.core.isEmpty && !trace.hasRecord)
        #expect(Set(log.entries) == ["owner deinit", "attached 0", "capture deinit"])
    }

    @Test(arguments: LifetimeMode.allCases)
    func `O8 an owner whose first attachment is made in its own deinit attaches nothing`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let late = Holder<NotificationObserver>()
        let owner = Holder(
            LoggedObject("owner", log) { owner in
                late.object = center.observe(.sample, owner: owner) { _, _ in }
            })
        let trace = Trace(owner.object!)
        owner.release()
        #expect(late.object?.isActive == false)
        #expect(center.core.isEmpty)
        #expect(!trace.hasRecord)
    }

    // MARK: O9

    @Test(arguments: LifetimeMode.allCases)
    func `O9 an owner whose last reference goes inside its handler ends after the handler`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let owner = Holder(LoggedObject("owner", log) { _ in center.post(name: .sample, object: nil) })
        center.observe(.sample, owner: owner.object!) { [log] object, _ in
            owner.release()
            object.touch()
            center.post(name: .other, object: nil)
            log.add("handler returns")
        }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["handler returns", "owner deinit"])
        mode.expectAfterEnd(center.core.isEmpty)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `O4 O9 an owner is held for a handler that is not handed it, too`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let owner = Holder(LoggedObject("owner", log))
        center.observe(.sample, owner: owner.object!) { [log] _, _ in
            owner.release()
            log.add("handler returns")
        }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["handler returns", "owner deinit"])
        mode.expectAfterEnd(center.core.isEmpty)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `O9 O4 an owner let go while its handler runs elsewhere ends there, with no lock held`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let (begun, released) = (Latch(), Latch())
        let threads = Log<ObjectIdentifier>()
        let owner = Holder(
            LoggedObject("owner", log) { [log] _ in
                threads.add(ObjectIdentifier(Thread.current))
                // Would not return if a lock of Tether's were held.
                allAtOnce {
                    let token = center.observe(.other) { _ in log.add("other") }
                    center.post(name: .other, object: nil)
                    token.cancel()
                    center.post(name: .sample, object: nil)
                }
            })
        center.observe(.sample, owner: owner.object!) { [log] _, _ in
            threads.add(ObjectIdentifier(Thread.current))
            begun.open()
            released.wait()
            log.add("handler returns")
        }
        allAtOnce(
            { center.post(name: .sample, object: nil) },
            {
                begun.wait()
                owner.release()
                released.open()
            })
        #expect(log.entries == ["handler returns", "owner deinit", "other"])
        #expect(threads.entries.count == 2 && Set(threads.entries).count == 1)
        mode.expectAfterEnd(center.core.isEmpty)
    }

    // MARK: Owners that end each other

    @Test(arguments: LifetimeMode.allCases)
    func `O4 R5 of two owners whose handlers end each other the one that is reached first stays`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let (first, second) = (Holder(LoggedObject("first", log)), Holder(LoggedObject("second", log)))
        center.observe(.sample, owner: first.object!) { [log] _, _ in
            log.add("first")
            second.release()
        }
        center.observe(.sample, owner: second.object!) { [log] _, _ in
            log.add("second")
            first.release()
        }
        center.post(name: .sample, object: nil)
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["first", "second deinit", "first"])
        first.release()
        mode.expectAfterEnd(center.core.isEmpty)
    }

    @Test(arguments: LifetimeMode.allCases)
    func `O3 R6 two owners tear each other down from their deinits`(mode: LifetimeMode) {
        let center = mode.makeCenter()
        let (first, second) = (Holder<LoggedObject>(), Holder<LoggedObject>())
        first.object = LoggedObject("first", log) { _ in
            second.release()
            center.post(name: .sample, object: nil)
        }
        second.object = LoggedObject("second", log) { _ in
            first.release()
            center.post(name: .sample, object: nil)
        }
        center.observe(.sample, owner: first.object!) { [log] _, _ in log.add("first") }
        center.observe(.sample, owner: second.object!) { [log] _, _ in log.add("second") }
        first.release()
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["first deinit", "second deinit"])
        mode.expectAfterEnd(center.core.isEmpty)
    }
}
