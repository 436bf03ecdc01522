#if os(Linux) && (arch(x86_64) || arch(arm64)) && !canImport(ObjectiveC)

import Foundation
import Testing

@testable import Tether

/// The hook on a system that refuses a call.
@Suite struct HookRefusalTests {
    private static let wakeOperation: (number: UInt32, mask: UInt32, value: UInt32) = (
        number: 1, mask: 0x7F, value: 5
    )

    @Test func `O10 an owner's end that is not seen ends observers at the next post or purge`()
        async
    {
        await #expect(processExitsWith: .success) {
            SystemCallFilter.refuse(
                SystemCallFilter.futex, where: HookRefusalTests.wakeOperation, with: ENOSYS)
            #expect(!OwnerLifetime.isExact)
            let (center, log, calls) = (ObserverCenter(), Log<String>(), Log<String>())
            let owners = (0..<2).map { _ in Holder(Plain()) }
            var captures = (0..<3).map { Holder(LoggedObject("capture \($0)", log)) }
            for (name, index) in [(Notification.Name.sample, 0), (.other, 1)] {
                center.observe(name, owner: owners[index].object!) {
                    [object = captures[index].object!] _, _ in
                    calls.add(object.name)
                }
            }
            let sender = Holder(Plain())
            let token = center.observe(nil, from: sender.object!) {
                [object = captures[2].object!] _ in
                calls.add(object.name)
            }
            captures = []
            for owner in owners { owner.release() }
            sender.release()
            #expect(center.core.count == 3)
            center.post(name: .sample, object: Plain())
            #expect(log.entries == ["capture 0 deinit"] && center.core.count == 2)
            OwnerLifetime.purge()
            #expect(
                log.entries.sorted() == [
                    "capture 0 deinit", "capture 1 deinit", "capture 2 deinit",
                ])
            #expect(center.isEmpty && !token.isActive && calls.entries.isEmpty)
        }
    }

    @Test func `O10 O12 O14 a purge ends the work of an owner that observes nothing`() async {
        await #expect(processExitsWith: .success) {
            SystemCallFilter.refuse(
                SystemCallFilter.futex, where: HookRefusalTests.wakeOperation, with: ENOSYS)
            #expect(!OwnerLifetime.isExact)
            let (owner, log) = (Holder(Plain()), Log<String>())
            let closure = OwnerLifetime.whenEnded(owner.object!) { log.add("closure") }
            let never = AsyncStream<Int>.makeStream()
            let task = Task(owner: owner.object!) {
                for await _ in never.stream {}
                log.add("task")
            }
            owner.release()
            #expect(log.entries.isEmpty && closure.isActive)
            OwnerLifetime.purge()
            #expect(log.entries.first == "closure" && !closure.isActive)
            await task.value
            #expect(log.entries == ["closure", "task"] && task.isCancelled)
            withExtendedLifetime(never) {}
        }
    }
}

#endif
