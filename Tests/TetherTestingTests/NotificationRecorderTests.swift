import Foundation
import Testing
import Tether

@testable import TetherTesting

/// The records of a recorder.
@Suite struct NotificationRecorderTests {
    private final class Model: Sendable {
        private let center: ObserverCenter

        init(_ center: ObserverCenter) { self.center = center }

        func change() { center.post(name: .modelDidChange, object: self) }

        deinit { change() }
    }

    @Test(arguments: [false, true])
    func `M6 a wait ends when its task is cancelled, and leaves nothing`(isCancelledFirst: Bool)
        async
    {
        let changes = NotificationRecorder(ObserverCenter(), .modelDidChange)
        let task = Task {
            if isCancelledFirst { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            return await changes.wait(for: 1, within: .seconds(3600))
        }
        if !isCancelledFirst {
            let limit = ContinuousClock.now + .seconds(300)
            while changes.waiterCount == 0, ContinuousClock.now < limit { await Task.yield() }
        }
        task.cancel()
        #expect(await task.value == false)
        #expect(changes.waiterCount == 0)
    }

    @Test func `M6 a wait that reached its limit leaves nothing`() async {
        let changes = NotificationRecorder(ObserverCenter(), .modelDidChange)
        #expect(await changes.wait(for: 1, within: .milliseconds(1)) == false)
        #expect(await changes.wait(for: 0, within: .zero))
        #expect(changes.waiterCount == 0)
    }

    @Test func `X3 a post of an object's own deinit is recorded without the object`() {
        let center = ObserverCenter()
        let changes = NotificationRecorder(center, .modelDidChange)
        var model: Model? = Model(center)
        model?.change()
        #expect(changes.notifications.map { $0.object as AnyObject? === model } == [true])
        changes.clear()
        model = nil
        #expect(changes.names == [.modelDidChange] && changes.notifications[0].object == nil)
    }
}
