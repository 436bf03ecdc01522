import Foundation
import Testing
import Tether
import TetherTesting
import TetherVerification

/// Loops over sequences that never end.
@Suite(.collectsIssues) struct SequenceLeakTests {
    private let center = ObserverCenter()

    @Test func `L2 L3 S2 an endless loop is reported with its sequence and the sequence's line`()
        async
    {
        let (center, tasks) = (center, Tasks())
        let messages = await planted {
            tasks.add {
                for await _ in center.notifications(
                    named: .modelDidChange, fileID: "App/Sidebar.swift", line: 5)
                {}
            }
            while center.audit().isEmpty { await Task.yield() }
        }
        #expect(
            messages == [
                "the sequence of modelDidChange made at App/Sidebar.swift:5 is still open: a task iterates it, or a task or "
                    + "an object retains it. Cancel the task, release the sequence, or give it an owner (owner:), before "
                    + "the test ends."
            ])
        await tasks.end()
        #expect(center.audit().isEmpty)
    }

    @Test func `L2 L3 S2 an owner in an endless loop is reported with the sequence's line`()
        async
    {
        let (center, tasks) = (center, Tasks())
        let leaks = await findLeaks(limits: .init(deliveryWait: .zero, holderSearch: .seconds(300)))
        {
            let owner = Keep()
            let notes = center.notifications(
                named: .modelDidChange, owner: owner, fileID: "App/Sidebar.swift", line: 5)
            tasks.add { for await note in notes { owner.add(note) } }
        }
        #expect(leaks.count == 1)
        #expect(
            leaks.first?.description.contains(
                "the loop over the sequence of modelDidChange made at App/Sidebar.swift:5") == true)
        await tasks.end()
        #expect(center.audit().isEmpty)
    }

    @Test func `L2 S2 a loop that ends with its owner passes`() async {
        let (center, tasks) = (center, Tasks())
        await verifyNoLeaks {
            let owner = Keep()
            let notes = center.notifications(named: .modelDidChange, owner: owner)
            tasks.add { for await _ in notes {} }
        }
        await tasks.end()
    }
}

/// Tasks ended by a test.
private final class Tasks: @unchecked Sendable {
    private var tasks: [Task<Void, Never>] = []

    func add(_ body: @escaping @Sendable () async -> Void) { tasks.append(Task { await body() }) }

    func end() async {
        for task in tasks {
            task.cancel()
            await task.value
        }
    }
}
