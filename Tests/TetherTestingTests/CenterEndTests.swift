import Dispatch
import Foundation
import Synchronization
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Owners that live when their center goes, and handlers that lead to them.
@Suite struct CenterEndTests {
    final class Model: @unchecked Sendable {
        var delegate: Sidebar?
        func touch() {}
    }

    private protocol Touched: Sendable {
        func touch()
    }

    final class Sidebar: Touched {
        func touch() {}
    }

    final class Item: @unchecked Sendable {
        var items: [Item] = []
    }

    @Test func `L2 an owner that a property led to, until the test set it, is no leak`() async {
        await verifyNoLeaks {
            let (model, sidebar) = (Model(), Sidebar())
            model.delegate = sidebar
            do {
                let center = ObserverCenter()
                center.observe(.modelDidChange, owner: sidebar) { _, _ in model.touch() }
                center.post(name: .modelDidChange, object: nil)
            }
            model.delegate = nil
        }
    }

    @Test
    func `L2 L3 one that a property leads to, and that goes with its center, would leak on one that stays`() async {
        func attach(to center: ObserverCenter) {
            let model = Model()
            model.delegate = Sidebar()
            center.observe(.modelDidChange, owner: model.delegate!) { _, _ in model.touch() }
        }
        let messages = await plantedOnACenterThatGoes(attach)
        #expect(messages.count == 1)
        #expect(messages.first?.contains("went only because its center did") == true)
        #expect(messages.first?.contains("which captures Model, whose `delegate` is it") == true)
    }

