import Foundation
import Testing
import Tether

@Suite(.ownThread) struct PosterTests {
    @Test func `D1 the default target runs the handler on the posting thread, inside the post`() {
        let center = ObserverCenter()
        let log = Log<String>()
        let threads = Log<Bool>()
        let poster = Box<ObjectIdentifier?>(nil)
        let token = center.observe(.sample) { _ in
            log.add("handler")
            threads.add(ObjectIdentifier(Thread.current) == poster.value)
        }
        onThreads({
            poster.set(ObjectIdentifier(Thread.current))
            center.post(.sample, number: 1)
            log.add("posted")
        })
        #expect(log.entries == ["handler", "posted"])
        #expect(threads.entries == [true])
        #expect(token.target.description == "posting thread")
        withExtendedLifetime(token) {}
    }

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

    @Test func `D1 D6 a poster that was switched there and back is as synchronous as before`() {
        let center = ObserverCenter()
        let log = Log<Int>()
        let token = center.observe(.sample) { log.add($0.number) }
        let scheduler = ManualScheduler()
        token.target = .custom(scheduler)
        token.target = .postingThread
        center.post(.sample, number: 1)
        #expect(log.entries == [1])
        #expect(scheduler.scheduled == 0)
        withExtendedLifetime(token) {}
    }
}
