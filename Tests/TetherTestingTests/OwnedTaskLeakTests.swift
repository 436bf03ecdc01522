import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Leaks by tasks, loops and closures of owners, and their cures, which pass.
@Suite struct OwnedTaskLeakTests {
    private final class Sidebar: Sendable {
        func touch() {}
    }

    /// Keeps tasks from returning until a test ends them, also after their cancellation.
    private final class Work: Sendable {
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        /// Returns after `end()`, also in a cancelled task.
        func wait() async {
            let stream = stream
            await Task { for await _ in stream {} }.value
        }

        /// Returns after `end()` or a cancellation.
        func waitUnlessCancelled() async { for await _ in stream {} }

        func end() { continuation.finish() }
    }

    // MARK: A capture of the owner

    @Test func `O12 L3 a task that captures its owner is named with its line`() async {
        let work = Work()
        let messages = await planted {
            let sidebar = Sidebar()
            Task(owner: sidebar, fileID: "App/Sidebar.swift", line: 14) {
                await work.wait()
                sidebar.touch()
            }
        }
        #expect(
            messages == [
                "Sidebar is still alive: the task "
                    + "started at App/Sidebar.swift:14 captures it. Capture it weakly there, and take it for "
                    + "one step at a time."
            ])
        work.end()
    }

    @Test func `O13 L3 a loop whose handler captures its owner is named with its line`() async {
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        let messages = await planted {
            let sidebar = Sidebar()
            numbers.observe(owner: sidebar, fileID: "App/Sidebar.swift", line: 14) { _, _ in
                sidebar.touch()
            }
        }
        #expect(
            messages == [
                "Sidebar is still alive: the loop started at App/Sidebar.swift:14 captures it. "
                    + "Use the handler's owner argument, or capture it weakly."
            ])
        input.finish()
    }

    @Test func `O14 L3 a closure that captures the object it waits for is named with its line`()
        async
    {
        let token = Keep()
        let messages = await planted {
            let sidebar = Sidebar()
            token.add(
                OwnerLifetime.whenEnded(sidebar, fileID: "App/Sidebar.swift", line: 14) {
                    sidebar.touch()
                })
        }
        #expect(
            messages == [
                "Sidebar is still alive: the closure "
                    + "of whenEnded at App/Sidebar.swift:14 captures it. Capture what the closure needs, and "
                    + "not its owner."
            ])
        token.cancelAll()
    }

    @Test func `O12 L3 a task that takes its owner before its loop is named with its line`() async {
        let (work, begun) = (Work(), Work())
        let messages = await planted {
            let sidebar = Sidebar()
            Task(owner: sidebar, fileID: "App/Sidebar.swift", line: 14) { [weak sidebar] in
                guard let sidebar else { return }
                begun.end()
                await work.wait()
                sidebar.touch()
            }
            await begun.wait()
        }
        #expect(messages.count == 1)
        #expect(
            messages.first?.contains(
                "Look for: the task started at App/Sidebar.swift:14, which still runs (a `guard let self` before "
                    + "its loop?), a local variable") == true)
        work.end()
    }

    // MARK: A cancellation without an effect

    @Test func `O12 L2 a task that was cancelled with its owner and goes on is named`() async {
        let work = Work()
        let messages = await planted {
            let sidebar = Sidebar()
            Task(owner: sidebar, fileID: "App/Sidebar.swift", line: 14) { await work.wait() }
            withExtendedLifetime(sidebar) {}
        }
        #expect(
            messages == [
                "the task started at App/Sidebar.swift:14 was cancelled when Sidebar ended, and still runs. Ask "
                    + "Task.isCancelled in it, and end whatever it waits for."
            ])
        work.end()
    }

    @Test func `O13 L2 a loop whose async handler goes on after its token's cancel() is named`()
        async
    {
        let (work, begun) = (Work(), Work())
        let messages = await planted {
            let sidebar = Sidebar()
            let (numbers, input) = AsyncStream.makeStream(of: Int.self)
            let loop = numbers.observe(owner: sidebar, fileID: "App/Sidebar.swift", line: 14) {
                _, _ in
                begun.end()
                await work.wait()
            }
            input.yield(1)
            await begun.wait()
            OwnerObservers(of: sidebar).cancel()
            withExtendedLifetime(loop) {}
        }
        #expect(
            messages.contains(
                "the loop started at App/Sidebar.swift:14 was cancelled, and still runs. Ask Task.isCancelled in it, "
                    + "and end whatever it waits for."))
        work.end()
    }

    // MARK: What passes

    @Test func `O12 O13 L2 work that ends with its owner is waited for, and passes`() async {
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        // On a machine with other work, the tasks take their time.
        await verifyNoLeaks(limits: .init(deliveryWait: .seconds(300), releaseWait: .seconds(300)))
        {
            let (work, sidebar) = (Work(), Sidebar())
            Task(owner: sidebar) { [weak sidebar] in
                await work.waitUnlessCancelled()
                for _ in 0..<100 { await Task.yield() }
                sidebar?.touch()
            }
            Task(owner: sidebar) {
                for _ in 0..<100 { await Task.yield() }
                sidebar.touch()
            }
            numbers.observe(owner: sidebar) { sidebar, _ in sidebar.touch() }
            OwnerLifetime.whenEnded(sidebar) { work.end() }
            input.yield(1)
        }
    }

    @Test func `O12 L2 the tasks of an object that is kept on purpose may go on`() async {
        let (work, shared) = (Work(), Sidebar())
        await verifyNoLeaks {
            LeakTracker.current?.keep(shared)
            Task(owner: shared) { await work.wait() }
        }
        work.end()
        withExtendedLifetime(shared) {}
    }
}

extension Keep {
    /// Cancels and releases the kept observers.
    fileprivate func cancelAll() {
        for case let token as NotificationObserver in all { token.cancel() }
        drop()
    }
}
