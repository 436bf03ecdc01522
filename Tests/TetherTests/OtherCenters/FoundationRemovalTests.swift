import Foundation
import Testing

@testable import Tether

/// The ends of observers over Foundation's center, and the removal of their registrations there.
@Suite(.ownThread) struct FoundationRemovalTests {
    private final class Object: Sendable {}

    private let center = NotificationCenter()
    private let log = Log<String>()

    /// A native observer, retained until its removal.
    ///
    /// SAFETY: the token never changes, and is only handed back.
    private struct Native: @unchecked Sendable { let token: any NSObjectProtocol }

    private func addNative(_ label: String) -> Native {
        let log = log
        return Native(
            token: center.addObserver(forName: .sample, object: nil, queue: nil) { _ in
                log.add(label)
            })
    }

    @Test func `F2 each way of ending removes the closure from Foundation's center`() {
        let (owner, sender) = (Holder(Object()), Holder(Object()))
        let byStop = center.observe(.sample) { _ in }
        var byToken: NotificationObserver? = center.observe(.sample) { _ in }
        let byOwner = center.observe(.sample, owner: owner.object!) { _, _ in }
        let bySender = center.observe(.sample, from: sender.object!) { _ in }
        let byRunning = center.observe(.sample, once: true) { _ in }
        let byKey = center.observe(nil, key: 1) { _ in }
        let byName = center.observe(.other) { _ in }
        let live = center.observe(.sample, key: 1) { _ in }
        let all = [byStop, byToken!, byOwner, bySender, byRunning, byName, live].compactMap(
            \.foreign)
        #expect(!byKey.isActive)
        #expect(all.count == 7 && all.kept() == 7)

        byStop.cancel()
        byToken = nil
        owner.release()
        sender.release()
        center.post(.sample)
        center.removeObservers(named: .other)
        #expect(all.kept() == 1)
        #expect(center.audit().count == 1)
        live.cancel()
        #expect(all.kept() == 0)
        withExtendedLifetime(byToken) {}
    }

    @Test func `F1 M9 a foreign center without observers is forgotten`() {
        let tokens = (0..<2).map { _ in center.observe(.sample) { _ in } }
        tokens[0].cancel()
        #expect(ForeignCenters.shared.knownCore(of: center) != nil)
        tokens[1].cancel()
        #expect(ForeignCenters.shared.knownCore(of: center) == nil)
        #expect(center.audit().isEmpty)
    }

    @Test func `F2 each closure is removed once, and no stranger's closure in its place`() {
        let log = log
        let tokens = (0..<20).map { _ in center.observe(.sample) { _ in log.add("ours") } }
        let first = tokens.compactMap(\.foreign)
        for token in tokens { token.cancel() }
        #expect(first.kept() == 0)
        // The native observers get the keys of Tether's removed observers.
        let natives = (0..<20).map { addNative("\($0)") }
        for token in tokens { token.cancel() }
        center.removeObservers(named: .sample)
        center.removeAllObservers()
        #expect(first.kept() == 0)
        center.post(.sample)
        #expect(log.entries.sorted() == (0..<20).map(String.init).sorted())
        for native in natives { center.removeObserver(native.token) }
    }

    /// A call of Foundation's center there would take the lock again, and abort the process.
    @Test func `F2 O3 an owner released with a block that Foundation removes ends its observers`() {
        let (log, center) = (log, center)
        var receivers: [ForeignSubscription] = []
        let native = {
            let owner = LoggedObject("owner", log)
            let captured = LoggedObject("captured", log)
            center.observe(.sample, owner: owner) { owner, _ in
                owner.touch()
                captured.touch()
                log.add("handler")
            }
            center.observe(nil, owner: owner) { _, _ in log.add("any name") }
            receivers = OwnerObservers(of: owner).compactMap(\.foreign)
            return Native(
                token: center.addObserver(forName: .other, object: nil, queue: nil) { _ in
                    owner.touch()
                })
        }()
        center.post(.sample)
        #expect(log.entries.sorted() == ["any name", "handler"])
        center.removeObserver(native.token)
        #expect(log.entries.suffix(2) == ["captured deinit", "owner deinit"])
        center.post(.sample)
        #expect(log.entries.count == 4)
        #expect(receivers.count == 2 && receivers.kept() == 0)
        #expect(center.audit().isEmpty)
    }

