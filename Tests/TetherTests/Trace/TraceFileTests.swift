#if os(Linux) || os(macOS)

import Foundation
import Synchronization
import Testing

@testable import Tether

/// A trace's file: what becomes of it, and who may write it.
@Suite(.ownThread, .serialized) struct TraceFileTests {
    @Test func `L5 a trace of a process that crashes has all until then, its handler open`() async throws {
        let file = TracedEvent.freshFile()
        defer { try? FileManager.default.removeItem(at: file) }
        for signal in [SIGKILL, SIGABRT, SIGSEGV] {
            await #expect(processExitsWith: .signal(signal)) { [path = file.path as String, signal = signal as CInt] in
                let center = ObserverCenter()
                let token = center.observe(.sample) { _ in
                    center.post(name: .other, object: nil)
                    // Also where a sanitizer has a handler. To any thread; Dispatch keeps most signals from its own.
                    Foundation.signal(signal, SIG_DFL)
                    kill(getpid(), signal)
                    Thread.sleep(forTimeInterval: 300)
                }
                try Tether.Trace.start(writingTo: URL(filePath: path))
                Crew.run(3) { _ in for _ in 0..<1000 { center.post(name: .third, object: nil) } }
                center.post(name: .sample, object: nil)
                withExtendedLifetime(token) {}
            }
            let events = try TracedEvent.read(file, isComplete: false)
            #expect(events.count { $0.description == "B post third" } == 3000)
            #expect(
                events.suffix(4).map(\.description) == ["B post sample", "B sample", "B post other", "E "])
            #expect(events.contains { $0.name == "trace begins" && $0.arguments["not written"] as? Int == 0 })
            #expect(!events.contains { $0.name == "trace ends" })
        }
    }

    @Test func `L5 what its limit keeps out is counted, in the file and in the summary, and printed`() async throws {
        let file = TracedEvent.freshFile()
        defer { try? FileManager.default.removeItem(at: file) }
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = file.path as String] in
            let center = ObserverCenter()
            try Tether.Trace.start(writingTo: URL(filePath: path), limit: 65536)
            for _ in 0..<2000 { center.post(name: .sample, object: nil) }
            let summary = try #require(Tether.Trace.stop())
            #expect(summary.written > 200 && summary.notWritten > 2000)
            #expect(summary.written + summary.notWritten == 4000)
            #expect("\(summary)" == "\(summary.written) events, \(summary.notWritten) not written")
            #expect(Tether.Trace.stop() == nil)
        }
        let events = try TracedEvent.read(file)
        let written = events.count { $0.phase == "B" || $0.phase == "E" }
        for name in ["trace begins", "trace ends"] {
            #expect(events.first { $0.name == name }?.arguments["not written"] as? Int == 4000 - written)
        }
        let said = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(said.contains("Tether's trace \(file.path) lacks \(4000 - written) events: it has reached its limit"))
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
        #expect(size ?? .max <= 65536)
    }

    @Test func `L5 at the limit no end is written whose beginning is not`() async throws {
        let file = TracedEvent.freshFile()
        defer { try? FileManager.default.removeItem(at: file) }
        await #expect(processExitsWith: .success) { [path = file.path as String] in
            let (center, long) = (ObserverCenter(), Notification.Name(String(repeating: "long", count: 110)))
            let token = center.observe(.sample) { _ in center.post(name: long, object: nil) }
            let other = center.observe(long) { _ in }
            try Tether.Trace.start(writingTo: URL(filePath: path), limit: 65536)
            for _ in 0..<200 { center.post(name: .sample, object: nil) }
            #expect(try #require(Tether.Trace.stop()).notWritten > 0)
            withExtendedLifetime((token, other)) {}
        }
        var depth = 0
        for event in try TracedEvent.read(file) {
            depth += event.phase == "B" ? 1 : event.phase == "E" ? -1 : 0
            #expect(depth >= 0)
        }
    }

    @Test func `L5 a trace after one that reached its limit has all, of the thread that starts it, too`() async {
        await #expect(processExitsWith: .success) {
            let center = ObserverCenter()
            try Tether.Trace.start(writingTo: TracedEvent.freshFile(), limit: 65536)
            for _ in 0..<2000 { center.post(name: .sample, object: nil) }
            #expect(try #require(Tether.Trace.stop()).notWritten > 0)
            try Tether.Trace.start(writingTo: TracedEvent.freshFile())
            center.post(name: .sample, object: nil)
            #expect(Tether.Trace.stop() == Tether.Trace.Summary(written: 2, notWritten: 0))
        }
    }

    #if os(Linux)
    @Test func `L5 a signal's handler that ends the program in the middle of an event is not waited for`() async {
        for _ in 0..<5 {
            await #expect(processExitsWith: .success) {
                signal(SIGALRM) { _ in exit(EXIT_SUCCESS) }
                try Tether.Trace.start(writingTo: TracedEvent.freshFile())
                let isWriting = Flag()
                let thread = Box<pthread_t?>(nil)
                _ = Crew {
                    // Threads of Dispatch have most signals blocked, and so have those that they start.
                    var signals = sigset_t()
                    unsafe sigemptyset(&signals)
                    unsafe sigaddset(&signals, SIGALRM)
                    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
                    thread.set(pthread_self())
                    for _ in 0..<1000 { TraceEvent.write(.instant, "event") }
                    isWriting.raise()
                    while true { TraceEvent.write(.instant, "event") }
                }
                while !isWriting.isRaised { sched_yield() }
                pthread_kill(thread.value!, SIGALRM)
                while true { pause() }
            }
        }
    }
    #endif

    @Test func `L5 a crash keeps the count of what was not written`() async throws {
        let file = TracedEvent.freshFile()
        defer { try? FileManager.default.removeItem(at: file) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = file.path as String] in
            let center = ObserverCenter()
            try Tether.Trace.start(writingTo: URL(filePath: path), limit: 65536)
            for _ in 0..<2000 { center.post(name: .sample, object: nil) }
            kill(getpid(), SIGKILL)
        }
        let events = try TracedEvent.read(file, isComplete: false)
        let written = events.count { $0.phase == "B" || $0.phase == "E" }
        #expect(events.first { $0.name == "trace begins" }?.arguments["not written"] as? Int == 4000 - written)
    }

    @Test func `L5 a program's end completes its trace`() async throws {
        let file = TracedEvent.freshFile()
        defer { try? FileManager.default.removeItem(at: file) }
        await #expect(processExitsWith: .success) { [path = file.path as String] in
            try Tether.Trace.start(writingTo: URL(filePath: path))
            ObserverCenter().post(name: .sample, object: nil)
            exit(EXIT_SUCCESS)
        }
        let last = try TracedEvent.read(file).last
        #expect(last?.arguments["written"] as? Int == 2)
    }

    @Test func `L5 a process that was forked off writes nothing, and may write a trace of its own`() async {
        await #expect(processExitsWith: .success) {
            let (center, file, other) = (ObserverCenter(), TracedEvent.freshFile(), TracedEvent.freshFile())
            // SAFETY: the C library's; Swift has it hidden.
            typealias Fork = @convention(c) () -> pid_t
            let fork = unsafe unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
            try Tether.Trace.start(writingTo: file)
            center.post(name: .sample, object: nil)
            let child = fork()
            if child == 0 {
                center.post(name: .other, object: nil)
                guard !Tether.Trace.isOn, Tether.Trace.stop() == nil else { _exit(1) }
                // Posts find names without the lock again.
                guard center.core.cache.load(ordering: .relaxed) != 0 else { _exit(4) }
                guard (try? Tether.Trace.start(writingTo: other)) != nil else { _exit(2) }
                center.post(name: .third, object: nil)
                _exit(Tether.Trace.stop()?.written == 2 ? 0 : 3)
            }
            var status: CInt = -1
            #expect(unsafe waitpid(child, &status, 0) == child && status == 0)
            center.post(name: .sample, object: nil)
            #expect(Tether.Trace.stop()?.written == 4)
            let names = try TracedEvent.read(file).filter { $0.phase == "B" }.map(\.name)
            #expect(names == ["post sample", "post sample"])
            let others = try TracedEvent.read(other)
            #expect(others.contains { $0.name == "post third" })
        }
    }

    @Test func `L5 threads that come and go while traces do each write all that they do`() async {
        await #expect(processExitsWith: .success) {
            let center = ObserverCenter()
            let token = center.observe(.sample) { _ in }
            let isOver = Flag()
            let crew = (0..<2).map { _ in
                Crew { while !isOver.isRaised { Crew.run(2) { _ in center.post(name: .sample, object: nil) } } }
            }
            for round in 0..<100 {
                let events = try TracedEvent.events { center.post(name: .other, object: nil) }
                #expect(events.contains { $0.description == "B post other" }, "round \(round)")
            }
            isOver.raise()
            for member in crew { member.join() }
            withExtendedLifetime(token) {}
        }
    }

    // MARK: Who may write

    @Test func `L5 X1 a trace is refused beside another one, and where it cannot be written, with the remedy`() async {
        await #expect(processExitsWith: .success) {
            func refusal(_ file: URL, limit: Int = 1 << 20) -> String {
                do {
                    try Tether.Trace.start(writingTo: file, limit: limit)
                    return "no refusal"
                } catch { return error.localizedDescription }
            }
            let file = TracedEvent.freshFile()
            let call = "Trace.start(writingTo: \(file.path)):"
            let page = try #require(URL(string: "https://example.com/trace.json"))
            #expect(
                refusal(page)
                    == "Trace.start(writingTo: https://example.com/trace.json): it is not the URL of a file; "
                    + "make one by URL(filePath:).")
            #expect(
                refusal(file, limit: 65535)
                    == "\(call) it may take 65535 bytes, or less by the system's limit; let it take 65536 or more.")
            #expect(!FileManager.default.fileExists(atPath: file.path))
            #expect(
                refusal(file, limit: .max)
                    == "\(call) there is no room for \(Int.max) bytes in the address space; pass a lower limit.")
            #expect(
                refusal(URL(filePath: "/nowhere/trace.json"))
                    == "Trace.start(writingTo: /nowhere/trace.json): No such file or directory; "
                    + "pass a file on a disk that can be written.")
            // As another process does.
            let other = unsafe open(file.path, O_RDWR)
            #expect(flock(other, LOCK_EX) == 0)
            #expect(
                refusal(file) == "\(call) another process, or copy of Tether, writes a trace there; "
                    + "give each a file of its own.")
            close(other)
            try Tether.Trace.start(writingTo: file)
            #expect(refusal(file) == "\(call) a trace is being written already; call Trace.stop() first.")
            #expect(Tether.Trace.stop()?.written == 0)
        }
    }

    @Test func `L5 a scope writes a trace of its body, and hands on what that returns or throws`() async {
        await #expect(processExitsWith: .success) {
            struct Planned: Error {}
            let (center, file) = (ObserverCenter(), TracedEvent.freshFile())
            let result = try Tether.Trace.recording(to: file) {
                center.post(name: .sample, object: nil)
                return 41
            }
            #expect(result == 41)
            let events = try TracedEvent.read(file)
            #expect(events.contains { $0.name == "post sample" })
            #expect(throws: Planned.self) { try Tether.Trace.recording(to: file) { throw Planned() } }
            await #expect(throws: Planned.self) {
                try await Tether.Trace.recording(to: file) {
                    await Task.yield()
                    throw Planned()
                }
            }
            #expect(!Tether.Trace.isOn)
        }
    }

    #if os(Linux)
    @Test func `L5 a program whose environment names a file writes a trace there`() throws {
        let file = TracedEvent.freshFile()
        defer { try? FileManager.default.removeItem(at: file) }
        let products = try #require(Bundle.main.executableURL).resolvingSymlinksInPath().deletingLastPathComponent()
        func run() throws -> String {
            let (process, errors) = (Process(), Pipe())
            process.executableURL = products.appending(path: "Coalescing")
            process.environment = ProcessInfo.processInfo.environment.merging(["TETHER_TRACE": file.path]) { $1 }
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
        let main = events.first { $0.name == "thread_name" && $0.arguments["name"] as? String == "main" }
        #expect(events.filter { $0.phase == "B" }.allSatisfy { $0.thread == main?.thread })
        let names = events.filter { $0.phase == "B" }.map(\.name)
        #expect(names == Array(repeating: ["post needsRedraw", "needsRedraw"], count: 4).flatMap(\.self))
        // As another process does.
        let other = unsafe open(file.path, O_RDWR)
        #expect(flock(other, LOCK_EX) == 0)
        let refused = try run()
        #expect(
            refused == "TETHER_TRACE=\(file.path): no trace is written: "
                + "another process, or copy of Tether, writes one there; give each a file of its own.\n")
        close(other)
    }
    #endif
}

#endif
