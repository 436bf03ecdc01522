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

    @Test func `F1 M7 a second observer with one key replaces the first`() {
        let log = Log<String>()
        let owner = Ending {}
        let first = center.observe(.sample, key: "key") { _ in log.add("first") }
        let second = center.observe(.sample, key: "key") { _ in log.add("second") }
        center.observe(.sample, owner: owner, key: "key") { _, _ in log.add("owned") }
        #expect(!first.isActive)
        center.post(.sample)
        #expect(log.entries == ["second", "owned"])
        // The second has the first one's closure; a third of another name has its own.
        #expect(center.registered == 2 && center.count == 2)
        let third = center.observe(.other, key: "key") { _ in log.add("third") }
        center.post(.other)
        #expect(!second.isActive)
        #expect(log.entries == ["second", "owned", "third"])
        center.waitForCancellations(1)
        #expect(center.cancelled == [1])
        withExtendedLifetime((third, owner)) {}
    }

    @Test func `F1 L1 the audit tells who observes what, for whom and where`() {
        let owner = Ending {}
        let scheduler = ManualScheduler()
        let line = UInt(#line) + 1
        let token = center.observe(.sample, on: .custom(scheduler), once: true, key: "key") { _ in }
        center.observe(nil, owner: owner) { _, _ in }
        center.post(.sample)
        let rows = center.audit().rows
        #expect(rows.count == 2)
        #expect(rows[0].name == .sample)
        #expect(rows[0].owner == nil)
        #expect(rows[0].line == Int(line))
        #expect(rows[0].target == "custom ManualScheduler")
        #expect(rows[0].pending == 1)
        #expect(rows[0].isOnce)
        #expect(rows[0].key == "\"key\"")
        #expect(rows[1].name == nil)
        #expect(rows[1].owner?.hasPrefix("Ending 0x") == true)
        #expect(OwnerObservers(of: owner).count == 1)
        withExtendedLifetime((token, owner)) {}
    }
}
