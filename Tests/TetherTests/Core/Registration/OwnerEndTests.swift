import Foundation
import Synchronization
import Testing

@testable import Tether

@Suite(.ownThread) struct OwnerEndTests {
    private let log = Log<String>()

    @Test func `O3 observers end on the thread that released the owner`() {
        let center = ObserverCenter()
        let threads = Log<ObjectIdentifier>()
        let owner = Holder(
            LoggedObject("owner", log) { _ in threads.add(ObjectIdentifier(Thread.current)) })
        do {
            let capture = LoggedObject("capture", log) { _ in
                threads.add(ObjectIdentifier(Thread.current))
            }
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
        #expect(center.isEmpty)
    }

    @Test func `O3 R3 R8 an owner's end leaves an observer to the thread that ends the observer`() {
        let center = ObserverCenter()
        let owner = Holder(LoggedObject("owner", log))
        let registration = center.observe(.sample, owner: owner.object!) { _, _ in }.registration
        // The first half of an end on another thread, whose second half comes after the owner's
        // end.
        #expect(registration?.close() == true)
        owner.release()
        #expect(log.entries == ["owner deinit"] && center.core.count == 1)
        registration?.completeEnd()
        #expect(center.isEmpty)
    }

    @Test func `O3 R6 a chain of owners, each held by the previous one's observer, ends in order`()
    {
        let center = ObserverCenter()
        let first = Holder<LoggedObject>()
        for index in (0..<500).reversed() {
            let owner = LoggedObject("\(index)", log)
            if let next = first.object {
                center.observe(.sample, owner: owner) { _, _ in next.touch() }
            }
            first.object = owner
        }
        #expect(center.core.count == 499)
        first.release()
        // Captures are released before their owner's deinit, so the last owner of the chain is
        // deallocated first.
        let order = (0..<500).map { "\($0) deinit" }
        #expect(log.entries == (endsFollowDeinit ? order : order.reversed()))
        #expect(center.isEmpty)
    }

    @Test func `O9 O4 an owner released while its handler runs ends there, with no lock held`() {
        let center = ObserverCenter()
        let (begun, released) = (Gate(), Gate())
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
            released.pass()
            log.add("handler returns")
        }
        allAtOnce(
            { center.post(name: .sample, object: nil) },
            {
                begun.pass()
                owner.release()
                released.open()
            })
        #expect(log.entries == ["handler returns", "owner deinit", "other"])
        #expect(threads.entries.count == 2 && Set(threads.entries).count == 1)
        #expect(center.isEmpty)
    }
}
