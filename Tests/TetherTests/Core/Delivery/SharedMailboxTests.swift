import Foundation
import Testing

@testable import Tether

/// Targets that several threads take up and give up at the same time.
@Suite(.ownThread) struct SharedMailboxTests {
    @Test func `D7 R8 observers that come and go leave one drain on a serial queue that is blocked, and nothing else`()
        throws
    {
        let (center, queue, log) = (ObserverCenter(), DispatchQueue(label: "blocked"), Log<Int>())
        queue.suspend()
        // A trace keeps the address from being used again.
        var traces: [(identity: ObjectIdentifier, trace: Trace)] = []
        for number in 1...100 {
            let token = {
                let captured = Ending { log.add(number) }
                return center.observe(.sample, on: .dispatchQueue(queue)) { _ in captured.touch() }
            }()
            center.post(.sample, numbers: 1...3)
            let mailbox = try #require(token.registration?.inbox?.route.mailbox)
            traces.append((ObjectIdentifier(mailbox), Trace(mailbox)))
            token.stop()
        }
        #expect(log.entries == Array(1...100))
        #expect(Set(traces.map(\.identity)).count == 1)
        let delivered = Log<Int>()
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { delivered.add($0.number) }
        center.post(.sample, numbers: 1...3)
        queue.resume()
        queue.sync {}
        #expect(delivered.entries == [1, 2, 3])
        token.stop()
        let isGone = traces.allSatisfy(\.trace.hasGone)
        #expect(isGone)
    }

    @Test func `R6 D4 the last users of a target may give it up while others take it up`() async {
        await #expect(processExitsWith: .success) {
            let jobs = HeldJobs()
            Crew.run(2) { _ in
                for _ in 0..<200_000 { _ = Route(to: .custom(jobs)) }
            }
        }
    }
}
