#if DEBUG

import Foundation
import Testing

@testable import Tether

/// The checks of debug builds after each change of a structure.
@Suite struct SelfCheckTests {
    private func expectStop(
        _ sentence: String, _ result: ExitTest.Result,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let output = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(output.contains(sentence), sourceLocation: location)
    }

    @Test func `M6 a hash table finds an element whose hash has changed`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            var table = HashChains<Element>()
            let element = Element(hash: 1)
            unsafe table.insert(element)
            element.hash = 2
            unsafe table.insert(Element(hash: 3))
        }
        expectStop("An element of a hash table is in the wrong chain.", result)
    }

    @Test func `M3 a bucket finds a slot with an id that does not rise`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let center = ObserverCenter()
            let first = center.observe(.sample) { _ in }
            first.registration?.id += 100
            let second = center.observe(.sample) { _ in }
            withExtendedLifetime((first, second)) {}
        }
        expectStop("The ids of a bucket's slots do not rise.", result)
    }

    @Test func `O1 an owner's list finds a link to the wrong observer`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let center = ObserverCenter()
            let owner = NSObject()
            let first = center.observe(.sample, owner: owner) { _, _ in }
            let second = center.observe(.sample, owner: owner) { _, _ in }
            let registration = try #require(second.registration?.owned)
            unsafe registration.previous = nil
            center.observe(.sample, owner: owner) { _, _ in }
            withExtendedLifetime(first) {}
        }
        expectStop("The links of an owner's list differ.", result)
    }

    @Test func `S1 a sequence's buffer finds notifications beyond its limit`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            var state = SequenceBuffer.State()
            state.elements.append(.init(notification: Notification(name: .sample)))
            state.checkInvariants(.newest(1))
            state.elements.append(.init(notification: Notification(name: .sample)))
            state.checkInvariants(.newest(1))
        }
        expectStop("A sequence has more notifications than its limit.", result)
    }
}

/// An element whose hash a test may change.
private final class Element: Chained {
    var hash: UInt
    var next: Element?

    init(hash: UInt) { self.hash = hash }
}

#endif
