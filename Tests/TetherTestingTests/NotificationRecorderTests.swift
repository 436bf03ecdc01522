import Foundation
import Testing
import Tether
import TetherTesting

/// What a recorder keeps.
@Suite struct NotificationRecorderTests {
    private final class Model: Sendable {
        private let center: ObserverCenter

        init(_ center: ObserverCenter) { self.center = center }

        func change() { center.post(name: .modelDidChange, object: self) }

        deinit { change() }
    }

    @Test func `X3 what an object posts about itself in its deinit is recorded without it`() {
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
