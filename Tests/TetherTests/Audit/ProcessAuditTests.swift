import Foundation
import XCTest

@testable import Tether

/// Audits of the whole process, in a process of their own. An audit retains each observer for a
/// moment, also observers of tests that expect a deallocation.
final class ProcessAuditTests: XCTestCase {
    /// L1 the process's audit has all centers, each with its name.
    func testL1TheProcessAuditListsAllCentersByName() {
        let (center, other) = (ObserverCenter(), ObserverCenter())
        let name = Notification.Name("ProcessAuditTests all")
        let tokens = [
            center.observe(name) { _ in }, other.observe(name) { _ in },
            ObserverCenter.default.observe(name) { _ in },
        ]
        let rows = Audit.process().filter { $0.name == name }
        XCTAssertEqual(Set(rows.map(\.center)).count, 3)
        XCTAssert(rows.contains { $0.center == "ObserverCenter.default" })
        withExtendedLifetime((tokens, center)) {}
    }

    /// L1 R10 a deallocated center is in no audit of the process.
    func testL1R10ADeallocatedCenterIsInNoAudit() {
        let name = Notification.Name("ProcessAuditTests gone")
        var center: ObserverCenter? = ObserverCenter()
        let token = center?.observe(name) { _ in }
        XCTAssertEqual(Audit.process().count { $0.name == name }, 1)
        center = nil
        XCTAssertEqual(Audit.process().count { $0.name == name }, 0)
        withExtendedLifetime(token) {}
    }

    /// F1 L1 observers on Foundation's centers are audited by the center's name.
    func testF1L1ObserversOnFoundationCentersAreAuditedByTheCentersName() {
        let name = Notification.Name("ProcessAuditTests Foundation")
        let (owner, sender, center) = (Plain(), Plain(), NotificationCenter())
        let line = #line + 1
        let token = NotificationCenter.default.observe(
            name, from: sender, on: .main, once: true, key: 1
        ) { _ in }
        center.observe(name, owner: owner) { _, _ in }
        let rows = Audit.process().filter { $0.name == name }.sorted { $0.line < $1.line }
        XCTAssertEqual(
            rows.map(\.center), ["NotificationCenter.default", describeInstance(center)])
        XCTAssertEqual(rows.map(\.owner), [nil, describeInstance(owner)])
        XCTAssertEqual(rows.map(\.sender), [describeInstance(sender), nil])
        XCTAssertEqual(rows.map(\.target), ["main", "posting thread"])
        XCTAssertEqual(rows.map(\.isOnce), [true, false])
        XCTAssertEqual(rows.map(\.key), ["1", nil])
        XCTAssertEqual(rows.first?.line, line)
        XCTAssertEqual(NotificationCenter.default.audit().count { $0.name == name }, 1)
        withExtendedLifetime((token, owner, sender)) {}
    }
}
