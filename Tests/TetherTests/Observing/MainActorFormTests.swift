import Dispatch
import Foundation
import Testing
import Tether
import XCTest

/// Every form of a main-actor handler, posted to on the main actor, with the main queue to itself.
final class MainActorFormTests: XCTestCase {
    /// Waits until the pending work of the main queue has run.
    private static func drainMain() {
        let isDrained = Flag()
        DispatchQueue.main.async { isDrained.raise() }
        RunLoop.main.run(.default, until: { isDrained.isRaised })
        XCTAssert(isDrained.isRaised)
    }

    @MainActor private final class Window {
        var calls: [String] = []

        func changed(_ notification: Notification) {
            calls.append("changed \(notification.number)")
        }
        func refresh() { calls.append("refresh") }
    }

    /// Registers the same handler in one form. Returns the objects to keep.
    private typealias Form = @MainActor (ObserverCenter, Window) -> AnyObject?

    @MainActor private static let forms: [(name: String, form: Form, call: String)] = [
        (
            "a token",
            { center, window in center.observe(.sample, on: .mainActor) { window.changed($0) } },
            "changed 1"
        ),
        (
            "an owner that is handed over",
            { center, window in
                center.observe(.sample, owner: window, on: .mainActor) { window, note in
                    window.changed(note)
                }
                return nil
            }, "changed 1"
        ),
        (
            "an owner that is not handed over",
            { center, window in
                center.observe(.sample, owner: window, on: .mainActor) { [unowned window] _, _ in
                    window.refresh()
                }
                return nil
            }, "refresh"
        ),
        (
            "a method whose target is named",
            { center, window in
                center.connect(.sample, to: Window.changed, of: window, on: .mainActor)
                return nil
            }, "changed 1"
        ),
        (
            "a method without the notification whose target is named",
            { center, window in
                center.connect(.sample, to: Window.refresh, of: window, on: .mainActor)
                return nil
            }, "refresh"
        ),
        (
            "a method",
            { center, window in
                center.connect(.sample, to: Window.changed, of: window)
                return nil
            }, "changed 1"
        ),
        (
            "a method without the notification",
            { center, window in
                center.connect(.sample, to: Window.refresh, of: window)
                return nil
            }, "refresh"
        ),
        (
            "a receiver, of another owner",
            { center, window in
                let owner = Ending {}
                center.connect(
                    .sample, to: Window.changed, of: window, owner: owner, on: .mainActor)
                return owner
            }, "changed 1"
        ),
        (
            "a receiver without the notification, of another owner",
            { center, window in
                let owner = Ending {}
                center.connect(
                    .sample, to: Window.refresh, of: window, owner: owner, on: .mainActor)
                return owner
            }, "refresh"
        ),
    ]

    /// P1 D3 posted on the main actor, every form runs before the post returns.
    func testP1D3EveryFormRunsInsideAPostOnTheMainActor() {
        MainActor.assumeIsolated {
            for (name, form, call) in MainActorFormTests.forms {
                let (center, window) = (ObserverCenter(), Window())
                let kept = form(center, window)
                center.post(.sample, number: 1)
                XCTAssertEqual(window.calls, [call], name)
                XCTAssertEqual(center.audit().map(\.target), ["main"], name)
                withExtendedLifetime((kept, window)) {}
            }
        }
    }

    /// P1 posted on another thread, every form runs on the main actor, in posting order with the
    /// posts of the main actor.
    func testP1EveryFormRunsOnTheMainActorAfterAPostElsewhere() {
        MainActor.assumeIsolated {
            for (name, form, call) in MainActorFormTests.forms {
                let (center, window) = (ObserverCenter(), Window())
                let kept = form(center, window)
                onThreads({ center.post(.sample, number: 1) })
                center.post(.sample, number: 2)
                XCTAssertEqual(window.calls, [], name)
                MainActorFormTests.drainMain()
                XCTAssertEqual(window.calls, [call, call.replacing("1", with: "2")], name)
                withExtendedLifetime((kept, window)) {}
            }
        }
    }
}
