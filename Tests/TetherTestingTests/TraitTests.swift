import Dispatch
import Foundation
import Testing
import Tether
import TetherVerification

@testable import TetherTesting

/// The trait on tests and suites, side by side on the shared center.
@Suite(.collectsIssues, .verifiesNoLeaks) struct TraitTests {
    final class Owner: Sendable {}

    @Test func `L4 a suite's tests are verified each in a scope of its own`() throws {
        let scope = try #require(LeakTracker.current)
        let owner = track(Owner())
        ObserverCenter.default.observe(.modelDidChange, owner: owner) { _, _ in }
        #expect(LeakTracker.current === scope)
    }

    @Test(arguments: 0..<50)
    func `L4 tests on the shared center at one time do not see each other's observers`(
        number: Int
    ) async {
        let owner = track(Owner(), "owner \(number)")
        let name = Notification.Name("TraitTests \(number)")
        ObserverCenter.default.observe(name, owner: owner) { _, _ in }
        let token = ObserverCenter.default.observe(name, on: .dispatchQueue(.global())) { _ in }
        await Task.yield()
        ObserverCenter.default.post(name: name, object: nil)
        withExtendedLifetime((owner, token)) {}
    }

    @Test(arguments: 0..<20) func `L4 a leak on the shared center is reported in its own test only`(
        number: Int
    ) async {
        let name = Notification.Name("TraitTests leak \(number)")
        let keep = Keep()
        let messages = await planted {
            keep.add(ObserverCenter.default.observe(name) { _ in })
            await Task.yield()
        }
        #expect(messages.count == 1)
        #expect(
            messages.first?.hasPrefix("the observer of TraitTests leak \(number) registered at ")
                == true)
        keep.drop()
    }

    @Test func `L2 a leak is reported once, at its registration, with the path of the file`()
        async throws
    {
        let test = try #require(Test.current)
        let issues = Issues()
        let keep = Keep()
        let trait: NoLeaksTrait = .verifiesNoLeaks(limits: .init(deliveryWait: .zero))
        let line = #line + 3
        try await Issues.$current.withValue(issues) {
            try await trait.provideScope(for: test, testCase: Test.Case.current) {
                keep.add(ObserverCenter.default.observe(.modelDidChange) { _ in })
            }
        }
        #expect(issues.places == ["TraitTests.swift:\(line)"])
        #expect(issues.paths == [#filePath])
        keep.drop()
    }

    @Test func `L2 a leak in a file that is not there is reported where the test is`() async throws
    {
        let (issues, keep) = (Issues(), Keep())
        let line = #line + 2
        await Issues.$current.withValue(issues) {
            await verifyNoLeaks(limits: .init(deliveryWait: .zero)) {
                keep.add(
                    ObserverCenter.default.observe(
                        .modelDidChange, fileID: "Elsewhere/None.swift", line: 7
                    ) { _ in })
            }
        }
        #expect(issues.places == ["TraitTests.swift:\(line)"])
        #expect(issues.messages.first?.contains("registered at Elsewhere/None.swift:7") == true)
        keep.drop()
    }

    @Test func `L2 child tasks are in the scope`() async {
        let keep = Keep()
        // The holders that memory shows of each may differ.
        let messages = await MemorySearch.$isOn.withValue(false) {
            await planted {
                await withTaskGroup { group in
                    for _ in 0..<3 {
                        group.addTask {
                            keep.add(ObserverCenter.default.observe(.modelDidChange) { _ in })
                        }
                    }
                }
            }
        }
        #expect(messages.count == 1 && messages[0].hasSuffix(" (3 alike)"), "\(messages)")
        keep.drop()
    }
}

/// The scope of a registration on a queue or a thread.
@Suite(.collectsIssues) struct ScopeTests {
    private func onAnotherThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                body()
                continuation.resume()
            }
        }
    }

    @Test func `L2 work that is handed over by adopt belongs to the scope of that call`()
        async
    {
        let keep = Keep()
        let messages = await planted {
            let scope = LeakTracker.current
            await onAnotherThread {
                scope?.adopt { keep.add(ObserverCenter.default.observe(.modelDidChange) { _ in }) }
            }
        }
        #expect(messages.count == 1)
        keep.drop()
    }

    @Test func `L4 an observer without a scope on a shared center gives one warning, no error`()
        async
    {
        let (keep, center) = (Keep(), ObserverCenter())
        let issues = Issues()
        for _ in 0..<2 {
            // No trait handles warnings, and a run does not report known ones.
            await withKnownIssue(isIntermittent: true) {
                await verifyNoLeaks {
                    let token = center.observe(.modelDidChange) { _ in }
                    await onAnotherThread { keep.add(center.observe(.modelDidChange) { _ in }) }
                    withExtendedLifetime(token) {}
                }
            } matching: { issue in
                issues.add(issue)
                return true
            }
        }
        #expect(issues.messages.count == 1)
        #expect(issues.messages.first?.contains("cannot be attributed to a test") == true)
        #expect(issues.severities == [.warning])
        keep.drop()
    }

    @Test func `L2 an inner scope takes and reports its registrations alone`() async {
        let keep = Keep()
        await verifyNoLeaks {
            let messages = await planted {
                keep.add(ObserverCenter.default.observe(.modelDidChange) { _ in })
            }
            #expect(messages.count == 1)
        }
        keep.drop()
    }
}
