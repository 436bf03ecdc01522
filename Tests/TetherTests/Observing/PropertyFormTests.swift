import Foundation
import Testing

@testable import Tether

/// An observer that is kept as a property, configured and configured again.
@Suite(.ownThread) struct PropertyFormTests {
    private final class Object: Sendable {}

    private final class OwnerWithLastWord: Sendable {
        private let body: @Sendable (OwnerWithLastWord) -> Void

        init(_ body: @escaping @Sendable (OwnerWithLastWord) -> Void) { self.body = body }

        deinit { body(self) }
    }

    private let center = ObserverCenter()
    private let log = Log<String>()

    private func record(_ label: String) -> @Sendable (Notification) -> Void {
        let log = log
        return { note in log.add("\(label) \(note.name.rawValue)") }
    }

    @Test func `R1 it starts idle, and being idle is harmless`() {
        let observer = NotificationObserver(center: center)
        #expect(!observer.isActive)
        #expect(center.core.isEmpty)
        center.post(name: .sample, object: nil)
        observer.cancel()
        observer.cancelAndWait()
        observer.target = .main
        #expect(observer.target.description == "posting thread")
        center.removeObserver(observer)
        #expect(!observer.isActive)
    }

    @Test func `R2 waiting for one that is idle returns at once`() async {
        #expect(await NotificationObserver(center: center).cancelAndWait() == .finished)
    }

    @Test func `O8 configured for an owner that is being deinitialised, it is idle, and what it observed has ended`() {
        let (log, observer, screen) = (log, NotificationObserver(center: center), Screen(log))
        observer.observe(.sample, record("first"))
        let owner = SharedHolder<OwnerWithLastWord>()
        owner.set(
            OwnerWithLastWord { owner in
                observer.connect(.other, to: Screen.closed, of: screen, owner: owner)
                log.add("is active: \(observer.isActive)")
            })
        owner.drop()
        for name in [Notification.Name.sample, .other] { center.post(name: name, object: nil) }
        #expect(log.entries == ["is active: false"])
        #expect(center.core.isEmpty)
    }

    @Test func `R1 configured, it observes until it is stopped, and then again when it is configured again`() {
        let observer = NotificationObserver(center: center)
        observer.observe(.sample, record("first"))
        #expect(observer.isActive)
        center.post(name: .sample, object: nil)
        observer.cancel()
        #expect(!observer.isActive)
        center.post(name: .sample, object: nil)
        observer.observe(.other, record("second"))
        #expect(observer.isActive)
        center.post(name: .sample, object: nil)
        center.post(name: .other, object: nil)
        #expect(log.entries == ["first sample", "second other"])
        #expect(center.core.count == 1)
        observer.cancel()
        #expect(center.core.isEmpty)
    }

    @Test func `M7 configured again, it has only the new name, sender, target and handler`() {
        let (sender, jobs) = (Object(), HeldJobs())
        let observer = NotificationObserver(center: center)
        observer.observe(.sample, from: sender, on: .custom(jobs), record("old"))
        observer.observe(nil, record("new"))
        #expect(observer.target.description == "posting thread")
        center.post(name: .sample, object: sender)
        center.post(name: .other, object: nil)
        #expect(jobs.count == 0)
        #expect(log.entries == ["new sample", "new other"])
        withExtendedLifetime((observer, sender)) {}
    }

    @Test func `R1 R8 what was enqueued for the old handler never reaches the new one, and is dropped`() {
        let (log, jobs) = (log, HeldJobs())
        let observer = NotificationObserver(center: center)
        observer.observe(.sample, on: .custom(jobs), record("old"))
        do {
            let payload = Ending { log.add("payload dropped") }
            center.post(name: .sample, object: payload)
        }
        observer.observe(.sample, on: .custom(jobs), record("new"))
        #expect(log.entries == ["payload dropped"])
        jobs.run()
        #expect(log.entries == ["payload dropped"])
        center.post(name: .sample, object: nil)
        jobs.run()
        #expect(log.entries == ["payload dropped", "new sample"])
        withExtendedLifetime(observer) {}
    }

