import Foundation
import Testing
import Tether

@Suite(.ownThread) struct PosterTests {
    @Test func `D1 a post returns after every handler, in registration order, nested posts included`() {
        let center = ObserverCenter()
        let log = Log<String>()
        let first = center.observe(.sample, on: .postingThread) { [weak center] _ in
            log.add("first begins")
            center?.post(.other, number: 1)
            log.add("first ends")
        }
        let nested = center.observe(.other) { _ in log.add("nested") }
        let second = center.observe(.sample) { _ in log.add("second") }
        center.post(.sample, number: 1)
        log.add("posted")
        #expect(log.entries == ["first begins", "nested", "first ends", "second", "posted"])
        withExtendedLifetime((first, nested, second)) {}
    }

    @Test func `D1 posts on two threads run one handler on both at once`() {
        let center = ObserverCenter()
        let met = Log<Bool>()
        let here = [Gate(), Gate()]
        let token = center.observe(.sample) { notification in
            here[notification.number].open()
            met.add(here[1 - notification.number].pass())
        }
        onThreads({ center.post(.sample, number: 0) }, { center.post(.sample, number: 1) })
        #expect(met.entries == [true, true])
        withExtendedLifetime(token) {}
    }
}