    @Test
    func `L2 L3 one that its handler captures would leak, though the test holds it longer than its center`() async {
        let messages = await planted {
            let sidebar = Sidebar()
            do {
                let center = ObserverCenter()
                center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.touch() }
            }
            sidebar.touch()
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("which captures it. With a center that stays") == true)
    }

    @Test func `L2 L3 the handlers' own captures are looked at before what a large model leads to`() async {
        // More objects than one search reads.
        let items = (0..<250_000).map { _ in Item() }
        for number in 1..<items.count { items[number / 3].items.append(items[number]) }
        let root = items[0]
        let messages = await planted {
            let (center, sidebar) = (ObserverCenter(), Sidebar())
            center.observe(.modelDidChange, owner: sidebar) { _, _ in withExtendedLifetime(root) {} }
            center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.touch() }
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("which captures it. With a center that stays") == true)
    }

    @Test func `L2 L3 an owner that goes with its center is told of, though the search reached its limit`() async {
        func attach(_ model: Model, to center: ObserverCenter) {
            model.delegate = model.delegate ?? Sidebar()
            center.observe(.modelDidChange, owner: model.delegate!) { _, _ in model.touch() }
        }
        let messages = await planted(explanation: .zero) {
            let (center, model, clean) = (ObserverCenter(), Model(), Sidebar())
            center.observe(.modelDidChange, owner: clean) { clean, _ in clean.touch() }
            for _ in 1...2 { attach(model, to: center) }
        }
        #expect(messages.count == 1)
        #expect(
            messages.first?.contains(
                "went only because its center did: until then something kept it that a handler of the center captures, or "
                    + "that such a capture leads to; what it is is untold, because the limit for explanations") == true)
        #expect(messages.first?.contains("set a longer one (explanation:). With a center that stays") == true)
    }

    @Test func `L2 centers that have no observer of a test take none of its time to look`() async {
        let messages = await planted(explanation: .seconds(1)) {
            let (center, sidebars) = (ObserverCenter(), (0..<3000).map { _ in Sidebar() })
            for sidebar in sidebars { center.observe(.modelDidChange, owner: sidebar) { _, _ in } }
            for _ in 0..<3000 { _ = ObserverCenter() }
            let sidebar = Sidebar()
            center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.touch() }
            for sidebar in sidebars { OwnerObservers(of: sidebar).cancel() }
            withExtendedLifetime(center) {}
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("which captures it. With a center that stays") == true, "\(messages)")
    }

    private struct Failure: Error { let sidebar: Sidebar }

    private final class Guarded: Sendable {
        let sidebar: Mutex<Sidebar?>
        init(_ sidebar: Sidebar) { self.sidebar = Mutex(sidebar) }
    }

    private static func values() -> (Int, @Sendable () -> Void) { (Int.random(in: 0..<5), {}) }

    @Test(arguments: ["tuple", "error", "mutex", "stream"])
    func `L2 L3 one that a handler captures behind what cannot be looked into is told of all the same`(
        kind: String
    ) async {
        func attach(to center: ObserverCenter) {
            let (sidebar, name) = (Sidebar(), Notification.Name.modelDidChange)
            switch kind {
            case "tuple":
                let tuple = CenterEndTests.values()
                center.observe(name, owner: sidebar) { _, _ in
                    tuple.1()
                    print(tuple.0)
                    sidebar.touch()
                }
            case "error":
                let error: any Error = Failure(sidebar: sidebar)
                center.observe(name, owner: sidebar) { _, _ in print(error) }
            case "mutex":
                let guarded = Guarded(sidebar)
                center.observe(name, owner: sidebar) { _, _ in withExtendedLifetime(guarded) {} }
            default:
                let (stream, continuation) = AsyncStream<Sidebar>.makeStream()
                continuation.yield(sidebar)
                center.observe(name, owner: sidebar) { _, _ in withExtendedLifetime((stream, continuation)) {} }
            }
        }
        let messages = await plantedOnACenterThatGoes(attach)
        #expect(messages.count == 1)
        // An optimised build captures the parts.
        #expect(messages.first?.contains(", which captures it") == true, "\(messages)")
    }

    @Test(arguments: ["pending", "handler", "token", "call", "async call"])
    func `L2 one that something else of the center keeps goes with it, whatever its handler captures`(
        keeper: String
    ) async {
        // What is under way returns; how soon is for whoever else has the processors to say.
        await verifyNoLeaks(within: .seconds(300), release: .seconds(300)) {
            let (center, target, other) = (ObserverCenter(), ManualTarget(), Sidebar())
            let (isRunning, mayReturn) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
            var token: NotificationObserver?
            func attach() async {
                let (sidebar, tuple) = (Sidebar(), CenterEndTests.values())
                center.observe(.modelDidChange, owner: sidebar) { _, _ in
                    tuple.1()
                    print(tuple.0)
                }
                switch keeper {
                case "pending":
                    center.observe(.modelDidClose, owner: other, on: target.target) { _, _ in }
                    center.post(name: .modelDidClose, object: sidebar)
                case "handler": center.observe(.modelDidClose, owner: other) { _, _ in sidebar.touch() }
                case "call":
                    center.observe(.modelDidClose, owner: sidebar) { _, _ in
                        isRunning.continuation.yield()
                        _ = mayReturn.wait(timeout: .now() + 300)
                    }
                    Thread.detachNewThread { center.post(name: .modelDidClose, object: nil) }
                case "async call":
                    center.observe(.modelDidClose, owner: sidebar) { _, _ in
                        isRunning.continuation.yield()
                        while !Task.isCancelled { try? await Task.sleep(for: .seconds(300)) }
                    }
                    center.post(name: .modelDidClose, object: nil)
                default: token = center.observe(.modelDidClose) { _ in sidebar.touch() }
                }
                // While the owner is there still, without which there is no call.
                if keeper.contains("call") { for await _ in isRunning.stream { break } }
                sidebar.touch()
            }
            await attach()
            withExtendedLifetime((center, other, token)) {}
            mayReturn.signal()
        }
    }

    private final class Ending: Sendable {
        let sidebar = Sidebar()
        deinit { OwnerObservers(of: sidebar).cancel() }
    }

    @Test func `L2 one that another handler's captures stop the observers of, as they go, is no leak`() async {
        await verifyNoLeaks {
            let (center, other) = (ObserverCenter(), Sidebar())
            func attach() {
                let ending = Ending()
                center.observe(.modelDidChange, owner: other) { _, _ in withExtendedLifetime(ending) {} }
                center.observe(.modelDidClose, owner: ending.sidebar) { sidebar, _ in sidebar.touch() }
            }
            attach()
            withExtendedLifetime(center) {}
            other.touch()
        }
    }

    @Test(arguments: ["once", "stopping", "stopping all"])
    func `L2 one that its handler captures, and lets go of by a delivery that the center's end drops, is no leak`(
        kind: String
    ) async {
        await verifyNoLeaks {
            let (center, target) = (ObserverCenter(), ManualTarget())
            func attach() {
                let sidebar = Sidebar()
                if kind == "stopping all" {
                    center.observe(.modelDidClose, owner: sidebar) { _, _ in sidebar.touch() }
                    center.observe(.modelDidChange, owner: sidebar, on: target.target) { sidebar, _ in
                        OwnerObservers(of: sidebar).cancel()
                    }
                    return
                }
                center.observe(.modelDidChange, owner: sidebar, on: target.target, once: kind == "once") { _, _ in
                    if kind == "stopping" { OwnerObservers(of: sidebar).cancel() }
                    sidebar.touch()
                }
            }
            attach()
            center.post(name: .modelDidChange, object: nil)
            withExtendedLifetime(center) {}
        }
    }

    @Test func `L2 L3 two whose handlers capture one another would leak`() async {
        let messages = await plantedOnACenterThatGoes { center in
            let (one, other) = (Sidebar(), Sidebar())
            center.observe(.modelDidChange, owner: one) { _, _ in other.touch() }
            center.observe(.modelDidClose, owner: other) { _, _ in one.touch() }
        }
        #expect(messages.count == 2)
        #expect(
            messages.allSatisfy {
                $0.contains("which captures it, and whose owner it keeps by its own. With a center that stays")
            })
    }

    @Test func `L2 one that the variable of a handler held, until the test set it, is no leak`() async {
        await verifyNoLeaks {
            nonisolated(unsafe) var sidebar: Sidebar? = Sidebar()
            do {
                let center = ObserverCenter()
                unsafe center.observe(.modelDidChange, owner: sidebar!) { _, _ in unsafe sidebar?.touch() }
            }
            unsafe sidebar = nil
        }
    }

    @Test func `L2 L3 one that a handler captures behind a protocol would leak`() async {
        let messages = await planted {
            let sidebar = Sidebar()
            do {
                let (center, any): (ObserverCenter, any Touched) = (ObserverCenter(), sidebar)
                center.observe(.modelDidChange, owner: sidebar) { _, _ in any.touch() }
            }
            sidebar.touch()
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("which captures it. With a center that stays") == true)
    }

    @Test func `L2 an owner that outlives its center is no leak, though the search reached its limit`() async {
        await verifyNoLeaks(explanation: .zero) {
            let sidebar = Sidebar()
            do {
                let center = ObserverCenter()
                center.observe(.modelDidChange, owner: sidebar) { sidebar, _ in sidebar.touch() }
            }
            sidebar.touch()
        }
    }
}
