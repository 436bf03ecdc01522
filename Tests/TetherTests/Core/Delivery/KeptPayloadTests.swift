import Foundation
import Testing

@testable import Tether

/// What becomes of a notification that is kept while its observer is muted.
@Suite struct KeptPayloadTests {
    private let center = ObserverCenter()
    private let scheduler = ManualScheduler()
    private let ended = Log<Int>()

    private func payload(_ number: Int, _ body: @escaping @Sendable () -> Void = {}) -> Ending {
        Ending { [ended] in
            ended.add(number)
            body()
        }
    }

    private func post(_ object: Ending) { center.post(name: .sample, object: object) }

    @Test func `D9 one that is displaced is let go at once, and the kept one after its delivery`() {
        let token = center.observe(.sample) { [ended] _ in ended.add(0) }
        token.mute(keepingNewest: true)
        post(payload(1))
        #expect(ended.entries == [])
        post(payload(2))
        #expect(ended.entries == [1])
        token.unmute()
        #expect(ended.entries == [1, 0, 2])
    }

    @Test func `D9 what is dropped is never kept`() {
        let token = center.observe(.sample) { _ in }
        token.mute()
        post(payload(1))
        #expect(ended.entries == [1])
        withExtendedLifetime(token) {}
    }

    @Test func `D9 R8 stopping frees the kept one before it returns`() {
        for target in [DeliveryTarget.postingThread, .custom(scheduler)] {
            let token = center.observe(.sample, on: target) { _ in }
            token.mute(keepingNewest: true)
            post(payload(1))
            token.cancel()
        }
        #expect(ended.entries == [1, 1])
        #expect(center.core.isEmpty)
    }

    @Test func `D9 R8 so does dropping the token, configuring a property anew, and the end of the center`() {
        let token = Box<NotificationObserver?>(center.observe(.sample) { _ in })
        token.value?.mute(keepingNewest: true)
        post(payload(1))
        token.set(nil)
        #expect(ended.entries == [1])
        let property = NotificationObserver(center: center)
        property.mute(keepingNewest: true)
        property.observe(.sample) { _ in }
        post(payload(2))
        property.observe(.sample) { _ in }
        #expect(ended.entries == [1, 2])
        let second = SharedHolder(ObserverCenter())
        let kept = second.value!.observe(.sample) { _ in }
        kept.mute(keepingNewest: true)
        second.value!.post(name: .sample, object: payload(3))
        second.drop()
        #expect(ended.entries == [1, 2, 3])
        #expect(!kept.isActive)
        withExtendedLifetime(property) {}
    }

    @Test func `D9 O3 R8 the end of the owner frees it before the owner's deinit`() {
        let owner = SharedHolder(payload(9))
        center.observe(.sample, owner: owner.value!) { _, _ in }.mute(keepingNewest: true)
        OwnerObservers(of: owner.value!).mute(keepingNewest: true)
        post(payload(1))
        let trace = Trace(owner.value!)
        owner.drop()
        #expect(ended.entries == [1, 9])
        #expect(!trace.hasRecord)
        #expect(center.core.isEmpty)
    }

    @Test func `D9 R6 it is displaced and freed with no lock held`() {
        let (center, box) = (center, Box<NotificationObserver?>(nil))
        // Each takes the lock under which the kept one was.
        let touch: @Sendable () -> Void = {
            box.value?.mute()
            box.value?.unmute()
            box.value?.backlog = .newest(3)
            _ = center.audit()
        }
        box.set(center.observe(.sample, on: .custom(scheduler), once: true) { _ in })
        box.value?.mute(keepingNewest: true)
        for number in 1...3 { post(payload(number, touch)) }
        #expect(ended.entries == [1, 2])
        box.value?.cancel()
        #expect(ended.entries == [1, 2, 3])
        // One that finds its once observer used up when it is unmuted.
        let property = NotificationObserver(center: center)
        property.mute(keepingNewest: true)
        property.observe(.sample, on: .custom(scheduler)) { _ in }
        post(payload(4) { property.backlog = .newest(1) })
        property.cancel()
        #expect(ended.entries == [1, 2, 3, 4])
        box.set(nil)
    }

    @Test func `D9 X3 one whose object is being deinitialised is kept without it`() {
        let (center, log) = (center, Log<String>())
        let token = center.observe(.sample) { log.add($0.object == nil ? "no object" : "object") }
        token.mute(keepingNewest: true)
        let sender = SharedHolder(Poster(center: center))
        sender.drop()
        #expect(log.entries == [])
        token.unmute()
        #expect(log.entries == ["no object"])
    }

    /// Posts with itself as the object when it goes.
    private final class Poster: Sendable {
        let center: ObserverCenter

        init(center: ObserverCenter) {
            self.center = center
        }

        deinit { center.post(name: .sample, object: self) }
    }

    @Test func `D9 M5 what a sender's deinit posted is kept for the unmute, and then its observer ends`() {
        let (center, log) = (center, Log<String>())
        for target in [DeliveryTarget.postingThread, .custom(scheduler)] {
            let sender = SharedHolder(Poster(center: center))
            let token = center.observe(.sample, from: sender.value!, on: target) {
                log.add($0.object == nil ? "no object" : "object")
            }
            token.mute(keepingNewest: true)
            sender.drop()
            #expect(token.isActive)
            token.unmute()
            scheduler.runAll()
            #expect(!token.isActive)
        }
        #expect(log.entries == ["no object", "no object"])
        #expect(center.core.isEmpty)
    }

    @Test func `D9 M5 a muted observer that kept nothing ends with its sender`() {
        let sender = SharedHolder(Poster(center: center))
        let token = center.observe(.sample, from: sender.value!) { _ in }
        token.mute()
        sender.drop()
        #expect(!token.isActive)
        #expect(center.core.isEmpty)
    }

    @Test func `D9 O2 L1 a kept notification keeps its own object, and the audit shows it as pending`() {
        let token = center.observe(.sample) { _ in }
        token.mute(keepingNewest: true)
        let object = SharedHolder(payload(1))
        post(object.value!)
        object.drop()
        #expect(ended.entries == [])
        #expect(center.audit()[0].description.hasSuffix("(1 pending, muted)"))
        token.unmute()
        #expect(ended.entries == [1])
    }
}
