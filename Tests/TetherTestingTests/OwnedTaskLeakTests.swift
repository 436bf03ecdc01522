import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Leaks by tasks, loops and closures of owners, and their cures, which pass.
@Suite(.collectsIssues) struct OwnedTaskLeakTests {
    private typealias Sidebar = FaultyTask.Sidebar

    // MARK: Each faulty task

    @Test(arguments: FaultyTask.allCases)
    func `O12 L2 L3 verifyNoLeaks names a faulty task with its line`(fault: FaultyTask) async {
        let (work, begun) = (Work(), Work())
        let messages = await planted {
            let sidebar = fault.plant(work, begun: begun)
            await begun.waitUnlessCancelled()
            withExtendedLifetime(sidebar) {}
        }
        #expect(messages.count == 1 && messages.allSatisfy(fault.isNamed))
        work.end()
    }

    @Test(arguments: FaultyTask.allCases)
    func `O12 L2 L4 the trait fails the test of a faulty task once, at the task's line`(
        fault: FaultyTask
    ) async throws {
        let test = try #require(Test.current)
        let (issues, work, begun) = (Issues(), Work(), Work())
        let trait: NoLeaksTrait = .verifiesNoLeaks(
            limits: .init(deliveryWait: .zero, holderSearch: .seconds(300)))
        try await Issues.$current.withValue(issues) {
            try await trait.provideScope(for: test, testCase: Test.Case.current) {
                let sidebar = fault.plant(work, begun: begun)
                await begun.waitUnlessCancelled()
                withExtendedLifetime(sidebar) {}
            }
        }
        #expect(issues.messages.count == 1 && issues.messages.allSatisfy(fault.isNamed))
        #expect(issues.places == ["FaultyTask.swift:\(FaultyTask.line)"])
        #expect(issues.paths == ["\(FaultyTask.path)"])
        work.end()
    }

    // MARK: A capture of the owner

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

    @Test func `O13 L3 a loop whose sequence captures its owner is named with its line`() async {
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        let messages = await planted {
            let sidebar = Sidebar()
            let shown = numbers.map { number in
                sidebar.touch()
                return number
            }
            shown.observe(owner: sidebar, fileID: "App/Sidebar.swift", line: 14) { _, _ in }
        }
        #expect(
            messages == [
                "Sidebar is still alive: the loop started at App/Sidebar.swift:14 captures it. "
                    + "Use the handler's owner argument, or capture it weakly."
            ])
        input.finish()
    }

    @Test func `O13 L2 a loop that captures its owner is given the time of an object alone`() async
    {
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        let limits = LeakTracker.Limits(deliveryWait: .seconds(3600), releaseWait: .zero)
        let leaks = await findLeaks(limits: limits) {
            let sidebar = Sidebar()
            numbers.observe(owner: sidebar) { _, _ in sidebar.touch() }
        }
        #expect(leaks.count == 1)
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

    // MARK: A cancellation without an effect

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
