import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

@Suite struct LeakTrackerTests {
    private let center = ObserverCenter()
    private let leaks = LeakTracker()

    private var found: [String] { leaks.leaks(in: center).map(\.description) }

    // MARK: What it tells

    @Test func `L2 a tracked object that lives is a leak, one that has gone is none`() {
        let line = #line + 1
        var kept: Sidebar? = leaks.track(Sidebar(), "the sidebar")
        #expect(found == ["the sidebar is still alive, tracked at TetherTestingTests/LeakTrackerTests.swift:\(line)"])
        withExtendedLifetime(kept) {}
        kept = nil
        #expect(found == [])
    }

    @Test func `L2 an object without a label is named by its type`() {
        let sidebar = leaks.track(Sidebar())
        #expect(found.count == 1 && found[0].hasPrefix("Sidebar is still alive, tracked at "))
        withExtendedLifetime(sidebar) {}
    }

    @Test func `X1 L2 an object that is tracked in no scope is refused`() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = track(Sidebar())
        }
        let sentence = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(sentence.contains("track(_:): there is no scope in which Sidebar could be tracked at"))
        #expect(sentence.contains("call it in a test with .verifiesNoLeaks"))
    }

    @Test func `L2 tracking keeps nothing alive`() {
        weak let sidebar = leaks.track(Sidebar())
        #expect(sidebar == nil && found == [])
    }

    @Test func `L2 leaks are told in the order of tracking, objects before observers, center by center`() {
        let other = ObserverCenter()
        let (first, second) = (leaks.probe("first"), leaks.probe("second"))
        let tokens = [center.observe(.one) { _ in }, other.observe(.two) { _ in }]
        let told = leaks.leaks(in: other, center).map(\.description)
        #expect(told.count == 4)
        #expect(
            zip(told, ["first is", "second is", "still observing: two", "still observing: one"]).allSatisfy {
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

    @Test func `L4 objects are tracked and asked for from several threads`() {
        let leaks = leaks
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<500 {
                leaks.track(Sidebar())
                _ = leaks.leaks()
            }
        }
        #expect(found == [])
    }

    // MARK: Leaks that were planted, and their repaired twins

    @Test(arguments: [true, false])
    func `L4 a handler that captures its owner is found`(isPlanted: Bool) {
        let line = #line + 4
        do {
            let sidebar = leaks.track(Sidebar(), "the sidebar")
            if isPlanted {
                center.observe(.one, owner: sidebar) { _, _ in sidebar.update() }
            } else {
                center.observe(.one, owner: sidebar) { sidebar, _ in sidebar.update() }
            }
        }
        #expect(found.count == (isPlanted ? 2 : 0))
        guard isPlanted else { return }
        #expect(found[0].hasPrefix("the sidebar is still alive, tracked at TetherTestingTests/"))
        #expect(found[1].hasPrefix("still observing: one from any sender for Sidebar 0x"))
        #expect(found[1].hasSuffix("registered at TetherTestingTests/LeakTrackerTests.swift:\(line)"))
        center.removeObservers()
        #expect(found == [])
    }

    @Test(arguments: [true, false])
    func `L4 an owner that holds a token whose handler captures the owner is found`(isPlanted: Bool) {
        let line = #line + 4
        do {
            let sidebar = leaks.track(Sidebar(), "the sidebar")
            if isPlanted {
                sidebar.token = center.observe(.one) { _ in sidebar.update() }
            } else {
                sidebar.token = center.observe(.one) { [weak sidebar] _ in sidebar?.update() }
            }
        }
        #expect(found.count == (isPlanted ? 2 : 0))
        guard isPlanted else { return }
        #expect(found[0].hasPrefix("the sidebar is still alive"))
        #expect(found[1].hasPrefix("still observing: one from any sender for its token on posting thread"))
        #expect(found[1].hasSuffix("LeakTrackerTests.swift:\(line)"))
        center.removeObservers()
        #expect(found == [])
    }

    @Test(arguments: [true, false])
    func `L4 a captured value that something else keeps is found`(isPlanted: Bool) {
        var kept: [LeakTracker.Probe] = []
        do {
            let sidebar = leaks.track(Sidebar())
            let probe = leaks.probe("the handler's capture")
            if isPlanted { kept.append(probe) }
            center.observe(.one, owner: sidebar) { _, _ in probe.touch() }
        }
        #expect(found.count == (isPlanted ? 1 : 0))
        #expect(found.allSatisfy { $0.hasPrefix("the handler's capture is still alive, tracked at ") })
        kept = []
        #expect(found == [])
    }

    @Test(arguments: [true, false])
    func `L4 an observer left on the center is found, with what it captured`(isPlanted: Bool) {
        let sender = Sidebar()
        let token: NotificationObserver
        let line = #line + 3
        do {
            let probe = leaks.probe("the handler's capture")
            token = center.observe(.one, from: sender, once: true) { _ in probe.touch() }
        }
        if !isPlanted { token.cancel() }
        #expect(found.count == (isPlanted ? 2 : 0))
        if isPlanted {
            #expect(found[0].hasPrefix("the handler's capture is still alive"))
            #expect(found[1].hasPrefix("still observing: one from Sidebar 0x"))
            #expect(found[1].hasSuffix("registered at TetherTestingTests/LeakTrackerTests.swift:\(line) (once)"))
        }
        withExtendedLifetime((token, sender)) {}
    }

    @Test(arguments: [true, false])
    func `L4 a notification that waits on a target keeps its object, which is found`(isPlanted: Bool) {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        let sidebar = leaks.track(Sidebar(), "the owner")
        center.observe(.one, owner: sidebar, on: .dispatchQueue(queue)) { _, _ in }
        do { center.post(name: .one, object: leaks.track(Sidebar(), "the object")) }
        if !isPlanted { OwnerObservers(of: sidebar).cancel() }
        let told = found
        #expect(told.count == (isPlanted ? 3 : 1))
        #expect(told[0].hasPrefix("the owner is still alive"))
        if isPlanted {
            #expect(told[1].hasPrefix("the object is still alive"))
            #expect(told[2].hasSuffix("(1 pending)"))
        }
        queue.resume()
        withExtendedLifetime(sidebar) {}
    }

    @Test(arguments: [true, false])
    func `L4 an observer object that something keeps is found like any other`(isPlanted: Bool) {
        var kept: NotificationObserver?
        do {
            let sidebar = leaks.track(Sidebar())
            let token = leaks.track(center.observe(.one, owner: sidebar) { _, _ in }, "the token")
            if isPlanted { kept = token }
        }
        #expect(found.map { $0.hasPrefix("the token is still alive") } == (isPlanted ? [true] : []))
        #expect(kept?.isActive != true)
        kept = nil
        #expect(found == [])
    }

    private struct Value { let number = 41 }

    @Test func `X1 L2 a value that was cast to AnyObject is refused where it is tracked`() async throws {
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
            #expect(sentence.contains("track(_:): Value(number: 41) is a value in a box, and each cast to AnyObject"))
            #expect(sentence.contains("makes another box; track an object that holds it, or pass a class instance."))
        }
    }

    @Test func `L2 an object that a cast to AnyObject made of a value is tracked like any other`() async {
        let keep = Keep()
        let messages = await planted { for value in [41, "a string"] as [Any] { keep.add(track(value as AnyObject)) } }
        #expect(messages.count == 2 && messages.allSatisfy { $0.contains("is still alive") })
        keep.drop()
    }
}

/// A class as a user would write it.
private final class Sidebar: @unchecked Sendable {
    // SAFETY: each test uses its own on one thread.
    var token: NotificationObserver?

    func update() {}
}

extension Notification.Name {
    fileprivate static let one = Notification.Name("one")
    fileprivate static let two = Notification.Name("two")
}
