import Foundation
import Synchronization
import Testing
import Tether
import TetherVerification

@testable import TetherTesting

/// Leaking programs, each with the sentence for its leak, and their cures, which pass.
@Suite(.collectsIssues) struct PlantedLeakTests {
    final class Model: @unchecked Sendable { var sidebar: AnyObject? }

    final class Sidebar: Touched, Hashable, @unchecked Sendable {
        var token: NotificationObserver?
        var model: Model?

        func touch() {}

        static func == (one: Sidebar, other: Sidebar) -> Bool { one === other }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    final class Node: @unchecked Sendable {
        var next: Node?
        weak var previous: Node?
    }

    protocol Touched: Sendable { func touch() }

    private struct Failure: Error { let sidebar: Sidebar }

    private final class Locked: Sendable {
        let sidebar: Mutex<Sidebar?>
        init(_ sidebar: Sidebar) { self.sidebar = Mutex(sidebar) }
    }

    /// The observers of a program, and the objects kept beyond its end.
    struct Scene: Sendable {
        let center: any NotifyingCenter
        let keep = Keep()
        let ring = Ring()

        /// A retain cycle, which the test breaks.
        final class Ring: @unchecked Sendable { weak var node: Node? }

        /// Attaches an observer to a sidebar.
        func attach(
            _ sidebar: Sidebar, line: UInt = #line, _ handler: @escaping @Sendable (Sidebar) -> Void
        ) {
            center.observe(.modelDidChange, owner: sidebar, line: line) { sidebar, _ in
                handler(sidebar)
            }
        }

        func end() {
            keep.drop()
            center.removeAllObservers()
            ring.node?.next = nil
        }
    }

    struct Program: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Parts of the findings, in order.
        let findings: [String]
        let body: @Sendable (Scene) -> Void

        init(
            _ description: String, _ findings: String..., body: @escaping @Sendable (Scene) -> Void
        ) {
            testDescription = description
            self.findings = findings
            self.body = body
        }
    }

    enum Place: CaseIterable {
        case staying, stayingFoundation, going, goingFoundation, goingForeign

        var isGoing: Bool { self != .staying && self != .stayingFoundation }

        func makeCenter() -> any NotifyingCenter {
            switch self {
            case .staying, .going: ObserverCenter()
            case .stayingFoundation, .goingFoundation: NotificationCenter()
            case .goingForeign: ForgetfulCenter()
            }
        }
    }

    // MARK: Handlers that capture their owner

    /// The sentence about objects released by the end of the center.
    private static let remedyOfEnd =
        "With a center that stays, such as ObserverCenter.default, it leaks. Use the handler's owner argument, or "

