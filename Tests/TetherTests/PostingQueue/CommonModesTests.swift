import CoreFoundation
import Foundation
import Testing

@testable import Tether

@Suite(.ownThread) struct CommonModesTests {
    @Test func `Q5 Q9 the posting queues of a run loop share what tells its common modes, which goes with the last`() {
        onThreads({
            let (center, loop) = (ObserverCenter(), CFRunLoopGetCurrent()!)
            weak var shared: CommonModes?
            do {
                let queues = (0..<100).map { _ in PostingQueue(center: center) }
                let known = CommonModes.of(loop)
                shared = known
                #expect(known === CommonModes.of(loop))
                #expect(known.contains(.default) && !known.contains(RunLoop.Mode("uncommon")))
                withExtendedLifetime(queues) {}
            }
            #expect(shared == nil)
            #expect(CommonModes.of(loop).contains(.default))
        })
    }
}
