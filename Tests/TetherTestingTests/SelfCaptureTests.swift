import Foundation
import Testing
import Tether

@testable import TetherTesting

/// Handlers that capture their owner, reported at the registration.
@Suite(.collectsIssues) struct SelfCaptureTests {
    final class Owner: @unchecked Sendable {
        var changes = 0
        var helper: Helper?

        @MainActor func change(_ note: Notification) { changes += 1 }
    }

    final class Helper: @unchecked Sendable { var owner: Owner? }

    /// Registers with the warning on, and returns the reports. Also releases the owners that their
    /// handlers capture.
    private func reports(
        _ register: @Sendable (ObserverCenter, Owner) -> Void
    ) -> (messages: [String], places: [String]) {
        let (listening, center, owner, issues) = (
            LeakTracker(), ObserverCenter(), Owner(), Issues()
        )
        Issues.$current.withValue(issues) {
            SelfCapture.$isReportedHere.withValue(true) { register(center, owner) }
        }
        OwnerObservers(of: owner).cancel()
        owner.helper = nil
        withExtendedLifetime(listening) {}
        return (issues.messages, issues.places)
    }

    @Test func `L3 a finding without an open standard error to print to stops nothing`()
        async
    {
        await #expect(processExitsWith: .exitCode(7)) {
            close(STDERR_FILENO)
            Finding(
                message: "a finding", site: Site(file: "Module/File.swift", line: 1),
                picture: Diagram()
            ).print()
            exit(7)
        }
    }

    @Test func `L3 a handler that captures its owner is reported at its line, before any leak`() {
        let line = #line + 2
        let (messages, places) = reports { center, owner in
            center.observe(.modelDidChange, owner: owner) { _, _ in owner.changes += 1 }
        }
        #if DEBUG
        #expect(
            messages == [
                "Owner will be retained by its own handler: the handler registered at "
                    + "TetherTestingTests/SelfCaptureTests.swift:\(line) (modelDidChange) captures it. "
                    + "Use the handler's owner argument, or capture it weakly."
            ])
        #expect(places == ["SelfCaptureTests.swift:\(line)"])
        #else
        #expect(messages.isEmpty && places.isEmpty)
        #endif
    }

    private struct Message: Foundation.NotificationCenter.AsyncMessage { typealias Subject = Owner }
    private struct MainMessage: Foundation.NotificationCenter.MainActorMessage {
        typealias Subject = Owner
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `L3 T1 handlers of messages that capture their owner are reported`() {
        let (messages, _) = reports { center, owner in
            center.observe(for: .type(Message.self), owner: owner) { _, _ in owner.changes += 1 }
            center.observe(for: .type(Message.self), owner: owner, on: .postingThread) { _, _ in
                owner.changes += 1
            }
            center.observe(for: .type(MainMessage.self), owner: owner) { _, _ in owner.changes += 1
            }
        }
        #if DEBUG
        #expect(messages.count == 3)
        #else
        #expect(messages.isEmpty)
        #endif
    }

    @Test func `L3 nothing is reported unless it was asked for`() {
        #expect(!ObserverCenter.warnsOfSelfCapture)
        let (center, owner) = (ObserverCenter(), Owner())
        center.observe(.modelDidChange, owner: owner) { _, _ in owner.changes += 1 }
        OwnerObservers(of: owner).cancel()
    }

    @Test func `L3 handlers that do not capture their owner are not reported`() {
        let (messages, _) = reports { center, owner in
            center.observe(.modelDidChange, owner: owner) { owner, _ in owner.changes += 1 }
            center.observe(.modelDidChange, owner: owner) { [weak owner] _, _ in owner?.changes += 1
            }
            center.observe(.modelDidChange, owner: owner) { [unowned owner] _, _ in
                owner.changes += 1
            }
            center.connect(.modelDidChange, to: Owner.change, of: owner)
            center.observe(.modelDidChange, from: owner, owner: owner, on: .mainActor) {
                owner, note in
                owner.change(note)
            }
            // Another owner.
            center.observe(.modelDidChange, owner: center) { _, _ in owner.changes += 1 }
            OwnerObservers(of: center).cancel()
        }
        #expect(messages.isEmpty)
    }
}
