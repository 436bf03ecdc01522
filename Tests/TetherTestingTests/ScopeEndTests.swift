import Dispatch
import Foundation
import Testing
import Tether

@testable import TetherTesting

/// The state after a scope's verdict, and verdicts for each order of releases.
@Suite(.collectsIssues) struct ScopeEndTests {
    final class Sidebar: Sendable {
        func touch() {}
    }

    private let center = ObserverCenter()

    @Test func `L4 a task that outlives its scope leaves nothing in the scope`() async {
        let (center, scope, gate) = (center, LeakTracker(), AsyncStream<Void>.makeStream())
        let task = scope.adopt {
            Task {
                for await _ in gate.stream { break }
                let sidebar = LeakTracker.current?.keep(track(Sidebar())) ?? Sidebar()
                for _ in 0..<100 { center.observe(.modelDidChange, owner: sidebar) { _, _ in } }
                withExtendedLifetime((sidebar, ObserverCenter())) {}
            }
        }
        scope.close()
        gate.continuation.yield()
        await task.value
        let isEmpty = scope.state.withLock { state in
            state.tracked.isEmpty && state.objects.isEmpty && state.registrations.isEmpty
                && state.centers.isEmpty
        }
        #expect(isEmpty)
    }

    @Test func `L4 the last scope ends the listening, unless a warning listens`() async {
        await #expect(processExitsWith: .success) {
            let center = ObserverCenter()
            let leaks = await findLeaks(limits: .init(deliveryWait: .zero)) {
                _ = center.observe(.modelDidChange) { _ in }
            }
            precondition(leaks.isEmpty && !RegistrationWatch.isListening)
            do {
                let scope = LeakTracker()
                precondition(RegistrationWatch.isListening)
                withExtendedLifetime(scope) {}
            }
            precondition(!RegistrationWatch.isListening)
            for _ in 0..<2 { ObserverCenter.warnsOfSelfCapture = true }
            precondition(RegistrationWatch.isListening)
            ObserverCenter.warnsOfSelfCapture = false
            precondition(!RegistrationWatch.isListening)
        }
    }

    @Test func `L4 a handler whose scope and listening have ended registers for no later scope`()
        async
    {
        await #expect(processExitsWith: .success) {
            let center = ObserverCenter()
            let calls = Locked(0)
            let tokens = LeakTracker().adopt {
                [
                    center.observe(.modelDidClose) { _ in },
                    center.observe(.modelDidChange) { _ in
                        precondition(LeakTracker.current == nil)
                        calls.withLock { $0 += 1 }
                    },
                ]
            }
            precondition(!RegistrationWatch.isListening)
            tokens[0].cancel()
            let scope = LeakTracker()
            scope.adopt { center.post(name: .modelDidChange, object: nil) }
            precondition(calls.withLock(\.self) == 1)
            withExtendedLifetime((scope, tokens)) {}
        }
    }

    @Test func `L4 a body that throws ends the listening`() async {
        struct Failure: Error {}
        await #expect(processExitsWith: .success) {
            let task = Locked<Task<Void, Never>?>(nil)
            _ = try? await findLeaks {
                task.withLock { $0 = Task { try? await Task.sleep(for: .seconds(300)) } }
                throw Failure()
            }
            precondition(!RegistrationWatch.isListening)
        }
    }

    @Test func `L2 L3 owners that capture each other are found, also if the center ends earlier`()
        async
    {
        let messages = await planted {
            let (first, second, third) = (Sidebar(), Sidebar(), Sidebar())
            do {
                let center = ObserverCenter()
                center.observe(.modelDidChange, owner: first) { _, _ in second.touch() }
                center.observe(.modelDidClose, owner: second) { _, _ in first.touch() }
                // Captures a leak, and is none.
                center.observe(.modelDidClose, owner: third) { _, _ in first.touch() }
            }
            withExtendedLifetime((first, second, third)) {}
        }
        #expect(messages.count == 2)
        for message in messages {
            #expect(
                message.contains(
                    "was deallocated only because its center was: the handler "))
            #expect(message.contains("captures it, and its own owner is retained, too"))
        }
    }

    @Test(arguments: ["async", "queue", "once"])
    func `L3 an owner that a running handler holds is said to be held by the handler`(kind: String)
        async
    {
        let (center, entered, leave) = (
            center, AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0)
        )
        let calls = AsyncStream<Void>.makeStream()
        let messages = await planted {
            func start() async {
                let sidebar = Sidebar()
                if kind == "async" {
                    center.observe(
                        .modelDidChange, owner: sidebar, fileID: "App/Sidebar.swift", line: 5
                    ) { _, _ in
                        entered.continuation.yield()
                        for await _ in calls.stream {}
                    }
                } else {
                    center.observe(
                        .modelDidChange, owner: sidebar,
                        on: .dispatchQueue(DispatchQueue(label: "busy")),
                        once: kind == "once", fileID: "App/Sidebar.swift", line: 5
                    ) { _, _ in
                        entered.continuation.yield()
                        leave.wait()
                    }
                }
                center.post(name: .modelDidChange, object: nil)
                for await _ in entered.stream { break }
                sidebar.touch()
            }
            await start()
        }
        #expect(
            messages.first
                == "Sidebar is still alive: the running handler registered at App/Sidebar.swift:5 "
                + "(modelDidChange) retains it")
        #expect(messages.last?.hasSuffix("it is running on another thread, or suspended") == true)
        calls.continuation.finish()
        leave.signal()
    }
}
