import Dispatch
import Foundation
import Testing

@testable import Tether

/// Every form in which an observer can be made: held by its token or attached to an owner; with a handler or a method; for
/// one sender or any; on no queue, an operation queue or a dispatch queue.
@Suite struct EveryFormTests {
    enum Holding: CaseIterable { case token, owner }

    private final class Screen: Sendable {
        let log = Log<Int>()

        func changed(_ note: Notification) { log.add(note.number) }
    }

    /// What the observer ends with.
    private final class Life: Sendable {
        let observers: Box<[NotificationObserver]> = Box([])
        let owner = Box(optional: Plain())

        func end() {
            observers.set([])
            owner.drop()
        }
    }

    @Test(arguments: CenterKind.allCases, Holding.allCases)
    func `F1 O1 M2 D1 D2 every form observes its name and sender on its target, and ends with what holds it`(
        kind: CenterKind, holding: Holding
    ) async {
        for target in [TargetKind.postingThread, .operationQueue, .dispatchQueue] {
            for (hasSender, isMethod) in [(false, false), (false, true), (true, false), (true, true)]
            where holding == .owner || !isMethod {
                let (center, place, screen, sender) = (kind.makeCenter(), target.makePlace(), Screen(), Plain())
                let life = observe(
                    center, holding, from: hasSender ? sender : nil, on: place.target, isMethod: isMethod, screen)
                post(to: center, from: sender)
                await place.settle()
                let reached = hasSender ? [1] : [1, 2]
                #expect(screen.log.entries == reached, "\(holding) \(target) \(hasSender) \(isMethod)")
                #expect(center.audit().count == 1)

                life.end()
                post(to: center, from: sender)
                await place.settle()
                #expect(screen.log.entries == reached, "\(holding) \(target) \(hasSender) \(isMethod)")
                #expect(center.audit().isEmpty)
            }
        }
    }

    private func post(to center: any PostingCenter, from sender: Plain) {
        center.post(.sample, from: sender, number: 1)
        center.post(.sample, from: Plain(), number: 2)
        center.post(.other, from: sender, number: 3)
    }

    private func observe(
        _ center: any PostingCenter, _ holding: Holding, from sender: Plain?, on target: DeliveryTarget, isMethod: Bool,
        _ screen: Screen
    ) -> Life {
        let life = Life()
        let handler: @Sendable (Notification) -> Void = { [weak screen] in screen?.changed($0) }
        switch (holding, sender, isMethod) {
        case (.token, let sender?, false):
            life.observers.set([center.observe(.sample, from: sender, on: target, handler)])
        case (.token, nil, false):
            life.observers.set([center.observe(.sample, on: target, handler)])
        case (.owner, let sender?, false):
            center.observe(.sample, from: sender, owner: life.owner.value!, on: target) { handler($1) }
        case (.owner, nil, false):
            center.observe(.sample, owner: life.owner.value!, on: target) { handler($1) }
        case (.owner, let sender?, true):
            center.connect(
                .sample, from: sender, to: Screen.changed, of: screen, owner: life.owner.value!, on: target)
        case (.owner, nil, true):
            center.connect(.sample, to: Screen.changed, of: screen, owner: life.owner.value!, on: target)
        default: preconditionFailure("A token has no method.")
        }
        return life
    }
}
