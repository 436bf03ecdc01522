import Foundation
import Testing
import Tether

@Suite struct BufferingPolicyMisuseTests {
    private func sentence(_ result: ExitTest.Result) -> String {
        String(decoding: result.standardErrorContent, as: UTF8.self)
    }

    @Test func `S3 X1 a buffer of the newest 0 is refused`() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ObserverCenter().notifications(named: .sample, buffering: .newest(0))
        }
        #expect(sentence(result).contains("BufferingPolicy.newest(_:): a buffer of 0 keeps nothing"))
        #expect(sentence(result).contains("pass 1 or more, or .unbounded"))
    }

    @Test func `S3 X1 a buffer of less than none is refused`() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ObserverCenter().notifications(named: .sample, buffering: .oldest(-3))
        }
        #expect(sentence(result).contains("BufferingPolicy.oldest(_:): a buffer of -3 keeps nothing"))
        #expect(sentence(result).contains("pass 1 or more, or .unbounded"))
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `S3 X1 a buffer of 0 messages is refused`() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ObserverCenter().messages(for: .type(AlbumDidSave.self), buffering: .newest(0))
        }
        #expect(sentence(result).contains("a buffer of 0 keeps nothing"))
        #expect(sentence(result).contains("pass 1 or more, or .unbounded"))
    }
}