    /// The way to the owner, and the remedy where the center stays.
    static let captures = [
        Program(
            "the owner", "captures it. ",
            "Use the handler's owner argument, or capture it"
        ) {
            scene in
            let sidebar = Sidebar()
            scene.center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.touch() }
        },
        Program("behind a protocol", "captures it. ") { scene in
            let sidebar = Sidebar()
            let any: any Touched = sidebar
            scene.center.observe(.modelDidChange, owner: sidebar) { _, _ in any.touch() }
        },
        Program("an object that holds the owner", "captures Model, whose `sidebar` refers to it. ")
        {
            scene in
            let (sidebar, model) = (Sidebar(), Model())
            model.sidebar = sidebar
            scene.center.observe(.modelDidChange, owner: sidebar) { _, _ in
                withExtendedLifetime(model) {}
            }
        },
        Program(
            "an array", "captures a collection, whose `[1]` refers to it. ",
            "Capture the collection's elements weakly there, "
        ) { scene in
            let sidebars = [Sidebar(), Sidebar()]
            scene.center.observe(.modelDidChange, owner: sidebars[1]) { _, _ in
                withExtendedLifetime(sidebars) {}
            }
        },
        // Made at run time, because the compiler lays literals out as constants of another class.
        Program("a set", "a collection, whose `[…]` refers to it. ") { scene in
            let sidebar = Sidebar()
            let set = Set([sidebar])
            scene.center.observe(.modelDidChange, owner: sidebar) { _, _ in
                withExtendedLifetime(set) {}
            }
        },
        Program("a dictionary's keys", "a collection, whose `[…]` refers to it. ") { scene in
            let sidebar = Sidebar()
            let keys = Dictionary(uniqueKeysWithValues: [(sidebar, 1)])
            scene.center.observe(.modelDidChange, owner: sidebar) { _, _ in
                withExtendedLifetime(keys) {}
            }
        },
        Program("a dictionary's values", "a collection, whose `[…]` refers to it. ") { scene in
            let sidebar = Sidebar()
            let values = Dictionary(uniqueKeysWithValues: [(1, sidebar)])
            scene.center.observe(.modelDidChange, owner: sidebar) { _, _ in
                withExtendedLifetime(values) {}
            }
        },
    ]

    @Test(arguments: captures, Place.allCases)
    func `L2 L3 F1 a handler that captures its owner is named, with the path and remedy`(
        program: Program, place: Place
    ) async {
        let staying = place.isGoing ? nil : Scene(center: place.makeCenter())
        let messages = await planted {
            let scene = staying ?? Scene(center: place.makeCenter())
            program.body(scene)
            withExtendedLifetime(scene) {}
        }
        let handler = "the handler registered at TetherTestingTests/PlantedLeakTests.swift:"
        let reason =
            place.isGoing
            ? "was deallocated only because its center was" : "is still alive"
        #expect(messages.count == 1)
        #expect(messages.first?.hasPrefix("Sidebar \(reason): \(handler)") == true, "\(messages)")
        let parts = place.isGoing ? [program.findings[0], Self.remedyOfEnd] : program.findings
        for part in parts { #expect(messages.first?.contains(part) == true, "\(messages)") }
        staying?.end()
        #expect(staying?.center.audit().isEmpty != false)
    }

    static let hiddenCaptures = [
        Program("a tuple") { scene in
            let (sidebar, tuple) = (Sidebar(), PlantedLeakTests.values())
            scene.center.observe(.modelDidChange, owner: sidebar) { _, _ in
                tuple.1()
                print(tuple.0)
                sidebar.touch()
            }
        },
        Program("an error") { scene in
            let sidebar = Sidebar()
            let error: any Error = Failure(sidebar: sidebar)
            scene.center.observe(.modelDidChange, owner: sidebar) { _, _ in print(error) }
        },
        Program("a mutex") { scene in
            let sidebar = Sidebar()
            let locked = Locked(sidebar)
            scene.center.observe(.modelDidChange, owner: sidebar) { _, _ in
                withExtendedLifetime(locked) {}
            }
        },
        Program("a stream") { scene in
            let sidebar = Sidebar()
            let (stream, continuation) = AsyncStream<Sidebar>.makeStream()
            continuation.yield(sidebar)
            scene.center.observe(.modelDidChange, owner: sidebar) { _, _ in
                withExtendedLifetime((stream, continuation)) {}
            }
        },
    ]

    private static func values() -> (Int, @Sendable () -> Void) { (Int.random(in: 0..<5), {}) }

    @Test(arguments: hiddenCaptures)
    func `L2 L3 an owner behind unreadable memory is named at its center's deallocation`(
        program: Program
    ) async {
        let messages = await planted { program.body(Scene(center: ObserverCenter())) }
        #expect(messages.count == 1)
        // An optimised build captures the parts.
        #expect(messages.first?.contains("(modelDidChange) captures it") == true, "\(messages)")
    }

    // MARK: What else holds observers and objects

    static let holders = [
        Program(
            "an object holds the token whose handler captures it",
            "is still active: its own handler captures Sidebar, whose `token` refers to this observer's token. Capture Sidebar "
                + "weakly there, or cancel() the observer before the test ends."
        ) { scene in
            let sidebar = Sidebar()
            sidebar.token = scene.center.observe(.modelDidChange) { _ in sidebar.touch() }
        },
        Program(
            "a tracked object holds the token whose handler captures it",
            "(modelDidChange) captures it. Capture it weakly there.", "is still active"
        ) { scene in
            let sidebar = track(Sidebar())
            sidebar.token = scene.center.observe(.modelDidChange) { _ in sidebar.touch() }
        },
        Program(
            "a token outside",
            "its token has 1 strong reference. Nothing in this scope holds it."
        ) { scene in
            scene.keep.add(scene.center.observe(.modelDidChange) { _ in })
        },
        Program(
            "an owner outside",
            ": it has 1 strong reference. No handler, notification or object of this scope holds it."
        ) { scene in
            let sidebar = Sidebar()
            scene.keep.add(sidebar)
            scene.attach(sidebar) { $0.touch() }
        },
        Program(
            "a ring of two",
            ": it retains itself: its `next.next` refers to it. Make one of these weak."
        ) { scene in
            let (first, second) = (track(Node()), Node())
            first.next = second
            second.next = first
            scene.ring.node = first
        },
        Program(
            "an object of another that is left", "captures Sidebar, whose `model` refers to it.",
            "captures it. "
        ) { scene in
            let sidebar = Sidebar()
            sidebar.model = track(Model())
            scene.center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.touch() }
        },
    ]

    @Test(arguments: holders)
    func `L2 L3 each object and observer that is left is named once, with its holder`(
        program: Program
    ) async {
        let scene = Scene(center: ObserverCenter())
        // The sentences of the scope's own search; `HolderKindTests` has those of all memory.
        let messages = await MemorySearch.$isOn.withValue(false) {
            await planted { program.body(scene) }
        }
        #expect(messages.count == program.findings.count)
        for (message, part) in zip(messages, program.findings) { #expect(message.contains(part)) }
        scene.end()
        #expect(scene.center.audit().isEmpty)
    }

    @Test func `L2 L3 a delivery on a queue that never runs is named, with queue and handler`()
        async
    {
        let (center, keep) = (ObserverCenter(), Keep())
        let queue = DispatchQueue(label: "never", attributes: .initiallyInactive)
        let line = #line + 2
        let messages = await planted {
            keep.add(center.observe(.modelDidChange, on: .dispatchQueue(queue)) { _ in })
            center.post(name: .modelDidChange, object: track(Model()))
        }
        let handler =
            "the handler registered at TetherTestingTests/PlantedLeakTests.swift:\(line) (modelDidChange)"
        let pending = "pending on dispatch queue never for \(handler)"
        #expect(messages.count == 3)
        #expect(messages.contains { $0.hasPrefix("still waiting for 1 delivery \(pending)") })
        #expect(
            messages.first?.contains("the notification modelDidChange, \(pending), retains it")
                == true)
        keep.drop()
        queue.activate()
    }

    @Test func `L3 an object in a local variable of the test is said to be kept by one, possibly`()
        async
    {
        let (center, sidebar) = (ObserverCenter(), Sidebar())
        // The sentence where the memory of the process cannot be searched.
        let messages = await MemorySearch.$isOn.withValue(false) {
            await planted {
                track(sidebar)
                sidebar.token = center.observe(.modelDidChange) { _ in }
            }
        }
        #expect(messages.count == 2)
        let guesses = "Look for: a local variable outside the body, "
        #expect(messages.first?.contains(guesses) == true)
        sidebar.token = nil
    }

    // MARK: Cures

    static let cures = [
        Program("the owner is handed in") { scene in scene.attach(Sidebar()) { $0.touch() } },
        Program("weak capture") { scene in
            let sidebar = Sidebar()
            scene.attach(sidebar) { [weak sidebar] _ in sidebar?.touch() }
        },
        Program("unowned capture") { scene in
            let sidebar = Sidebar()
            scene.attach(sidebar) { [unowned sidebar] _ in sidebar.touch() }
        },
        Program("weak capture of an object that holds the owner") { scene in
            let (sidebar, model) = (Sidebar(), Model())
            sidebar.model = model
            scene.attach(sidebar) { [weak model] _ in _ = model?.sidebar }
        },
        Program("weak capture of the object that holds the token") { scene in
            let sidebar = track(Sidebar())
            sidebar.token = scene.center.observe(.modelDidChange) { [weak sidebar] _ in
                sidebar?.touch()
            }
        },
        Program("a ring with a weak link") { _ in
            let (first, second) = (track(Node()), track(Node()))
            first.next = second
            second.previous = first
        },
        Program("receiver, sender and owner") { scene in
            let (receiver, sender, owner) = (track(Sidebar()), track(Sidebar()), track(Sidebar()))
            scene.center.connect(.modelDidChange, to: Sidebar.touch, of: receiver, owner: owner)
            scene.center.connect(.modelDidChange, from: sender, to: Sidebar.touch, of: owner)
        },
        Program("an owner that is kept on purpose") { scene in
            let sidebar = Sidebar()
            scene.attach(sidebar) { $0.touch() }
            LeakTracker.current?.keep(sidebar)
            scene.keep.add(sidebar)
        },
    ]

    @Test(arguments: cures, Place.allCases) func `L2 F1 a program that leaves nothing passes`(
        program: Program, place: Place
    ) async {
        let staying = place.isGoing ? nil : Scene(center: place.makeCenter())
        await verifyNoLeaks { program.body(staying ?? Scene(center: place.makeCenter())) }
        staying?.end()
        #expect(staying?.center.audit().isEmpty != false)
    }
}

/// A foreign center that retains closures until its own deallocation.
private final class ForgetfulCenter: NotifyingCenter {
    private struct Registration: NotifyingRegistration { func cancel() {} }

    private let handlers = Locked<[@Sendable (Notification) -> Void]>([])

    func register(
        name: Notification.Name?, sender: AnyObject?,
        handler: @escaping @Sendable (Notification) -> Void
    ) -> any NotifyingRegistration {
        handlers.withLock { $0.append(handler) }
        return Registration()
    }
}
