import Foundation
import Synchronization
import Testing
import Tether
import TetherTesting

@Suite struct OwnerKindTests {
    @Test func `O1 any class instance is an owner`() {
        final class Local { let text = "local" }
        expectOwner(Local())
        expectOwner(Pair(first: 1, second: "one"))
        expectOwner(TaggedPair(first: "one", second: 1))
        expectOwner(CountingActor())
        expectOwner(Mutable())
        expectOwner(Buffer.create(minimumCapacity: 16) { _ in 7 })
        expectOwner(Model())
        expectOwner(NSObject())
        expectOwner(NSMutableArray(array: [1, 2, 3]))
        expectOwner(NSMutableDictionary())
        expectOwner(DateFormatter())
        expectOwner(Progress(totalUnitCount: 1))
        expectOwner(OperationQueue())
        expectOwner(BlockOperation {})
        expectOwner(Thread {})
        expectOwner(NotificationCenter())
        expectOwner(ObserverCenter())
        expectOwner(ObserverCenter().observe(nil) { _ in })
    }

    @Test func `O1 O3 in a class chain observers end before the most derived deinit begins`() {
        let log = Log<String>()
        let center = ObserverCenter()
        let owner = Holder<Base>(Derived(log))
        do {
            let capture = LoggedObject("capture", log)
            center.observe(.sample, owner: owner.object!) { _, _ in capture.touch() }
        }
        owner.release()
        #expect(center.isEmpty)
        #expect(log.entries == ["capture deinit", "derived deinit", "base deinit"])
    }

    @Test func `O1 O3 an init that throws after it attached ends the observer`() {
        let log = Log<String>()
        let center = ObserverCenter()
        #expect(throws: Throwing.Failure.self) { _ = try Throwing(center, log) }
        #expect(throws: Throwing.Failure.self) { _ = try ThrowingLate(center, log) }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["handler", "handler"])
        #expect(center.isEmpty)
    }

    @Test func `O1 O2 weak and unowned references of the user's are left as they are`() {
        let log = Log<String>()
        let center = ObserverCenter()
        let owner = Holder(LoggedObject("owner", log))
        weak let earlier = owner.object
        unowned let pinned = owner.object!
        center.observe(.sample, owner: owner.object!) { _, _ in log.add("handler") }
        weak let later = owner.object
        center.post(name: .sample, object: nil)
        #expect(earlier != nil && later != nil && pinned === owner.object)
        owner.release()
        #expect(earlier == nil && later == nil)
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["handler", "owner deinit"])
        #expect(center.isEmpty)
    }

    @Test func `O1 P1 a main-actor class is an owner`() async {
        let center = ObserverCenter()
        let leaks = LeakTracker()
        let owner = Holder(leaks.track(Window()))
        center.observe(.sample, owner: owner.object!, on: .mainActor) { window, _ in
            window.updates += 1
        }
        await MainActor.run { center.post(name: .sample, object: nil) }
        // Behind pending work of other tests.
        await TargetKind.main.makePlace().settle()
        #expect(await owner.object?.updates == 1)
        owner.release()
        #expect(leaks.leaks(in: center).isEmpty)
    }
}

/// Attaches to an owner, delivers, releases the owner, and expects that no observer or capture is
/// left.
private func expectOwner<Owner: AnyObject>(
    _ make: @autoclosure () -> Owner, sourceLocation: SourceLocation = #_sourceLocation
) {
    let center = ObserverCenter()
    let leaks = LeakTracker()
    let calls = Atomic<Int>(0)
    let owner = Holder(make())
    let identity = ObjectIdentifier(owner.object!)
    let probe = ObjectProbe(owner.object!)
    leaks.track(owner.object!)
    do {
        let capture = leaks.probe()
        leaks.track(
            center.observe(.sample, owner: owner.object!) { owner, _ in
                capture.touch()
                if ObjectIdentifier(owner) == identity { calls.wrappingAdd(1, ordering: .relaxed) }
            })
        leaks.track(
            center.observe(nil, from: owner.object!, owner: owner.object!) { _, _ in
                calls.wrappingAdd(1, ordering: .relaxed)
            })
    }
    center.post(name: .sample, object: owner.object!)
    #expect(calls.load(ordering: .relaxed) == 2, sourceLocation: sourceLocation)
    #expect(leaks.leaks(in: center).count == 6, sourceLocation: sourceLocation)
    owner.release()
    #expect(probe.isDeallocated, sourceLocation: sourceLocation)
    #expect(leaks.leaks(in: center).isEmpty, sourceLocation: sourceLocation)
    center.post(name: .sample, object: nil)
    #expect(calls.load(ordering: .relaxed) == 2, sourceLocation: sourceLocation)
    #expect(center.isEmpty && !probe.hasRecord, sourceLocation: sourceLocation)
}
