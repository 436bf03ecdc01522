#if os(Linux) || os(macOS)

import Foundation
import Synchronization
import Testing

@testable import Tether

/// A trace's file: its content, its errors, and its writers.
@Suite(.ownThread, .serialized) struct TraceFileTests {
    @Test func `L5 a trace of a process that crashes has all until then, its handler open`()
        async throws
    {
        let file = TracedEvent.freshFile()
        defer { try? FileManager.default.removeItem(at: file) }
        for signal in [SIGKILL, SIGABRT, SIGSEGV] {
            await #expect(processExitsWith: .signal(signal)) {
                [path = file.path as String, signal = signal as CInt] in
                let center = ObserverCenter()
                let token = center.observe(.sample) { _ in
                    center.post(name: .other, object: nil)
                    // Also where a sanitizer has a handler. Any thread may get the signal, because
                    // Dispatch blocks most signals on its threads.
                    Foundation.signal(signal, SIG_DFL)
                    kill(getpid(), signal)
                    Thread.sleep(forTimeInterval: 300)
                }
                try Trace.start(to: URL(filePath: path))
                JoinableThread.run(3) { _ in
                    for _ in 0..<1000 { center.post(name: .third, object: nil) }
                }
                center.post(name: .sample, object: nil)
                withExtendedLifetime(token) {}
            }
            let events = try TracedEvent.read(file)
            #expect(events.count { $0.description == "B post third" } == 3000)
            #expect(
                events.suffix(4).map(\.description) == [
                    "B post sample", "B sample", "B post other", "E ",
                ])
        }
    }

    @Test func `L5 events beyond the limit are counted in the summary, and printed`() async throws {
        let file = TracedEvent.freshFile()
        defer { try? FileManager.default.removeItem(at: file) }
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            [path = file.path as String] in
            let center = ObserverCenter()
            try Trace.start(to: URL(filePath: path), limit: 65536)
            for _ in 0..<2000 { center.post(name: .sample, object: nil) }
            let summary = try #require(Trace.stop())
            #expect(summary.written > 200 && summary.notWritten > 2000)
            #expect(summary.written + summary.notWritten == 4000)
            #expect(
                "\(summary)"
                    == "\(summary.written) lines written, \(summary.notWritten) not written")
            #expect(Trace.stop() == nil)
        }
        let events = try TracedEvent.read(file)
        #expect(events.count { $0.phase == "B" || $0.phase == "E" } > 200)
        let said = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            said == "Tether's trace \(file.path) lacks all events from now on: "
                + "it has reached its limit; start it with a higher one.\n")
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
        #expect(size ?? .max <= 65536)
    }

    @Test func `L5 a program that ends by itself leaves a complete trace`() async throws {
        let file = TracedEvent.freshFile()
        defer { try? FileManager.default.removeItem(at: file) }
        await #expect(processExitsWith: .success) { [path = file.path as String] in
            try Trace.start(to: URL(filePath: path))
            ObserverCenter().post(name: .sample, object: nil)
            exit(EXIT_SUCCESS)
        }
        #expect(try TracedEvent.read(file).suffix(2).map(\.description) == ["B post sample", "E "])
    }

    @Test func `L5 a forked process writes nothing, and may write a trace of its own`()
        async
    {
        await #expect(processExitsWith: .success) {
            let (center, file, other) = (
                ObserverCenter(), TracedEvent.freshFile(), TracedEvent.freshFile()
            )
            // SAFETY: the C library's; Swift has it hidden.
            typealias Fork = @convention(c) () -> pid_t
            let fork = unsafe unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
            try Trace.start(to: file)
            center.post(name: .sample, object: nil)
            let child = fork()
            if child == 0 {
                center.post(name: .other, object: nil)
                guard !Trace.isOn, Trace.stop() == nil else { _exit(1) }
                // Posts find names without the lock again.
                guard center.core.quickMatching.cache.load(ordering: .relaxed) != 0 else {
                    _exit(4)
                }
                guard (try? Trace.start(to: other)) != nil else { _exit(2) }
                center.post(name: .third, object: nil)
                _exit(Trace.stop()?.written == 2 ? 0 : 3)
            }
            var status: CInt = -1
            #expect(unsafe waitpid(child, &status, 0) == child && status == 0)
            center.post(name: .sample, object: nil)
            #expect(Trace.stop()?.written == 4)
            let names = try TracedEvent.read(file).filter { $0.phase == "B" }.map(\.name)
            #expect(names == ["post sample", "post sample"])
            let others = try TracedEvent.read(other)
            #expect(others.contains { $0.name == "post third" })
        }
    }

    // MARK: Who may write

    @Test func `L5 X1 a second trace, or one without a writable file, is refused with the remedy`()
        async
    {
        await #expect(processExitsWith: .success) {
            func refusal(_ file: URL, limit: Int = 1 << 20) -> String {
                do {
                    try Trace.start(to: file, limit: limit)
                    return "no refusal"
                } catch { return error.localizedDescription }
            }
            let file = TracedEvent.freshFile()
            let call = "Trace.start(to: \(file.path)):"
            let page = try #require(URL(string: "https://example.com/trace.json"))
            #expect(
                refusal(page)
                    == "Trace.start(to: https://example.com/trace.json): it is not the URL of a file; use URL(filePath:)."
            )
            #expect(
                refusal(file, limit: 100)
                    == "\(call) the limit of 100 bytes is too small; pass a higher limit.")
            // A refused trace leaves the content of the file.
            try Data("an earlier trace".utf8).write(to: file)
            _ = refusal(file, limit: 0)
            #expect(try Data(contentsOf: file) == Data("an earlier trace".utf8))
            #expect(
                refusal(URL(filePath: "/nowhere/trace.json"))
                    == "Trace.start(to: /nowhere/trace.json): No such file or directory; "
                    + "pass a file that can be written.")
            // As another process does.
            let other = unsafe open(file.path, O_RDWR)
            #expect(flock(other, LOCK_EX) == 0)
            #expect(
                refusal(file) == "\(call) another process writes a trace there; pass another file.")
            close(other)
            try Trace.start(to: file)
            #expect(
                refusal(file)
                    == "\(call) a trace is being written already; call Trace.stop() first.")
            #expect(Trace.stop()?.written == 0)
        }
    }

    @Test func `L5 a scope writes a trace of its body, and returns or throws the body's result`()
        async
    {
        await #expect(processExitsWith: .success) {
            struct Planned: Error {}
            let (center, file) = (ObserverCenter(), TracedEvent.freshFile())
            let result = try Trace.record(to: file) {
                center.post(name: .sample, object: nil)
                return 41
            }
            #expect(result == 41)
            let events = try TracedEvent.read(file)
            #expect(events.contains { $0.name == "post sample" })
            #expect(throws: Planned.self) { try Trace.record(to: file) { throw Planned() } }
            await #expect(throws: Planned.self) {
                try await Trace.record(to: file) {
                    await Task.yield()
                    throw Planned()
                }
            }
            #expect(!Trace.isOn)
        }
    }

    #if os(Linux)
    @Test func `L5 a program whose environment names a file writes a trace there`() throws {
        let file = TracedEvent.freshFile()
        defer { try? FileManager.default.removeItem(at: file) }
        let products = try #require(Bundle.main.executableURL).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        func run() throws -> String {
            let (process, errors) = (Process(), Pipe())
            process.executableURL = products.appending(path: "Coalescing")
            process.environment = ProcessInfo.processInfo.environment.merging([
                "TETHER_TRACE": file.path
            ]) { $1 }
            (process.standardOutput, process.standardError) = (FileHandle.nullDevice, errors)
            try process.run()
            let said = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            return String(decoding: said, as: UTF8.self)
        }
        let said = try run()
        #expect(said == "")
        let events = try TracedEvent.read(file)
        let main = events.first {
            $0.name == "thread_name" && $0.arguments["name"] as? String == "main"
        }
        #expect(events.filter { $0.phase == "B" }.allSatisfy { $0.thread == main?.thread })
        let names = events.filter { $0.phase == "B" }.map(\.name)
        #expect(
            names
                == Array(
                    repeating: ["post needsRedraw", "needsRedraw · main.swift:25"], count: 4
                ).flatMap(\.self))
        // As another process does.
        let other = unsafe open(file.path, O_RDWR)
        #expect(flock(other, LOCK_EX) == 0)
        let refused = try run()
        #expect(
            refused == "TETHER_TRACE: Trace.start(to: \(file.path)): "
                + "another process writes a trace there; pass another file.\n")
        close(other)
    }

    #endif
}

#endif
