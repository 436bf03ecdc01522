import Foundation
import Testing

@testable import Tether

/// The property form, on Tether's own center and over Foundation's, with every kind of target.
@Suite(.ownThread) struct PropertyOverCentersTests {
    private let log = Log<String>()

    @Test(arguments: CenterKind.allCases, TargetKind.allCases)
    func `F1 R1 M7 it is idle, configured, replaced and idle again, on every kind of target`(
        kind: CenterKind, target: TargetKind
    ) async {
        let (log, center, place) = (log, kind.makeCenter(), target.makePlace())
        let observer = NotificationObserver(center: center)
        #expect(!observer.isActive)
        center.post(.sample, number: 0)

        observer.observe(.sample, on: place.target) { log.add("first \($0.number)") }
        #expect(observer.isActive)
        center.post(.sample, number: 1)
        await place.settle()

        observer.observe(.other, on: place.target) { log.add("second \($0.number)") }
        for name in [Notification.Name.sample, .other] { center.post(name, number: 2) }
        await place.settle()
        #expect(center.audit().map(\.name) == [.other])

        observer.cancel()
        #expect(!observer.isActive)
        center.post(.other, number: 3)
        await place.settle()
        #expect(center.audit().isEmpty)

        observer.observe(nil, on: place.target, once: true) { log.add("third \($0.number)") }
        for number in 4...5 { center.post(.other, number: number) }
        await place.settle()
        #expect(!observer.isActive)
        #expect(log.entries == ["first 1", "second 2", "third 4"])
    }

    @Test(arguments: CenterKind.allCases, TargetKind.asynchronous)
    func `F1 R1 what was enqueued for a handler that was replaced or stopped never runs`(
        kind: CenterKind, target: TargetKind
    ) async {
        let (log, center, place, jobs) = (log, kind.makeCenter(), target.makePlace(), HeldJobs())
        let observer = NotificationObserver(center: center)
        observer.observe(.sample, on: .custom(jobs)) { log.add("old \($0.number)") }
        center.post(.sample, number: 1)
        observer.observe(.sample, on: place.target) { log.add("new \($0.number)") }
        center.post(.sample, number: 2)
        jobs.run()
        await place.settle()
        observer.observe(.sample, on: .custom(jobs)) { log.add("stopped \($0.number)") }
        center.post(.sample, number: 3)
        observer.cancel()
        jobs.run()
        #expect(log.entries == ["new 2"])
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 P1 a handler of the main actor runs there, whoever posts`(kind: CenterKind) async {
        let (log, center) = (log, kind.makeCenter())
        let observer = NotificationObserver(center: center)
        observer.observe(.sample, on: .mainActor) { note in
            MainActor.assertIsolated()
            log.add("main \(note.number)")
        }
        // Its target is the handler's.
        observer.target = .postingThread
        onThreads({ center.post(.sample, number: 1) })
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == ["main 1"])
        withExtendedLifetime(observer) {}
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 O3 it idles when its receiver or sender goes, and can be configured again`(kind: CenterKind) {
        let (log, center) = (log, kind.makeCenter())
        let (receiver, sender) = (Holder(LoggedObject("receiver", log)), Holder(Plain()))
        let observer = NotificationObserver(center: center)
        observer.connect(.sample, to: LoggedObject.touch, of: receiver.object!)
        #expect(observer.isActive)
        receiver.release()
        #expect(!observer.isActive)
        observer.observe(.sample, from: sender.object!) { log.add("sender \($0.number)") }
        center.post(.sample, from: sender.object, number: 1)
        sender.release()
        #expect(!observer.isActive)
        observer.observe(.sample) { log.add("any \($0.number)") }
        center.post(.sample, number: 2)
        #expect(log.entries == ["receiver deinit", "sender 1", "any 2"])
        withExtendedLifetime(observer) {}
    }

    @Test(arguments: CenterKind.allCases)
    func `F1 O1 as a property it ends with the object that has it`(kind: CenterKind) {
        final class Sidebar {
            private let observer: NotificationObserver

            init(_ center: any PostingCenter, _ log: Log<String>) {
                observer = NotificationObserver(center: center)
                observer.observe(.sample) { log.add("called \($0.number)") }
            }
        }
        let center = kind.makeCenter()
        let sidebar = Holder(Sidebar(center, log))
        center.post(.sample, number: 1)
        sidebar.release()
        center.post(.sample, number: 2)
        #expect(log.entries == ["called 1"])
        #expect(center.audit().isEmpty)
    }
}
