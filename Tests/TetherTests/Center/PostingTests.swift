import Foundation
import Synchronization
import Testing
import Tether

@Suite struct PostingTests {
    @Test func `M6 a post with no observer is a no-op, a registration alone fires nothing`() {
        let center = ObserverCenter()
        let calls = Atomic<Int>(0)
        center.post(name: .sample, object: nil)
        let token = center.observe(.sample) { _ in calls.wrappingAdd(1, ordering: .relaxed) }
        #expect(calls.load(ordering: .relaxed) == 0)
        withExtendedLifetime(token) {}
    }
}
