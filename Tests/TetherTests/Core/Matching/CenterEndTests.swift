import Foundation
import Testing

@testable import Tether

/// The end of a center.
@Suite(.ownThread) struct CenterEndTests {
    private final class Object: Sendable {}

    private let log = Log<String>()

    /// An observer whose handler's capture logs its release.
    private func observe(_ center: ObserverCenter, on target: DeliveryTarget = .postingThread)
        -> NotificationObserver
    {
        let log = log
        let captured = Ending { log.add("released") }
        return center.observe(.sample, on: target) { _ in
            captured.touch()
            log.add("called")
        }
    }

    /// Posts without retaining the center, so that a handler can release the last reference.
    private static func post(_ name: Notification.Name, to core: CenterCore) {
        core.post(name: name, sender: { nil }, withNotification: { $0(Notification(name: name)) })
    }

    @Test func `R10 the end of a center makes its observers inactive and releases their captures`()
    {
        let center = Box(optional: ObserverCenter())
        let owner = Object()
        let tokens = [
            observe(center.value!), observe(center.value!),
            center.value!.observe(nil, from: owner, owner: owner, once: true, key: 1) { _, _ in },
        ]
        center.drop()
        #expect(tokens.map(\.isActive) == [false, false, false])
        #expect(log.entries == ["released", "released"])
        #expect(OwnerObservers(of: owner).isEmpty)
        #expect(!ObjectTable.shared.hasRecord(of: ObjectIdentifier(owner)))
        for token in tokens {
            token.cancel()
            token.target = .main
            #expect(token.target.description == "posting thread")
        }
        withExtendedLifetime(owner) {}
    }

    @Test func `R10 R1 a center that dies inside its own handler calls no further observer`() {
        let (log, center) = (log, Box(optional: ObserverCenter()))
        let core = center.value!.core
        let first = center.value!.observe(.sample) { _ in
            center.drop()
            log.add("center gone")
        }
        let second = observe(center.value!)
        CenterEndTests.post(.sample, to: core)
        #expect(log.entries == ["released", "center gone"])
        #expect([first.isActive, second.isActive] == [false, false])
    }

    @Test func `R10 a center may die while a post of it is under way on another thread`() {
        let (log, center) = (log, Box(optional: ObserverCenter()))
        let core = center.value!.core
        let (isPosting, mayGoOn) = (Latch(), Latch())
        let first = center.value!.observe(.sample) { _ in
            isPosting.open()
            mayGoOn.pass()
            log.add("first ends")
        }
        let second = observe(center.value!)
        let posting = JoinableThread { CenterEndTests.post(.sample, to: core) }
        isPosting.pass()
        center.drop()
        #expect([first.isActive, second.isActive] == [false, false])
        #expect(log.entries == ["released"])
        mayGoOn.open()
        posting.join()
        #expect(log.entries == ["released", "first ends"])
    }

    @Test func `R10 a registration after the end is ended, and its captures are released`() {
        let log = log
        let core = CenterCore()
        core.close()
        do {
            let captured = Ending { log.add("released") }
            let registration = PlainRegistration(
                center: core, site: RegistrationSite(file: #fileID, line: #line),
                handler: { _ in captured.touch() })
            core.add(registration, name: .sample, sender: nil)
            #expect(registration.hasEnded)
        }
        #expect(core.isEmpty)
        #expect(log.entries == ["released"])
    }
}
