#if os(Linux) || os(macOS)

import Foundation
import Testing

@testable import Tether

/// What is left out where a trace may not grow any more.
@Suite(.ownThread, .serialized) struct TraceLimitTests {
    @Test func `L5 no arrow is written that begins nowhere, though another thread has room`() async {
        await #expect(processExitsWith: .success) {
            let (center, file, thread) = (ObserverCenter(), TracedEvent.freshFile(), RunLoopThread(name: "target"))
            thread.start()
            let isCalled = Latch()
            let token = center.observe(.sample, on: .thread(thread)) { _ in isCalled.open() }
            try Tether.Trace.start(writingTo: file, limit: 2 * 65536)
            func post() {
                center.post(name: .sample, object: nil)
                isCalled.wait()
            }
            // The other thread's share, then all of this one's.
            post()
            for _ in 0..<1000 { center.post(name: .third, object: nil) }
            for _ in 0..<5 { post() }
            #expect(try #require(Tether.Trace.stop()).notWritten > 0)
            let events = try TracedEvent.read(file)
            let (begun, ended) = (events.filter { $0.phase == "s" }, events.filter { $0.phase == "f" })
            #expect(begun.count == 1 && ended.map(\.id) == begun.map(\.id))
            #expect(events.count { $0.description == "B sample" } == 6)
            thread.cancel()
            withExtendedLifetime(token) {}
        }
    }

    #if os(Linux)
    /// The number by which this process has a file open.
    private static func descriptor(of path: String) -> CInt? {
        let path = URL(filePath: path).resolvingSymlinksInPath().path
        return (0..<1024).first {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }

    @Test func `L5 a file of the program's that has got the trace's descriptor is left alone`() async throws {
        let (file, other) = (TracedEvent.freshFile(), TracedEvent.freshFile())
        defer { for file in [file, other] { try? FileManager.default.removeItem(at: file) } }
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [file = file.path as String, other = other.path as String] in
            let center = ObserverCenter()
            try Tether.Trace.start(writingTo: URL(filePath: file))
            let descriptor = try #require(TraceLimitTests.descriptor(of: file))
            let content = Data(repeating: 65, count: 500_000)
            try content.write(to: URL(filePath: other))
            // As a daemon does that closes all descriptors first.
            let own = unsafe open(other, O_RDWR)
            #expect(dup2(own, descriptor) == descriptor)
            for _ in 0..<2000 { center.post(name: .sample, object: nil) }
            let summary = try #require(Tether.Trace.stop())
            #expect(summary.written > 0 && summary.notWritten > 0 && summary.written + summary.notWritten == 4000)
            #expect(try Data(contentsOf: URL(filePath: other)) == content)
            #expect(fcntl(descriptor, F_GETFD) >= 0)
        }
        #expect(
            String(decoding: result.standardErrorContent, as: UTF8.self)
                .contains("events: the program has closed its file; start it after that."))
        let events = try TracedEvent.read(file)
        #expect(events.last?.name == "trace ends")
    }
    #endif
}

#endif
