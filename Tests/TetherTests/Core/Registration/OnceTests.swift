import Foundation
import Synchronization
import Testing

@testable import Tether

/// Observers that run once.
@Suite(.ownThread) struct OnceTests {
    private final class Object: Sendable {}

    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test func `R7 R8 a once observer's captures are released when its post ends`() {
        let log = log
        let token = {
            let captured = Ending { log.add("released") }
            return center.observe(.sample, once: true) { _ in
                captured.touch()
                log.add("called")
            }
        }()
        let later = center.observe(.sample) { _ in log.add("later") }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["called", "later", "released"])
        withExtendedLifetime((token, later)) {}
    }

    @Test func `R7 O3 a once observer with an owner that is deallocated first does not run`() {
        let (log, owner) = (log, Box(optional: Object()))
        let token = center.observe(.sample, owner: owner.value!, once: true) { _, _ in
            log.add("called")
        }
        owner.drop()
        center.post(name: .sample, object: nil)
        #expect(log.entries == [])
        #expect(!token.isActive)
    }
}
