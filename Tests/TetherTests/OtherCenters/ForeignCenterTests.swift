import Dispatch
import Foundation
import Testing

@testable import Tether

@Suite(.ownThread) struct ForeignCenterTests {
    private let center = SmallCenter()

    @Test func `F1 a token's observer on a foreign center is called until it is stopped`() {
        let log = Log<Int>()
        let token = center.observe(.sample) { log.add($0.number) }
        center.post(.sample, number: 1)
        center.post(.other, number: 2)
        #expect(token.isActive)
        token.cancel()
        center.post(.sample, number: 3)
        #expect(log.entries == [1])
        #expect(!token.isActive)
        center.waitForCancellations(1)
        #expect(center.count == 0)
    }
}
