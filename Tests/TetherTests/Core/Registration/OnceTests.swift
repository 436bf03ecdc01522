import Foundation
import Synchronization
import Testing

@testable import Tether

/// Observers that run once.
@Suite(.ownThread) struct OnceTests {
    private final class Object: Sendable {}

    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test func `R7 a post nested in an earlier handler runs it, and the outer post then does not`() {
        let (log, center) = (log, center)
        let posting = center.observe(.sample, once: true) { _ in center.post(name: .sample, object: "nested") }
        let token = center.observe(.sample, once: true) { note in log.add("\(note.object ?? "outer")") }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["nested"])
        withExtendedLifetime((posting, token)) {}
    }

    @Test func `R7 a post on another thread while its handler runs does not run it again`() {
        let (center, calls) = (center, Log<Int>())
        let (isRunning, mayReturn) = (Gate(), Gate())
        let token = center.observe(.sample, once: true) { note in
            calls.add(note.number)
            // A second call would have nobody to let it go on.
            guard note.number == 1 else { return }
            isRunning.open()
            mayReturn.pass()
        }
        allAtOnce(
            { center.post(.sample, number: 1) },
            {
                isRunning.pass()
                center.post(.sample, number: 2)
                mayReturn.open()
            })
        #expect(calls.entries == [1])
        #expect(center.core.isEmpty)
        withExtendedLifetime(token) {}
    }

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

    @Test func `R7 O3 a once observer with an owner that goes first does not run`() {
        let (log, owner) = (log, Box(optional: Object()))
        let token = center.observe(.sample, owner: owner.value!, once: true) { _, _ in log.add("called") }
        owner.drop()
        center.post(name: .sample, object: nil)
        #expect(log.entries == [])
        #expect(!token.isActive)
    }
}
