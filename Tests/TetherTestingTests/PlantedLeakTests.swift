import Dispatch
import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Every kind of leak, planted and found, and its cure, which passes.
@Suite struct PlantedLeakTests {
    final class Model: @unchecked Sendable { var sidebar: AnyObject? }

    final class Sidebar: @unchecked Sendable {
        var token: NotificationObserver?
        var model: Model?
        var reloads = 0
        func reload() { reloads += 1 }
    }

    private let center = ObserverCenter()
    private let file = "TetherTestingTests/PlantedLeakTests.swift"

    // MARK: A handler that captures its owner

    @Test func `L3 of a collection that is captured, the remedy is to capture its elements weakly`() async {
        let center = center
        nonisolated(unsafe) weak var leaked: Sidebar?
        let messages = await planted {
            let sidebars = [Sidebar(), Sidebar()]
            unsafe leaked = sidebars[1]
            center.observe(.modelDidChange, owner: sidebars[1]) { _, _ in withExtendedLifetime(sidebars) {} }
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("which captures a collection, whose `[1]` is it. ") == true)
        #expect(messages.first?.contains("Capture the collection's elements weakly there, ") == true)
        if let leaked = unsafe leaked { OwnerObservers(of: leaked).cancel() }
    }

    private final class Item: Hashable, Sendable {
        static func == (one: Item, other: Item) -> Bool { one === other }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    @Test(arguments: ["set", "keys", "values"])
    func `L2 L3 so it is of a set and of a dictionary's keys and values`(kind: String) async {
        func attach(to center: ObserverCenter) {
            let item = Item()
            // Made at run time, because the compiler lays literals out as constants of another class.
            let captured: any Sendable =
                switch kind {
                case "set": Set([item])
                case "keys": Dictionary(uniqueKeysWithValues: [(item, 1)])
                default: Dictionary(uniqueKeysWithValues: [(1, item)])
                }
            center.observe(.modelDidChange, owner: item) { _, _ in withExtendedLifetime(captured) {} }
        }
        let messages = await plantedOnACenterThatGoes(attach)
        #expect(messages.count == 1)
        #expect(messages.first?.contains("a collection, whose `[…]` is it. ") == true, "\(messages)")
    }

