import Dispatch
import Foundation
import Testing

@testable import Tether

/// What Foundation's center does on Linux and ours must not, each defect by its own test.
@Suite(.ownThread) struct FoundationCenterTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test func `R6 a captured object that unregisters and posts in its deinit, released by a removal, is no deadlock`()
    {
        let (log, center) = (log, center)
        let inner = center.addObserver(forName: .other, object: nil, queue: nil) { _ in log.add("posted") }
        let token = {
            let captured = Ending {
                center.post(name: .other, object: nil)
                center.removeObserver(inner)
                center.post(name: .other, object: nil)
                log.add("released")
            }
            return center.addObserver(forName: .sample, object: nil, queue: nil) { _ in captured.touch() }
        }()
        center.removeObserver(token)
        #expect(log.entries == ["posted", "released"])
        #expect(center.core.isEmpty)
    }

    @Test func `R3 M8 removing a token twice, or through another center, removes no other observer`() {
        let (log, other) = (log, ObserverCenter())
        let foreign = other.addObserver(forName: .sample, object: nil, queue: nil) { _ in }
        let removed = (0..<20).map { _ in center.addObserver(forName: .sample, object: nil, queue: nil) { _ in } }
        removed.forEach(center.removeObserver)
        let live = (0..<20).map { _ in
            center.addObserver(forName: .sample, object: nil, queue: nil) { _ in log.add("live") }
        }
        removed.forEach(center.removeObserver)
        removed.forEach(other.removeObserver)
        live.forEach(other.removeObserver)
        center.removeObserver(foreign)
        center.post(name: .sample, object: nil)
        #expect(log.entries.count == 20)
        #expect(foreign.isActive)
        withExtendedLifetime(live) {}
    }
}
