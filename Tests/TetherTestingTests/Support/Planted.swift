import Foundation
import Testing
import Tether
import TetherVerification

@testable import TetherTesting

extension Notification.Name {
    static let modelDidChange = Notification.Name("modelDidChange")
    static let modelDidClose = Notification.Name("modelDidClose")
}

/// Runs a body with planted leaks, and returns the findings of the verification, in order. The suite
/// needs the trait `.collectsIssues`.
func planted(
    holderSearch: Duration = .seconds(300), _ body: () async throws -> Void
) async rethrows -> [String] {
    let issues = Issues()
    try await Issues.$current.withValue(issues) {
        try await verifyNoLeaks(
            limits: .init(deliveryWait: .zero, holderSearch: holderSearch), body)
    }
    return issues.messages
}

extension Trait where Self == IssueHandlingTrait {
    /// Adds each issue to `Issues.current`, if the task has one. Otherwise the issue fails the test.
    static var collectsIssues: Self {
        .filterIssues { issue in
            guard let issues = Issues.current else { return true }
            issues.add(issue)
            return false
        }
    }
}

/// The wanted issues of a test, which its run does not report.
final class Issues: @unchecked Sendable {
    @TaskLocal static var current: Issues?

    // SAFETY: the issues are protected by the lock.
    private let lock = NSLock()
    private var all: [Issue] = []

    func add(_ issue: Issue) { lock.withLock { all.append(issue) } }

    var messages: [String] {
        lock.withLock { all.map { $0.comments.map(\.rawValue).joined(separator: " ") } }
    }

    var severities: [Issue.Severity] { lock.withLock { all.map(\.severity) } }

    var paths: [String] { lock.withLock { all.map { $0.sourceLocation?.filePath ?? "?" } } }

    var places: [String] {
        lock.withLock {
            all.map { "\($0.sourceLocation?.fileName ?? "?"):\($0.sourceLocation?.line ?? 0)" }
        }
    }
}

/// A test's objects, retained beyond the scope until `release`.
final class Keep: @unchecked Sendable {
    private let lock = NSLock()
    private var objects: [Any] = []

    var all: [Any] { lock.withLock { objects } }

    func add(_ object: Any) { lock.withLock { objects.append(object) } }

    var isEmpty: Bool { lock.withLock { objects.isEmpty } }

    func drop() {
        let old = lock.withLock {
            let old = objects
            objects = []
            return old
        }
        withExtendedLifetime(old) {}
    }
}
