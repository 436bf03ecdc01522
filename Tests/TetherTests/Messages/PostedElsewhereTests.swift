import Foundation
import Testing
import Tether

/// Posts off the main actor under the name of a main-actor message. The main queue makes the
/// message.
@Suite struct PostedElsewhereTests: MessageFlowSuite {
    let center = ObserverCenter()
    private let log = Log<Int>()

    /// A payload under the message's name that makes no message of the type.
    enum Stranger: CaseIterable {
        case note, message, noteElsewhere, messageElsewhere

        /// Whether the delivery waits until the main queue can make the message.
        var waits: Bool { self == .noteElsewhere || self == .messageElsewhere }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private func post(_ stranger: Stranger) {
        switch stranger {
        case .note: postNote(nil)
        case .message: center.post(SameNameAsAlbumDidClose())
        case .noteElsewhere: postElsewhere(nil)
        case .messageElsewhere: onThreads { center.post(SameNameAsAlbumDidClose()) }
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test(arguments: [false, true])
    func `T3 D4 other threads' posts arrive in posting order, converted or not`(
        once: Bool
    ) async {
        let (log, token) = observed(once: once)
        let envelopes = envelopes([2, 4])
        let plain = center.observe(AlbumDidClose.name, on: .main) { [log] in log.add(-($0.number)) }
        for (number, envelope) in zip([1, 3], envelopes) {
            postElsewhere(number)
            onThreads { [center] in center.post(envelope.notification) }
        }
        #expect(center.audit().map(\.pending) == [4, 4])
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == (once ? [1, -1, -2, -3, -4] : [1, -1, 2, -2, 3, -3, 4, -4]))
        withExtendedLifetime((token, plain)) {}
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @MainActor @Test
    func `R7 T2 the first message ends a once observer, and later posts are not converted`()
        async
    {
        let (log, token) = observed(once: true)
        let envelope = envelopes([1])[0]
        postElsewhere(nil)
        onThreads { [center] in center.post(envelope.notification) }
        postElsewhere(2, nil)
        #expect(center.audit().map(\.pending) == [4])
        await TargetKind.main.makePlace().settle()
        #expect(log.entries == [1] && !token.isActive)
    }
}
