import Foundation
import Testing

@testable import Tether

/// Methods of an object that is not the owner.
@Suite(.ownThread) struct ReceiverTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    private func post(_ number: Int) {
        center.post(.sample, number: number)
        center.post(.other, number: number)
    }

    @Test(arguments: CenterKind.allCases, TargetKind.allCases)
    func `F1 D1 D2 D3 D5 a receiver's method is called on every kind of target`(
        kind: CenterKind, target: TargetKind
    ) async {
        let (center, owner, screen, place) = (kind.makeCenter(), Plain(), Screen(log), target.makePlace())
        let token = configured(for: center) { $0.connect(.sample, to: Screen.changed, of: screen, on: place.target) }
        center.connect(.other, to: Screen.closed, of: screen, owner: owner, on: place.target)
        let observer = NotificationObserver(center: center)
        observer.connect(.third, to: Screen.changed, of: screen, on: place.target)
        onThreads({
            for (number, name) in [Notification.Name.sample, .other, .third, .sample].enumerated() {
                center.post(name, number: number)
            }
        })
        await place.settle()
        #expect(log.entries == ["changed 0", "closed", "changed 2", "changed 3"])
        #expect(center.audit().map(\.owner) == [nil, describeInstance(owner), nil])
        withExtendedLifetime((token, observer, owner)) {}
    }

    @Test func `M9 an observer that is stopped while it is configured leaves nothing at its receiver`() {
        let (screen, observer) = (Screen(log), NotificationObserver(center: center))
        let ending = Holder(Ending { observer.cancel() })
        observer.observe(.other) { [last = ending.object!] _ in last.touch() }
        ending.release()
        // Replacing the first handler releases what it captured, which stops the second one before it is attached.
        observer.connect(.sample, to: Screen.changed, of: screen)
        #expect(!observer.isActive)
        #expect(!OwnerTable.shared.hasRecord(of: ObjectIdentifier(screen)))
        #expect(center.core.isEmpty)
        withExtendedLifetime(screen) {}
    }

    @Test func `O7 the observer is listed at its owner, not at its receiver`() {
        let (owner, screen) = (Plain(), Screen(log))
        let token = center.connect(.sample, to: Screen.changed, of: screen, owner: owner)
        #expect(Array(OwnerObservers(of: owner)) == [token])
        #expect(OwnerObservers(of: screen).isEmpty)
        #expect(OwnerObservers(of: screen).audit().isEmpty)
        OwnerObservers(of: screen).cancel()
        center.removeObservers(owner: screen)
        center.removeObserver(screen)
        #expect(token.isActive)
        OwnerObservers(of: owner).cancel()
        #expect(!token.isActive)
        #expect(center.core.isEmpty)
    }

    @Test func `O7 a property's method may have an owner, with which it idles and among whose observers it is`() {
        let (owner, screen) = (Holder(Plain()), Screen(log))
        let property = NotificationObserver(center: center)
        property.observe(.other) { _ in Issue.record("The first handler was called.") }
        let token = property.connect(.sample, to: Screen.changed, of: screen, owner: owner.object!)
        #expect(token === property && Array(OwnerObservers(of: owner.object!)) == [property])
        post(1)
        owner.release()
        #expect(!property.isActive)
        post(2)
        property.connect(.sample, to: Screen.closed, of: screen)
        post(3)
        #expect(log.entries == ["changed 1", "closed"])
        property.cancel()
        #expect(center.core.isEmpty)
    }

    @Test func `O7 methods are connected from a table`() {
        let screen = Screen(log)
        let table: [(Notification.Name, NotificationMethod<Screen>)] = [
            (.sample, Screen.changed), (.other, Screen.changed),
        ]
        for (name, method) in table { center.connect(name, to: method, of: screen) }
        post(1)
        #expect(log.entries == ["changed 1", "changed 1"])
        #expect(OwnerObservers(of: screen).count == 2)
    }

    @Test func `O7 one object can be both`() {
        let screen = Holder(Screen(log))
        let token = center.connect(.sample, to: Screen.changed, of: screen.object!, owner: screen.object!)
        #expect(Array(OwnerObservers(of: screen.object!)) == [token])
        post(1)
        screen.release()
        post(2)
        #expect(log.entries == ["changed 1", "screen deinit"])
        #expect(!token.isActive)
        #expect(center.core.isEmpty)
    }

    @Test func `R1 R7 M7 stopping, once and keys hold for it`() {
        let (owner, screen) = (Plain(), Screen(log))
        var token: NotificationObserver? = configured(for: center) {
            $0.connect(.sample, to: Screen.changed, of: screen)
        }
        post(1)
        withExtendedLifetime(token) {}
        token = nil
        post(2)
        let once = configured(for: center) { $0.connect(.sample, to: Screen.changed, of: screen, once: true) }
        post(3)
        post(4)
        #expect(!once.isActive)
        let first = center.connect(.other, to: Screen.closed, of: screen, owner: owner, key: 1)
        let second = center.connect(.sample, to: Screen.changed, of: screen, owner: owner, key: 1)
        post(5)
        #expect([first.isActive, second.isActive] == [false, true])
        #expect(log.entries == ["changed 1", "changed 3", "changed 5"])
    }

    @Test(arguments: CenterKind.allCases)
    func `P1 a receiver's main-actor method runs on the main actor, whoever posts`(kind: CenterKind) async {
        @MainActor final class Window {
            let log: Log<String>
            nonisolated init(_ log: Log<String>) { self.log = log }
            func changed(_ note: Notification) {
                MainActor.assertIsolated()
                log.add("\(note.number)")
            }
            func closed() {
                MainActor.assertIsolated()
                log.add("closed")
            }
        }
        let (center, owner, window) = (kind.makeCenter(), Plain(), Window(log))
        let observers = (0..<2).map { _ in NotificationObserver(center: center) }
        observers[0].connect(.sample, to: Window.changed, of: window, on: .mainActor)
        observers[1].connect(.sample, to: Window.changed, of: window)
        let tokens = [
            configured(for: center) { $0.connect(.sample, to: Window.changed, of: window, on: .mainActor) },
            configured(for: center) { $0.connect(.sample, to: Window.changed, of: window) },
            center.connect(.sample, to: Window.changed, of: window, owner: owner, on: .mainActor),
            center.connect(.sample, to: Window.changed, of: window, owner: owner),
        ]
        onThreads({ center.post(.sample, number: 1) })
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == Array(repeating: "1", count: 6))

        observers[0].connect(.other, to: Window.closed, of: window, on: .mainActor)
        let token = configured(for: center) { $0.connect(.other, to: Window.closed, of: window, on: .mainActor) }
        center.connect(.other, to: Window.closed, of: window, owner: owner, on: .mainActor)
        onThreads({ center.post(.other) })
        await TargetKind.main.makePlace().settle()
        #expect(log.entries.dropFirst(6) == ["closed", "closed", "closed"])
        withExtendedLifetime(token) {}
        withExtendedLifetime((observers, tokens, owner, window)) {}
    }
}
