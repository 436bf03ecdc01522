#if os(Linux) || os(macOS)

import Foundation
import Testing
import Tether

/// The audit at the end of a program, if an environment variable requests it.
@Suite struct AuditAtExitTests {
    private final class Lasting: Sendable {
        static let object = Lasting()
    }

    @Test func `L1 a program prints, on request, the observers that are left at its end`()
        async throws
    {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            // SAFETY: literals; no other thread of this process reads the environment yet.
            _ = unsafe setenv("TETHER_AUDIT", "exit", 1)
            ObserverCenter.default.observe(.sample, owner: Lasting.object, on: .main) { _, _ in }
            exit(EXIT_SUCCESS)
        }
        let printed = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            printed.contains("What is observed as the program ends:\nregistered at "))
        #expect(printed.contains("\nTetherTests/AuditAtExitTests.swift:"))
        #expect(printed.contains("  main\n1 observer of 1 owner"))
    }

    @Test func `L1 a program whose standard error is closed ends as it would`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            // SAFETY: as above.
            _ = unsafe setenv("TETHER_AUDIT", "exit", 1)
            ObserverCenter.default.observe(.sample, owner: Lasting.object) { _, _ in }
            close(STDERR_FILENO)
            exit(7)
        }
    }

    @Test func `L1 a program that is not asked to prints nothing`() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            ObserverCenter.default.observe(.sample, owner: Lasting.object) { _, _ in }
            exit(EXIT_SUCCESS)
        }
        #expect(
            !String(decoding: result.standardErrorContent, as: UTF8.self).contains(
                "What is observed"))
    }
}

#endif
