import CAllocations
import Foundation
import Testing

@testable import Tether

/// What a handler may do to the center that is calling it.
@Suite(.ownThread) struct ReentrancyTests {
    private final class Object: Sendable {}

    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test func `R5 posts nest as deep as the stack allows`() {
        let center = center
        let depth = SharedHolder(0)
        // ThreadSanitizer follows 65 536 frames of a thread, and a level has a dozen in a debug build.
        let levels = counts_allocations() ? 5_000 : 2_000
        let token = center.observe(.sample) { note in
            let level = note.object as? Int ?? 0
            depth.set(level)
            if level < levels { center.post(name: .sample, object: level + 1) }
        }
        Crew(stackSize: 256 << 20) { center.post(name: .sample, object: 0) }.join()
        #expect(depth.value == levels)
        token.cancel()
        #expect(center.core.isEmpty)
    }

    @Test func `R5 a handler may add and remove observers of every kind in every nesting`() {
        let (log, center, sender) = (log, center, Object())
        let token = center.observe(.sample) { note in
            let level = note.object as? Int ?? 0
            log.add("\(level)")
            let brief = [
                center.observe(.sample) { _ in log.add("brief") }, center.observe(nil, from: sender) { _ in },
                center.observe(.other, owner: sender, key: level) { _, _ in },
            ]
            if level < 20 { center.post(name: .sample, object: level + 1) }
            for token in brief { token.cancel() }
            center.removeObservers(named: .other, owner: sender)
        }
        center.post(name: .sample, object: 0)
        // At level n the n brief observers of the levels above it are called, after the first.
        #expect(log.entries.count { $0 == "brief" } == (1...20).reduce(0, +))
        #expect(log.entries.filter { $0 != "brief" } == (0...20).map(String.init))
        token.cancel()
        #expect(center.core.isEmpty)
        withExtendedLifetime(sender) {}
    }

    @Test func `R5 two centers may post to each other without end, and one observer stops it`() {
        let (a, b) = (ObserverCenter(), ObserverCenter())
        let count = SharedHolder(0)
        let back = SharedHolder<NotificationObserver>()
        let there = a.observe(.sample) { _ in b.post(name: .sample, object: nil) }
        back.set(
            b.observe(.sample) { _ in
                count.set(count.value! + 1)
                if count.value! == 100 { back.value?.cancel() }
                a.post(name: .sample, object: nil)
            })
        a.post(name: .sample, object: nil)
        #expect(count.value == 100)
        withExtendedLifetime(there) { back.drop() }
    }
}
