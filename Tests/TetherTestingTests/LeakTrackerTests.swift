import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

@Suite(.collectsIssues) struct LeakTrackerTests {
    private let center = ObserverCenter()
    private let leaks = LeakTracker()

    private var found: [String] { leaks.leaks(in: center).map(\.description) }

    // MARK: What it tells

    @Test func `L2 a tracked object that lives is a leak, and a deallocated object is not`() {
        let line = #line + 1
        var kept: Sidebar? = leaks.track(Sidebar(), "the sidebar")
        #expect(
            found == [
                "the sidebar is still alive, tracked at TetherTestingTests/LeakTrackerTests.swift:\(line)"
            ])
        withExtendedLifetime(kept) {}
        kept = nil
        #expect(found == [])
    }

    @Test func `X1 L2 an object that is tracked in no scope is refused`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = track(Sidebar())
        }
        let sentence = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            sentence.contains("track(_:): Sidebar is tracked without a scope at"))
        #expect(sentence.contains("call track(_:) in a test with .verifiesNoLeaks"))
    }

    @Test func `L2 tracking keeps nothing alive`() {
        weak let sidebar = leaks.track(Sidebar())
        #expect(sidebar == nil && found == [])
    }

    @Test func `L2 leaks are reported center by center, objects before observers, in order`() {
        let other = ObserverCenter()
        let (first, second) = (leaks.probe("first"), leaks.probe("second"))
        let tokens = [center.observe(.one) { _ in }, other.observe(.two) { _ in }]
        let told = leaks.leaks(in: other, center).map(\.description)
        #expect(told.count == 4)
        #expect(
            zip(told, ["first is", "second is", "still observing: two", "still observing: one"])
                .allSatisfy {
                    $0.hasPrefix($1)
                })
        #expect(leaks.leaks().count == 2)
        withExtendedLifetime((first, second, tokens)) {}
    }

    @Test func `L4 trackers of parallel tests do not see each other's objects or centers`() {
        let sidebar = leaks.track(Sidebar())
        center.observe(.one, owner: sidebar) { _, _ in }
        #expect(LeakTracker().leaks(in: ObserverCenter()).isEmpty)
        #expect(found.count == 2)
        withExtendedLifetime(sidebar) {}
    }

    // MARK: Leaks that were planted, and their repaired twins

    private struct Value { let number = 41 }

    @Test func `X1 L2 a value cast to AnyObject is refused by track`()
        async throws
    {
        let results = [
            try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = await findLeaks { track(Value() as AnyObject) }
            },
            try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                LeakTracker().track(Value() as AnyObject)
            },
        ]
        for result in results {
            let sentence = String(decoding: result.standardErrorContent, as: UTF8.self)
            #expect(
                sentence.contains(
                    "track(_:): Value(number: 41) is a value in a box, and each cast to AnyObject"))
            #expect(
                sentence.contains(
                    "makes another box; track an object that holds it, or pass a class instance."))
        }
    }

    @Test func `L2 an object that a cast to AnyObject made of a value is tracked like any other`()
        async
    {
        let keep = Keep()
        // On two lines, because similar leaks of a line share a message.
        let messages = await planted {
            keep.add(track(41 as Any as AnyObject))
            keep.add(track("a string" as Any as AnyObject))
        }
        #expect(messages.count == 2 && messages.allSatisfy { $0.contains("is still alive") })
        keep.drop()
    }
}

/// A class of a user.
private final class Sidebar: @unchecked Sendable {
    // SAFETY: each test uses its own object, on one thread.
    var token: NotificationObserver?

    func update() {}
}

extension Notification.Name {
    fileprivate static let one = Notification.Name("one")
    fileprivate static let two = Notification.Name("two")
}