    @Test func `R1 what was enqueued before a stop never reaches the handler that is configured after it`() {
        let jobs = HeldJobs()
        let observer = NotificationObserver(center: center)
        observer.observe(.sample, on: .custom(jobs), record("old"))
        center.post(name: .sample, object: nil)
        observer.cancel()
        observer.observe(.sample, on: .custom(jobs), record("new"))
        jobs.run()
        #expect(log.entries == [])
        withExtendedLifetime(observer) {}
    }

    @Test func `R8 the old handler's captures go before the configuring call returns`() {
        let log = log
        let observer = NotificationObserver(center: center)
        do {
            let captured = Ending { log.add("released") }
            observer.observe(.sample) { _ in captured.touch() }
        }
        observer.observe(.sample, record("new"))
        #expect(log.entries == ["released"])
        observer.cancel()
    }

    @Test func `R4 R5 its handler may configure it anew, for the next post`() {
        let (log, center) = (log, center)
        let observer = SharedHolder(NotificationObserver(center: center))
        let record = record("new")
        observer.value!.observe(.sample) { _ in
            observer.value!.observe(.sample, record)
            log.add("old")
        }
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["old"])
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["old", "new sample"])
        observer.drop()
        #expect(center.core.isEmpty)
    }

    @Test func `R7 a once handler idles it, and it can be configured again`() {
        let observer = NotificationObserver(center: center)
        for label in ["first", "second"] {
            observer.observe(.sample, once: true, record(label))
            for _ in 0..<3 { center.post(name: .sample, object: nil) }
            #expect(!observer.isActive)
        }
        #expect(log.entries == ["first sample", "second sample"])
    }

    @Test func `M5 its sender's end idles it, and it can be configured again`() {
        let sender = SharedHolder(Object())
        let observer = NotificationObserver(center: center)
        observer.observe(.sample, from: sender.value!, record("first"))
        center.post(name: .sample, object: sender.value)
        sender.drop()
        #expect(!observer.isActive)
        observer.observe(.sample, record("second"))
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["first sample", "second sample"])
        withExtendedLifetime(observer) {}
    }

    @Test func `M5 configured for a sender that is being deinitialised, it is idle, its old handler gone`() {
        let observer = NotificationObserver(center: center)
        final class Ending: Sendable {
            let configure: @Sendable (Ending) -> Void
            init(_ configure: @escaping @Sendable (Ending) -> Void) { self.configure = configure }
            deinit { configure(self) }
        }
        observer.observe(.sample, record("old"))
        let record = record("new")
        _ = Ending { observer.observe(.sample, from: $0, record) }
        #expect(!observer.isActive)
        center.post(name: .sample, object: nil)
        #expect(log.entries == [])
        #expect(center.core.isEmpty)
    }

    @Test func `O1 as a property it ends with the object that has it`() {
        final class Sidebar {
            private let observer: NotificationObserver

            init(_ center: ObserverCenter, _ log: Log<String>) {
                observer = NotificationObserver(center: center)
                observer.observe(.sample) { _ in log.add("called") }
            }
        }
        var sidebar: Sidebar? = Sidebar(center, log)
        center.post(name: .sample, object: nil)
        withExtendedLifetime(sidebar) {}
        sidebar = nil
        center.post(name: .sample, object: nil)
        #expect(log.entries == ["called"])
        #expect(center.core.isEmpty)
    }

    @Test func `D6 its target can be switched, and the next configuration starts from its own`() {
        let (first, second) = (HeldJobs(), HeldJobs())
        let observer = NotificationObserver(center: center)
        observer.observe(.sample, on: .custom(first), record("a"))
        observer.target = .custom(second)
        center.post(name: .sample, object: nil)
        #expect(first.count == 0)
        #expect(second.count == 1)
        observer.observe(.sample, on: .custom(first), record("b"))
        center.post(name: .sample, object: nil)
        first.run()
        second.run()
        #expect(log.entries == ["b sample"])
        withExtendedLifetime(observer) {}
    }

    @Test func `R3 configured from several threads at once it has one handler in the end`() {
        let (center, observer) = (center, NotificationObserver(center: center))
        Crew.run(3) { number in
            for _ in 0..<200 { observer.observe(number == 0 ? .sample : .other) { _ in } }
        }
        #expect(center.core.count == 1)
        #expect(observer.isActive)
        observer.cancel()
        #expect(center.core.isEmpty)
    }
}
