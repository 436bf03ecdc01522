import Foundation
import Testing
import Tether

/// An owner's observers as one.
@Suite struct OwnerObserversTests {
    private final class Owner: Sendable {}

    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test func `O7 an owner's observers of all centers are listed, counted, audited and ended`() {
        let (log, other, owner) = (log, ObserverCenter(), Owner())
        let observers = OwnerObservers(of: owner)
        #expect(observers.count == 0 && observers.isEmpty && observers.audit().isEmpty)
        let tokens = [
            center.observe(.sample, owner: owner) { _, _ in log.add("first") },
            other.observe(.sample, owner: owner) { _, _ in log.add("second") },
        ]
        let strangers = center.observe(.sample) { _ in log.add("stranger") }
        #expect(observers.count == 2 && !observers.isEmpty && Array(observers) == tokens)
        #expect(observers.audit().map(\.center).count == 2)
        tokens[0].cancel()
        #expect(observers.count == 1 && observers.map(\.isActive) == [true])
        observers.cancel()
        #expect(observers.count == 0 && Array(observers) == [])
        for center in [center, other] { center.post(name: .sample, object: nil) }
        #expect(log.entries == ["stranger"])
        withExtendedLifetime((owner, strangers)) {}
    }

    @Test func `O2 O5 an owner's list does not retain the owner, and is empty after its end`() {
        var owner: Owner? = Owner()
        weak let witness = owner
        let observers = OwnerObservers(of: owner!)
        center.observe(.sample, owner: owner!) { _, _ in }
        observers.mute()
        #expect(observers.count == 1)
        owner = nil
        #expect(witness == nil)
        #expect(observers.count == 0 && observers.audit().isEmpty && Array(observers) == [])
        // Nothing to end, and no misuse.
        observers.cancel()
        observers.mute()
        observers.unmute()
        #expect(center.audit().isEmpty)
    }

    @Test func `O7 O8 the list of an owner that is being deinitialised is empty`() {
        let log = log
        final class Ended {
            let log: Log<String>
            init(_ center: ObserverCenter, _ log: Log<String>) {
                self.log = log
                center.observe(.sample, owner: self) { _, _ in }
            }
            deinit {
                let observers = OwnerObservers(of: self)
                observers.cancel()
                observers.mute(keepingNewest: true)
                observers.unmute()
                log.add("\(observers.count)")
            }
        }
        _ = Ended(center, log)
        #expect(log.entries == ["0"])
    }
}
