#if DEBUG

import Foundation
import Testing

@testable import Tether

/// The debug checks of nested locks.
@Suite struct LockRankTests {
    @Test func `R6 a handler that is called under a lock ends a debug build`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let center = ObserverCenter()
            let token = center.observe(.sample) { _ in }
            Locked(0, rank: .owner).withLock { _ in center.post(name: .sample, object: nil) }
            withExtendedLifetime(token) {}
        }
        let sentence = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            sentence.contains(
                "A thread calls code of a user while it holds a lock of Tether."))
    }

    @Test func `R6 a lock taken after a lock of a later rank ends a debug build`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            Locked(0, rank: .pending).withLock { _ in Locked(0, rank: .center).withLock { _ in } }
        }
        let sentence = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            sentence.contains(
                "A thread takes a lock of rank center while it holds a lock"))
    }

    @Test func `R6 two locks of one rank at once end a debug build`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            Locked(0, rank: .pending).withLock { _ in Locked(0, rank: .pending).withLock { _ in } }
        }
        let sentence = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            sentence.contains(
                "A thread takes a lock of rank pending while it holds a lock"))
    }

    @Test func `R6 a lock that its own thread takes again ends a debug build`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let lock = Locked(0)
            lock.withLock { _ in lock.withLock { _ in } }
        }
        let sentence = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            sentence.contains(
                "A thread takes a lock of rank leaf while it holds a lock"))
    }

    @Test func `R6 a lock that is taken under a leaf ends a debug build`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            Locked(0).withLock { _ in Locked(1).withLock { _ in } }
        }
        let sentence = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            sentence.contains(
                "A thread takes a lock of rank leaf while it holds a lock"))
    }

    @Test func `R6 a handler that is called under a leaf ends a debug build`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let center = ObserverCenter()
            let token = center.observe(.sample) { _ in }
            // The first post takes the center's lock, and later ones do not.
            center.post(name: .sample, object: nil)
            Locked(0).withLock { _ in center.post(name: .sample, object: nil) }
            withExtendedLifetime(token) {}
        }
        let sentence = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            sentence.contains(
                "A thread calls code of a user while it holds a lock of Tether."))
    }

    @Test func `R6 locks that are taken in their order, and released by an error, leave none`() {
        struct Thrown: Error {}
        func throwing() throws { throw Thrown() }
        let outer = Locked(0, rank: .owner)
        let inner = Locked(0, rank: .pending)
        for _ in 0..<2 {
            do { try outer.withLock { _ in try inner.withLock { _ in try throwing() } } } catch {}
            LockRank.checkNoneIsHeld()
        }
    }
}

#endif
