#if os(Linux) || os(macOS)

import Foundation
import Testing

@testable import Tether

/// What is left out where a trace may not grow any more.
@Suite(.serialized) struct TraceLimitTests {
    @Test func `L5 no arrow is written that begins nowhere, though another thread has room`() async {
        await #expect(processExitsWith: .success) {
            let (center, file, thread) = (ObserverCenter(), TracedEvent.freshFile(), RunLoopThread(name: "target"))
            thread.start()
            let isCalled = Latch()
            let token = center.observe(.sample, on: .thread(thread)) { _ in isCalled.open() }
            try Tether.Trace.start(writingTo: file, limit: 2 * 65536)
            func post() {
                center.post(name: .sample, object: nil)
                isCalled.wait()
            }
            // The other thread's share, then all of this one's.
            post()
            for _ in 0..<1000 { center.post(name: .third, object: nil) }
            for _ in 0..<5 { post() }
            #expect(try #require(Tether.Trace.stop()).notWritten > 0)
            let events = try TracedEvent.read(file)
            let (begun, ended) = (events.filter { $0.phase == "s" }, events.filter { $0.phase == "f" })
            #expect(begun.count == 1 && ended.map(\.id) == begun.map(\.id))
            #expect(events.count { $0.description == "B sample" } == 6)
            thread.cancel()
            withExtendedLifetime(token) {}
        }
    }
}

#endif
