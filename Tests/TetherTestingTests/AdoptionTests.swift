import Foundation
import Testing
import Tether
import TetherTesting

/// A scope that a test makes and adopts by hand.
@Suite struct AdoptionTests {
    @Test func `L2 a scope is current in the adopting work, and nowhere else`() {
        let leaks = LeakTracker()
        #expect(LeakTracker.current == nil)
        leaks.adopt { #expect(LeakTracker.current === leaks) }
        #expect(LeakTracker.current == nil)
        struct Failure: Error {}
        #expect(throws: Failure.self) { try leaks.adopt { throw Failure() } }
    }

    @Test func `L2 leaks of a body can be asked for without failing`() async {
        let (center, keep) = (ObserverCenter(), Keep())
        let found = await findLeaks(limits: .init(deliveryWait: .zero)) {
            keep.add(center.observe(.modelDidChange) { _ in })
        }
        #expect(found.count == 1)
        #expect(
            found.first?.description.hasPrefix("the observer of modelDidChange registered at ")
                == true)
        keep.drop()
        #expect(await findLeaks { _ = center.observe(.modelDidChange) { _ in } }.isEmpty)
    }
}
