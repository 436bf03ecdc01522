import Dispatch
import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Owners that outlive their center, and handlers that retain them.
@Suite(.collectsIssues) struct CenterEndTests {
    final class Model: @unchecked Sendable {
        var delegate: Sidebar?
        func touch() {}
    }

    final class Sidebar: Sendable {
        func touch() {}
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

    final class Panel: @unchecked Sendable {
        var token: NotificationObserver?
        func touch() {}
    }

    @Test func `L2 L3 a token that its own handler keeps until the center ends is a leak`() async {
        let line = #line + 4
        let messages = await planted {
            let center = ObserverCenter()
            let panel = Panel()
            panel.token = center.observe(.modelDidChange) { _ in panel.touch() }
        }
        #expect(
            messages == [
                "the observer of modelDidChange registered at TetherTestingTests/CenterEndTests.swift:"
                    + "\(line) ended only because its center was deallocated: its own handler captures "
                    + "Panel, whose `token` refers to this observer's token. With a center that stays, such as "
                    + "ObserverCenter.default, it leaks. Capture Panel weakly there, or cancel() the "
                    + "observer before the test ends."
            ])
    }

    @Test func `L2 a token that a test keeps until after its center ended is no leak`() async {
        await verifyNoLeaks {
            let panel = Panel()
            do {
                let center = ObserverCenter()
                panel.token = center.observe(.modelDidChange) { [weak panel] _ in panel?.touch() }
                center.post(name: .modelDidChange, object: nil)
            }
            panel.touch()
        }
    }

    @Test func `L2 centers without an observer of a test take no time of the test`() async {
        let messages = await planted(holderSearch: .seconds(1)) {
            let (center, sidebars) = (ObserverCenter(), (0..<3000).map { _ in Sidebar() })
            for sidebar in sidebars { center.observe(.modelDidChange, owner: sidebar) { _, _ in } }
            for _ in 0..<3000 { _ = ObserverCenter() }
            let sidebar = Sidebar()
            center.observe(.modelDidChange, owner: sidebar) { _, _ in sidebar.touch() }
            for sidebar in sidebars { OwnerObservers(of: sidebar).cancel() }
            withExtendedLifetime(center) {}
        }
        #expect(messages.count == 1)
        #expect(
            messages.first?.contains("captures it. With a center that stays") == true,
            "\(messages)")
    }

    private static func values() -> (Int, @Sendable () -> Void) { (Int.random(in: 0..<5), {}) }

    @Test(arguments: ["pending", "handler", "token", "call", "async call"])
    func `L2 an owner with another holder in its center is no leak, whatever is captured`(
        keeper: String
    ) async {
        // Running handlers return; their time depends on the load of the processors.
        await verifyNoLeaks(limits: .init(deliveryWait: .seconds(300), releaseWait: .seconds(300)))
        {
            let (center, target, other) = (ObserverCenter(), ManualTarget(), Sidebar())
            let (isRunning, mayReturn) = (
                AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0)
            )
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
                case "handler":
                    center.observe(.modelDidClose, owner: other) { _, _ in sidebar.touch() }
                case "call":
                    center.observe(.modelDidClose, owner: sidebar) { _, _ in
                        isRunning.continuation.yield()
                        mayReturn.wait()
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

    @Test(arguments: ["once", "stopping", "stopping all"])
    func `L2 an owner in a handler's captures is no leak if the center's end drops these`(
        kind: String
    ) async {
        await verifyNoLeaks {
            let (center, target) = (ObserverCenter(), ManualTarget())
            func attach() {
                let sidebar = Sidebar()
                if kind == "stopping all" {
                    center.observe(.modelDidClose, owner: sidebar) { _, _ in sidebar.touch() }
                    center.observe(.modelDidChange, owner: sidebar, on: target.target) {
                        sidebar, _ in
                        OwnerObservers(of: sidebar).cancel()
                    }
                    return
                }
                center.observe(
                    .modelDidChange, owner: sidebar, on: target.target, once: kind == "once"
                ) { _, _ in
                    if kind == "stopping" { OwnerObservers(of: sidebar).cancel() }
                    sidebar.touch()
                }
            }
            attach()
            center.post(name: .modelDidChange, object: nil)
            withExtendedLifetime(center) {}
        }
    }

    @Test func `L2 an owner that a handler's variable held, until the test set it, is no leak`()
        async
    {
        await verifyNoLeaks {
            nonisolated(unsafe) var sidebar: Sidebar? = Sidebar()
            do {
                let center = ObserverCenter()
                unsafe center.observe(.modelDidChange, owner: sidebar!) { _, _ in
                    unsafe sidebar?.touch()
                }
            }
            unsafe sidebar = nil
        }
    }
}
