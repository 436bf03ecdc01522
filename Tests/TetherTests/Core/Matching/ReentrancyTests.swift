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

    @Test func `R5 a handler may stop itself`() {
        let (log, token) = (log, SharedHolder<NotificationObserver>())
        token.set(
            center.observe(.sample) { _ in
                log.add("begins")
                token.value?.cancel()
                token.value?.cancelAndWait()
                log.add("ends")
            })
        center.post(name: .sample, object: nil)
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["begins", "ends"])
        #expect(center.core.isEmpty)
        token.drop()
    }

    @Test func `R5 a handler may drop its own token, the last reference to it`() {
        let (log, token) = (log, SharedHolder<NotificationObserver>())
        token.set(
            center.observe(.sample) { _ in
                token.drop()
                log.add("ran to its end")
            })
        center.post(name: .sample, object: nil)
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["ran to its end"])
        #expect(center.core.isEmpty)
    }

    @Test func `R5 O9 a handler may drop the last reference to its owner, which goes when it returns`() {
        let log = log
        let owner = SharedHolder(Ending { log.add("owner gone") })
        center.observe(.sample, owner: owner.value!) { _, _ in
            owner.drop()
            log.add("handler ends")
        }
        let later = center.observe(.sample) { _ in log.add("later") }
        center.post(name: .sample, object: nil)
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["handler ends", "owner gone", "later", "later"])
        withExtendedLifetime(later) {}
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

    @Test func `R5 a handler may end all observers, itself included`() {
        let (log, center) = (log, center)
        let tokens = (0..<3).map { number in
            center.observe(.sample) { _ in
                log.add("\(number)")
                center.removeObservers()
            }
        }
        center.post(name: .sample, object: nil)
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["0"])
        #expect(center.core.isEmpty)
        withExtendedLifetime(tokens) {}
    }

    @Test func `R5 a handler may ask for audits and counts`() {
        let (log, center) = (log, center)
        let token = center.observe(.sample) { _ in
            log.add("\(center.audit().count) \(center.description.isEmpty)")
        }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["1 false"])
        withExtendedLifetime(token) {}
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