    @Test func `L2 L3 a handler that captures its owner is named, with the line that registers it`() async {
        let center = center
        nonisolated(unsafe) weak var leaked: Sidebar?
        var line = 0
        let messages = await planted {
            let sidebar = Sidebar()
            unsafe leaked = sidebar
            line = #line + 1
            center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.reload() }
        }
        #expect(messages.count == 1)
        #expect(
            messages.first
                == "Sidebar, an owner, observed for at \(file):\(line), is still alive: it is kept by the handler "
                + "registered at \(file):\(line) (modelDidChange), which captures it. Use the owner that the handler is "
                + "handed, or capture it weakly there.")
        if let leaked = unsafe leaked { OwnerObservers(of: leaked).cancel() }
        #expect(unsafe leaked == nil)
    }

    @Test func `L2 the cures of a handler that captures its owner pass: handed in, weak, unowned`() async {
        let center = center
        await verifyNoLeaks {
            let sidebar = Sidebar()
            center.observe(.modelDidChange, owner: sidebar) { sidebar, _ in sidebar.reload() }
            center.observe(.modelDidChange, owner: sidebar) { [weak sidebar] _, _ in sidebar?.reload() }
            center.observe(.modelDidChange, owner: sidebar) { [unowned sidebar] _, _ in sidebar.reload() }
            center.post(name: .modelDidChange, object: nil)
            #expect(sidebar.reloads == 3)
        }
        #expect(center.audit().isEmpty)
    }

    @Test func `L2 L3 so is one whose owner goes only because its center goes with the test`() async {
        var line = 0
        nonisolated(unsafe) weak var sidebarOfTest: Sidebar?
        let messages = await planted {
            let (center, sidebar) = (ObserverCenter(), Sidebar())
            unsafe sidebarOfTest = sidebar
            line = #line + 1
            center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.reload() }
        }
        #expect(unsafe sidebarOfTest == nil)
        #expect(
            messages == [
                "Sidebar, an owner, observed for at \(file):\(line), went only because its center did: until then it was kept "
                    + "by the handler registered at \(file):\(line) (modelDidChange), which captures it. With a center that "
                    + "stays, such as ObserverCenter.default, it leaks. Use the owner that the handler is handed, or capture "
                    + "it weakly there."
            ])
    }

    @Test func `L2 an owner that is kept on purpose, or by its test, until its center goes is no leak`() async {
        let kept = Sidebar()
        await verifyNoLeaks {
            let (center, sidebar) = (ObserverCenter(), Sidebar())
            center.observe(.modelDidChange, owner: sidebar) { sidebar, _ in sidebar.reload() }
            center.observe(.modelDidChange, owner: kept) { _, _ in kept.reload() }
            LeakTracker.current?.keep(kept)
            center.post(name: .modelDidChange, object: nil)
        }
        #expect(kept.reloads == 1)
    }

    @Test func `L2 one that its handler captured and something else keeps is told of once`() async {
        let holder = Model()
        let messages = await planted {
            let (center, sidebar) = (ObserverCenter(), Sidebar())
            holder.sidebar = sidebar
            center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.reload() }
        }
        #expect(messages.count == 1 && messages.first?.contains("is still alive") == true)
    }

    // MARK: A handler that captures an object which holds the owner

    @Test func `L2 L3 a handler that captures an object which holds the owner is named, with the property`() async {
        let center = center
        let model = Model()
        let messages = await planted {
            let sidebar = Sidebar()
            model.sidebar = sidebar
            center.observe(.modelDidChange, owner: sidebar) { _, _ in _ = model.sidebar }
        }
        #expect(messages.first?.contains("(modelDidChange), which captures Model, whose `sidebar` is it. ") == true)
        model.sidebar = nil
        #expect(center.audit().isEmpty)
    }

    @Test func `L2 a weak capture of an object which holds the owner passes`() async {
        let center = center
        await verifyNoLeaks {
            let (sidebar, model) = (Sidebar(), Model())
            sidebar.model = model
            center.observe(.modelDidChange, owner: sidebar) { [weak model] _, _ in _ = model?.sidebar }
            center.post(name: .modelDidChange, object: nil)
        }
    }

    // MARK: An object that holds the token whose handler captures it

    @Test func `L2 L3 an object that holds the token whose handler captures it is named`() async {
        let center = center
        nonisolated(unsafe) weak var leaked: Sidebar?
        var line = 0
        let messages = await planted {
            let sidebar = Sidebar()
            unsafe leaked = sidebar
            line = #line + 1
            sidebar.token = center.observe(.modelDidChange) { _ in sidebar.reload() }
        }
        #expect(
            messages.first
                == "the observer of modelDidChange registered at \(file):\(line) is still active: its own handler "
                + "captures Sidebar, whose `token` is this observer's token. Capture Sidebar weakly there, or cancel() the "
                + "observer before the test ends.")
        let last = unsafe leaked
        last?.token = nil
        #expect(center.audit().isEmpty)
    }

    @Test func `L2 L3 an object in such a ring is named too, if it is tracked`() async {
        let center = center
        nonisolated(unsafe) weak var leaked: Sidebar?
        let messages = await planted {
            let sidebar = track(Sidebar())
            unsafe leaked = sidebar
            sidebar.token = center.observe(.modelDidChange) { _ in sidebar.reload() }
        }
        #expect(messages.count == 2)
        #expect(messages.first?.hasPrefix("Sidebar, tracked at \(file):") == true)
        #expect(messages.first?.hasSuffix("(modelDidChange), which captures it. Capture it weakly there.") == true)
        let last = unsafe leaked
        last?.token = nil
    }

    @Test func `L2 an object that holds the token whose handler captures it weakly passes`() async {
        let center = center
        await verifyNoLeaks {
            let sidebar = track(Sidebar())
            sidebar.token = center.observe(.modelDidChange) { [weak sidebar] _ in sidebar?.reload() }
            center.post(name: .modelDidChange, object: nil)
            #expect(sidebar.reloads == 1)
        }
    }

    // MARK: A token in a global

    @Test func `L2 L3 a token that something outside the test holds is told of, and how many do`() async {
        let center = center
        let global = Keep()
        var line = 0
        let messages = await planted {
            line = #line + 1
            global.add(center.observe(.modelDidChange) { _ in })
        }
        #expect(
            messages.first?.hasPrefix(
                "the observer of modelDidChange registered at \(file):\(line) is still active: its token has 1 strong reference, which nothing of this scope holds."
            ) == true)
        global.drop()
        await verifyNoLeaks {
            global.add(center.observe(.modelDidChange) { _ in })
            global.drop()
        }
    }

    @Test func `L2 L3 an owner that something outside the test holds is told of, with its count`() async {
        let center = center
        let global = Keep()
        let messages = await planted {
            let sidebar = Sidebar()
            global.add(sidebar)
            center.observe(.modelDidChange, owner: sidebar) { sidebar, _ in sidebar.reload() }
        }
        #expect(messages.first?.contains(": it has 1 strong reference, and none of them was found in ") == true)
        global.drop()
        #expect(center.audit().isEmpty)
    }

    // MARK: A queue that never drains

    @Test func `L2 L3 a delivery on a queue that never runs is told of, with queue and handler`() async {
        let center = center
        let queue = DispatchQueue(label: "never", attributes: .initiallyInactive)
        let model = Model()
        var line = 0
        let keep = Keep()
        let messages = await planted {
            line = #line + 1
            keep.add(center.observe(.modelDidChange, on: .dispatchQueue(queue)) { _ in })
            center.post(name: .modelDidChange, object: track(model))
        }
        let handler = "the handler registered at \(file):\(line) (modelDidChange)"
        #expect(messages.count == 3)
        #expect(
            messages.contains {
                $0.hasPrefix("still waiting for 1 delivery pending on dispatch queue never for \(handler)")
            })
        #expect(
            messages.first?.contains(
                "it is kept by a notification, modelDidChange, that is pending on dispatch queue never for \(handler)")
                == true)
        keep.drop()
        queue.activate()
    }

    @Test func `L2 a delivery on a queue is waited for`() async {
        let center = center
        let queue = DispatchQueue(label: "slow")
        let gate = DispatchSemaphore(value: 0)
        let keep = Keep()
        await verifyNoLeaks {
            let sidebar = track(Sidebar())
            let model = track(Model())
            queue.async { _ = gate.wait(timeout: .now() + 300) }
            center.observe(.modelDidChange, owner: sidebar, on: .dispatchQueue(queue), once: true) { sidebar, _ in
                sidebar.reload()
                keep.drop()
            }
            keep.add(sidebar)
            center.post(name: .modelDidChange, object: model)
            // Nothing but the delivery, when it comes, lets the sidebar go.
            Thread.detachNewThread { gate.signal() }
        }
    }

    // MARK: A local variable

    @Test func `L3 of an object that a local variable of the test keeps that is said to be possible`() async {
        let (center, sidebar) = (center, Sidebar())
        let messages = await planted {
            track(sidebar)
            sidebar.token = center.observe(.modelDidChange) { _ in }
        }
        #expect(messages.count == 2)
        #expect(messages.first?.contains("Look for it in a local variable outside of what is verified, ") == true)
        sidebar.token = nil
    }
}
