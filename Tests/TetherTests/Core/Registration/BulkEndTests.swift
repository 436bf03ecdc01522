import Foundation
import Testing
import Tether

/// Other ends during a bulk end.
@Suite struct BulkEndTests {
    @Test func `R8 R9 an observer cancelled during a bulk end releases its captures at once`() {
        let center = ObserverCenter()
        let second = Holder<NotificationObserver>()
        let (isAlive, seen) = (Flag(), Log<Bool>())
        isAlive.raise()
        let first = Holder<Ending>()
        first.object = Ending {
            second.object?.cancel()
            seen.add(isAlive.isRaised)
        }
        let token = center.observe(.sample) { [ending = first.object!] _ in ending.touch() }
        first.release()
        let capture = Holder(Ending { isAlive.lower() })
        second.object = center.observe(.sample) { [ending = capture.object!] _ in ending.touch() }
        capture.release()
        center.removeObservers(named: .sample)
        #expect(seen.entries == [false])
        #expect(center.isEmpty)
        withExtendedLifetime(token) {}
        second.release()
    }
}
