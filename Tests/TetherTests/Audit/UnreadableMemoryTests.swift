#if os(Linux) && (arch(x86_64) || arch(arm64))

import Foundation
import Testing
import Tether
import TetherTesting

/// The search for leaks where the process may not read its own memory, as on Apple platforms.
@Suite struct UnreadableMemoryTests {
    @Test func `L2 L3 an owner that ends only by its center's end is reported without a reason`()
        async throws
    {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            SystemCallFilter.refuse(SystemCallFilter.processMemoryRead, with: EPERM)
            let leaks = UnreadableMemoryTests.leaks { owner, center in
                center.observe(.sample, owner: owner) { _, _ in owner.touch() }
            }
            let clean = UnreadableMemoryTests.leaks { owner, center in
                center.observe(.sample, owner: owner) { owner, _ in owner.touch() }
            }
            try? FileHandle.standardError.write(
                contentsOf: Data("\(clean.count) and \(leaks)".utf8))
        }
        let printed = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(printed.contains("0 and [Ending, the owner of the observer registered at "))
        #expect(
            printed.contains(
                "The path is unknown, because this process may not read its own memory. With a center"
            ))
    }

    /// A synchronous function, because an async function must not block.
    private static func leaks(_ observe: (Ending, ObserverCenter) -> Void) -> [LeakTracker.Leak] {
        findLeaks(limits: .init(deliveryWait: .zero)) {
            let (owner, center) = (Holder(Ending {}), Holder(ObserverCenter()))
            observe(owner.object!, center.object!)
            owner.release()
            center.release()
        }
    }
}

#endif
