import Foundation
import Testing

@testable import Tether

/// The calls of Foundation's center.
@Suite struct FoundationInterfaceTests {
    private final class Sidebar: Sendable {
        let log: Log<String>

        init(_ log: Log<String>) {
            self.log = log
        }

        func changed(_ notification: Notification) {
            log.add("changed \(notification.object ?? "nothing")")
        }
        func closed(_ notification: Notification) { log.add("closed") }
    }

    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test func `M1 a block is called for its name and object`() {
        let (log, object) = (log, Sidebar(log))
        let token: any NSObjectProtocol = center.addObserver(
            forName: .sample, object: object, queue: nil
        ) { note in
            log.add("called \((note.object as? Sidebar) === object)")
        }
        center.post(name: .sample, object: object)
        center.post(name: .sample, object: nil)
        center.post(name: .sample, object: NSObject())
        center.post(Notification(name: .sample, object: object))
        center.post(Notification(name: .other, object: object))
        #expect(log.entries == ["called true", "called true"])
        center.removeObserver(token)
        center.post(name: .sample, object: object)
        #expect(log.entries.count == 2)
    }

    @Test func `M5 the object is not retained by a block's registration`() {
        weak var weakObject: NSObject?
        var token: NotificationObserver?
        do {
            let object = NSObject()
            weakObject = object
            token = center.addObserver(forName: .sample, object: object, queue: nil) { _ in }
        }
        #expect(weakObject == nil)
        #expect(token?.isActive == false)
    }

    @Test func `R9 an object's observers are removed for one name, and for all`() {
        let (sidebar, other) = (Sidebar(log), Sidebar(log))
        for observer in [sidebar, other] {
            center.connect(.sample, to: Sidebar.changed, of: observer)
            center.connect(.other, to: Sidebar.closed, of: observer)
        }
        center.removeObserver(sidebar, name: .sample, object: nil)
        center.post(name: .sample, object: 1)
        center.post(name: .other, object: nil)
        #expect(log.entries == ["changed 1", "closed", "closed"])
        center.removeObserver(sidebar)
        center.post(name: .other, object: nil)
        #expect(log.entries.count == 4)
        withExtendedLifetime((sidebar, other)) {}
    }

    @Test func `R3 tokens can be stored, compared and removed as objects`() {
        var tokens: [any NSObjectProtocol] = (0..<3).map { _ in
            center.addObserver(forName: .sample, object: nil, queue: nil) { _ in }
        }
        let set = NSMutableSet()
        for token in tokens { set.add(token) }
        #expect(set.count == 3)
        #expect(tokens[0].isEqual(tokens[0]))
        #expect(!tokens[0].isEqual(tokens[1]))
        set.removeAllObjects()
        #expect(center.core.count == 3)
        tokens.forEach(center.removeObserver)
        #expect(center.isEmpty)
        tokens = []
    }

    @Test func `M4 R9 a removal for a value that can match nothing removes no observer`() {
        struct Unhashable {}
        let sidebar = Sidebar(log)
        let (other, one) = (center.connect(.sample, to: Sidebar.changed, of: sidebar), NSNumber(1))
        let ofOne = center.connect(.sample, from: one, to: Sidebar.changed, of: sidebar)
        center.removeObserver(sidebar, name: nil, object: Unhashable())
        center.removeObserver(sidebar, name: .sample, object: Double.nan)
        #expect(center.core.count == 2)
        center.removeObserver(sidebar, name: nil, object: one)
        #expect([other.isActive, ofOne.isActive] == [true, false])
    }
}
