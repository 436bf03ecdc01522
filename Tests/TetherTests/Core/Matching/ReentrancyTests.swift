import CAllocations
import Foundation
import Testing
import Tether

/// Calls of a handler to its own center.
@Suite(.ownThread) struct ReentrancyTests {
    private let center = ObserverCenter()

    @Test func `R5 posts nest as deep as the stack allows`() {
        let center = center
        let depth = Box(optional: 0)
        // ThreadSanitizer follows 65 536 frames of a thread, and a level has a dozen in a debug
        // build.
        let levels = counts_allocations() ? 5_000 : 2_000
        let token = center.observe(.sample) { note in
            let level = note.object as? Int ?? 0
            depth.set(level)
            if level < levels { center.post(name: .sample, object: level + 1) }
        }
        JoinableThread(stackSize: 256 << 20) { center.post(name: .sample, object: 0) }.join()
        #expect(depth.value == levels)
        token.cancel()
        #expect(center.isEmpty)
    }
}
