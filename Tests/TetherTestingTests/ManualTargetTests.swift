import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Deliveries on a test's demand, and their records.
@Suite struct ManualTargetTests {
    private let center = ObserverCenter()
    private let target = ManualTarget()

    private func post(_ names: String...) {
        for name in names { center.post(name: Notification.Name(name), object: nil) }
    }

    @Test func `D4 the deliveries of a post run together, in posting order across observers`() {
        let first = NotificationRecorder(center, nil, on: target.target)
        let second = NotificationRecorder(center, nil, on: target.target)
        post("a", "b")
        #expect(target.isPending)
        #expect(first.count == 0 && second.count == 0)
        var counts: [[Int]] = []
        while target.runOne() { counts.append([first.count, second.count]) }
        #expect(counts == [[1, 1], [2, 2]])
        #expect(first.names.map(\.rawValue) == ["a", "b"])
        #expect(!target.isPending)
    }

    @Test func `D4 all deliveries run, with the deliveries that handlers cause`() {
        let recorder = NotificationRecorder(center, nil, on: target.target)
        let center = center
        let token = center.observe(Notification.Name("a"), on: target.target) { _ in
            center.post(name: Notification.Name("b"), object: nil)
        }
        post("a", "c")
        #expect(target.runAll() == 3)
        #expect(recorder.names.map(\.rawValue) == ["a", "c", "b"])
        withExtendedLifetime(token) {}
    }

    @Test func `D7 a handler that posts to itself runs as often as the test allows`() {
        let center = center
        let token = center.observe(Notification.Name("a"), on: target.target) { center.post($0) }
        post("a")
        #expect(target.runAll(limit: 100) == 100)
        #expect(target.isPending)
        withExtendedLifetime(token) {}
    }

    @Test func `R1 a delivery pending for a cancelled observer does not run`() {
        let recorder = NotificationRecorder(center, nil, on: target.target)
        post("a", "b")
        target.runOne()
        recorder.cancel()
        target.runAll()
        #expect(recorder.names.map(\.rawValue) == ["a"])
    }

    @Test func `a recorder records by name and sender, and forgets when asked`() {
        let sender = ObserverCenter()
        let recorder = NotificationRecorder(center, .modelDidChange, from: sender)
        center.post(name: .modelDidChange, object: sender, userInfo: ["key": 5])
        center.post(name: .modelDidChange, object: nil)
        post("a")
        #expect(recorder.notifications.map { $0.userInfo?["key"] as? Int } == [5])
        recorder.clear()
        #expect(recorder.notifications.isEmpty)
        center.post(name: .modelDidChange, object: sender)
        #expect(recorder.names == [.modelDidChange])
    }

    @Test func `a recorder waits for a number of deliveries, by event`() async {
        let recorder = NotificationRecorder(
            center, nil, on: .dispatchQueue(DispatchQueue(label: "work")))
        post("a", "b", "c")
        #expect(await recorder.wait(for: 3, within: .seconds(300)))
        #expect(recorder.names.map(\.rawValue) == ["a", "b", "c"])
        #expect(await recorder.wait(for: 2))
        #expect(await !recorder.wait(for: 4, within: .zero))
    }
}