    @Test func `F2 M5 R3 a token and a sender released with a removed block end their observers`() {
        let (log, center) = (log, center)
        var receivers: [ForeignSubscription] = []
        let native = {
            let sender = Object()
            let bySender = center.observe(.sample, from: sender) { _ in log.add("by sender") }
            let byToken = center.observe(.sample) { _ in log.add("by token") }
            receivers = [bySender, byToken].compactMap(\.foreign)
            return Native(
                token: center.addObserver(forName: .other, object: nil, queue: nil) { _ in
                    withExtendedLifetime((sender, bySender, byToken)) {}
                })
        }()
        center.removeObserver(native.token)
        center.post(.sample)
        #expect(log.entries == [])
        #expect(receivers.count == 2 && receivers.kept() == 0)
    }

    @Test func `F1 R10 observers do not retain their center, and end with it`() {
        let (log, owner) = (log, Object())
        weak var gone: NotificationCenter?
        var tokens: [NotificationObserver] = []
        do {
            let center = Holder(NotificationCenter())
            gone = center.object
            let captured = LoggedObject("captured", log)
            tokens = [
                center.object!.observe(.sample) { _ in captured.touch() },
                center.object!.observe(nil, owner: owner) { _, _ in },
            ]
            center.release()
        }
        #expect(gone == nil)
        #expect(tokens.map(\.isActive) == [false, false])
        #expect(OwnerObservers(of: owner).isEmpty)
        #expect(log.entries == ["captured deinit"])
        #expect(OwnerObservers(of: owner).audit().isEmpty)
        withExtendedLifetime(owner) {}
    }

    @Test func `F2 a stranger's second removal ends the observer whose closure it removes`() {
        let log = log
        let stranger = addNative("stranger")
        let keeper = addNative("keeper")
        center.removeObserver(stranger.token)
        // The new observer gets the stranger's key.
        let token = center.observe(.sample) { _ in log.add("ours") }
        center.removeObserver(stranger.token)
        ForeignSubscription.settle()
        #expect(!token.isActive)
        #expect(center.audit().isEmpty)
        center.post(.sample)
        #expect(log.entries == ["keeper"])
        center.removeObserver(keeper.token)
    }

    @Test func `F2 an observer that a stranger's second removal ended is not removed again`() {
        let log = log
        let stranger = addNative("stranger")
        let keeper = addNative("keeper")
        center.removeObserver(stranger.token)
        let token = center.observe(.sample) { _ in log.add("ours") }
        let receiver = token.foreign
        let gate = Latch()
        ForeignSubscription.hold(until: gate)
        token.cancel()
        center.removeObserver(stranger.token)
        // The native observer gets the same key.
        let heir = addNative("heir")
        gate.open()
        #expect([receiver].compactMap(\.self).kept() == 0)
        center.post(.sample)
        #expect(log.entries.sorted() == ["heir", "keeper"])
        for native in [keeper, heir] { center.removeObserver(native.token) }
    }

    @Test func `F1 R8 an observer that a stranger removed releases its captures when cancelled`() {
        let (log, gate) = (log, Latch())
        let stranger = addNative("stranger")
        center.removeObserver(stranger.token)
        let captured = Holder(LoggedObject("captured", log))
        let token = center.observe(.sample) { [object = captured.object!] _ in object.touch() }
        captured.release()
        ForeignSubscription.hold(until: gate)
        // Tether's observer, which has the same key. The queue has not removed the observer yet.
        center.removeObserver(stranger.token)
        token.cancel()
        log.add("stopped")
        gate.open()
        ForeignSubscription.settle()
        #expect(log.entries == ["captured deinit", "stopped"])
        #expect(center.audit().isEmpty)
    }
}
