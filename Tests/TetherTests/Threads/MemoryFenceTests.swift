#if os(Linux) && arch(x86_64)

import COwnerLifetime
import Foundation
import Testing

import Tether

/// The fence for all threads, which orders the stores of posting threads on x86; see
/// `ThreadRecord`.
@Suite(.ownThread) struct MemoryFenceTests {
    @Test func `R2 a fence that is refused at the start is not relied on`() async {
        await #expect(processExitsWith: .success) {
            SystemCallFilter.refuse(SystemCallFilter.membarrier, with: EPERM)
            #expect(!tether_prove_fence())
        }
    }

    @Test func `R2 a fence that is offered, and refused at its use, is not relied on`()
        async
    {
        await #expect(processExitsWith: .success) {
            let fence: UInt32 = 8
            SystemCallFilter.refuse(
                SystemCallFilter.membarrier, where: (number: 0, mask: .max, value: fence),
                with: EPERM)
            #expect(!tether_prove_fence())
        }
    }

    @Test func `R2 a process can do without the fence`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("TETHER_WITHOUT_MEMBARRIER", "1", 1)
            #expect(!tether_prove_fence())
        }
    }

    @Test(.enabled(if: !tether_posters_fence()))
    func `R2 X1 a fence that is refused later ends the process before a wait is wrong`()
        async throws
    {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let center = ObserverCenter()
            let (isRunning, mayReturn) = (Gate(), Gate())
            let token = center.observe(.sample) { _ in
                isRunning.open()
                mayReturn.pass()
            }
            Thread { center.post(.sample, number: 1) }.start()
            isRunning.pass()
            SystemCallFilter.refuse(SystemCallFilter.membarrier, with: EPERM)
            waitForEnd(of: token)
        }
        let sentence = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            sentence.contains(
                "Ending an observer: the system refuses membarrier, which it allowed when the program started"
            ))
        #expect(sentence.contains("start the program with TETHER_WITHOUT_MEMBARRIER=1"))
    }
}

/// A synchronous function, because an async function must not block.
private func waitForEnd(of token: NotificationObserver) { token.cancelAndWait() }

#endif
