import Foundation
import Tether
import TetherTesting
import TetherVerification
import XCTest

/// `verifyNoLeaks` in XCTest: where the main thread runs a run loop, and failures are XCTest's.
final class VerifyNoLeaksXCTests: XCTestCase {
    final class Owner: @unchecked Sendable { var calls = 0 }

    private let center = ObserverCenter()

    #if !canImport(ObjectiveC)
    /// The issues recorded while failures are expected. XCTest on Linux has no such list.
    private var expected: [(description: String, place: String)]?

    override func recordFailure(
        withDescription description: String, inFile file: String, atLine line: Int,
        expected isExpected: Bool
    ) {
        guard expected == nil else {
            expected?.append((description, "\(file):\(line)"))
            return
        }
        super.recordFailure(
            withDescription: description, inFile: file, atLine: line, expected: isExpected)
    }

    func testL2ALeakFailsOnceWhereItWasRegisteredWithThePathThatOpensTheFile() throws {
        let keep = Keep()
        expected = []
        let line = UInt(#line) + 1
        verifyNoLeaks(limits: .init(deliveryWait: .zero)) {
            keep.add(center.observe(.modelDidChange) { _ in })
        }
        let failures = try XCTUnwrap(expected)
        expected = nil
        let file = "VerifyNoLeaksXCTests.swift"
        XCTAssertEqual(failures.map(\.place), ["\(#filePath):\(line + 1)"])
        XCTAssertTrue(
            failures[0].description.contains(
                "the observer of modelDidChange registered at TetherTestingTests/\(file):\(line + 1) is still active"
            ))
        keep.drop()
    }

    func testO12L2L3AFaultyTaskFailsOnceAtItsLine() throws {
        for fault in FaultyTask.allCases {
            let (work, begun) = (Work(), Work())
            expected = []
            verifyNoLeaks(limits: .init(deliveryWait: .zero, holderSearch: .seconds(300))) {
                let sidebar = fault.plant(work, begun: begun)
                begun.block()
                withExtendedLifetime(sidebar) {}
            }
            let failures = try XCTUnwrap(expected)
            expected = nil
            let messages = failures.map { $0.description.dropFirst("failed - ".count) }
            XCTAssertTrue(messages.allSatisfy { fault.isNamed(by: String($0)) })
            XCTAssertEqual(failures.map(\.place), ["\(FaultyTask.path):\(FaultyTask.line)"])
            work.end()
        }
    }

    func testL2ADeliveryThatTheMainThreadHasNoTimeForIsNotSaidToBeBlocked() throws {
        let keep = Keep()
        expected = []
        verifyNoLeaks(limits: .init(deliveryWait: .zero)) {
            keep.add(center.observe(.modelDidChange, on: .main) { _ in })
            center.postElsewhere()
        }
        let failures = try XCTUnwrap(expected).map(\.description)
        expected = nil
        XCTAssertTrue(failures.contains { $0.contains("pending on main for") })
        XCTAssertFalse(failures.contains { $0.contains("This call blocks the target") })
        keep.drop()
    }
    #endif

    func testL4APassingBodyPasses() {
        verifyNoLeaks {
            let owner = track(Owner())
            center.observe(.modelDidChange, owner: owner) { owner, _ in owner.calls += 1 }
            center.post(name: .modelDidChange, object: nil)
            XCTAssertEqual(owner.calls, 1)
        }
    }

    func testL2ADeliveryToTheMainThreadThatWaitsIsMade() {
        let calls = NotificationRecorder(center, .modelDidChange, on: .main)
        let keep = Keep()
        verifyNoLeaks {
            let owner = track(Owner())
            center.observe(.modelDidChange, owner: owner, on: .main) { owner, _ in
                owner.calls += 1
                keep.drop()
            }
            keep.add(owner)
            center.postElsewhere()
            XCTAssertEqual(calls.count, 0)
        }
        XCTAssertEqual(calls.count, 1)
    }

    func testL4TheAsyncFormPasses() async {
        let center = center
        await verifyNoLeaks {
            let owner = track(Owner())
            center.observe(.modelDidChange, owner: owner, on: .dispatchQueue(.global())) {
                owner, _ in owner.calls += 1
            }
            center.post(name: .modelDidChange, object: nil)
            await Task.yield()
        }
    }
}
