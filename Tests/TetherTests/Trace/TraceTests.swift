#if os(Linux) || os(macOS)

import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Tether

#if canImport(Darwin)
private typealias SendableAsThread = Sendable
#else
private typealias SendableAsThread = Any
#endif

/// The events of a trace. Each test has a process of its own, because a trace has the events of the
/// whole process. The tests run serially, because many processes at once would starve other tests.
@Suite(.ownThread, .serialized) struct TraceTests {
    @Test func `L5 a post is a slice, with a slice of each called handler by name and line`()
        async
    {
        await #expect(processExitsWith: .success) {
            let center = ObserverCenter()
            let (line, token) = (
                #line, center.observe(.sample) { _ in center.post(name: .other, object: nil) }
            )
            let second = center.observe(.sample, once: true) { _ in }
            let events = try TracedEvent.events {
                #expect(Trace.isOn)
                center.post(name: .sample, object: nil)
                center.post(name: .sample, object: nil)
            }
            #expect(!Trace.isOn)
            #expect(
                events.map(\.description) == [
                    "B post sample", "B sample", "B post other", "E ", "E ", "B sample", "E ",
                    "B end of observer sample", "E ", "E ",
                    "B post sample", "B sample", "B post other", "E ", "E ", "E ",
                ])
            #expect(
                events[1].arguments["observer"] as? String == "TetherTests/TraceTests.swift:\(line)"
            )
            #expect(events[1].name == "sample · TraceTests.swift:\(line)")
            #expect(events[7].arguments["because"] as? String == "it was called once")
            #expect(Set(events.map(\.thread)).count == 1)
            // Not traced, and by way of the cache again.
            center.post(name: .sample, object: nil)
            #expect(center.core.quickMatching.cache.load(ordering: .relaxed) != 0)
            withExtendedLifetime((token, second)) {}
        }
    }

    @Test func `L5 a post of a name that is in the cache since before the trace is traced`() async {
        await #expect(processExitsWith: .success) {
            let center = ObserverCenter()
            let token = center.observe(.sample) { _ in }
            center.post(name: .sample, object: nil)
            center.post(name: .sample, object: nil)
            #expect(center.core.quickMatching.cache.load(ordering: .relaxed) != 0)
            let events = try TracedEvent.events { center.post(name: .sample, object: nil) }
            #expect(events.map(\.description) == ["B post sample", "B sample", "E ", "E "])
            withExtendedLifetime(token) {}
        }
    }

    @Test func `L5 a delivery waits in its target's row, and an arrow joins its post and call`()
        async
    {
        await #expect(processExitsWith: .success) {
            let (center, queue) = (ObserverCenter(), DispatchQueue(label: "traced"))
            let token = center.observe(.sample, on: .dispatchQueue(queue)) { _ in }
            let events = try TracedEvent.events {
                queue.suspend()
                center.post(name: .sample, object: nil)
                center.post(name: .sample, object: nil)
                Thread.sleep(forTimeInterval: 0.01)
                queue.resume()
                queue.settle()
            }
            let (starts, finishes) = (
                events.filter { $0.phase == "s" }, events.filter { $0.phase == "f" }
            )
            let bars = events.filter { ["b", "e"].contains($0.phase) }
            #expect(
                bars.map(\.description)
                    == ["b", "b", "e", "e"].map { "\($0) waiting for dispatch queue traced" })
            #expect(bars.map(\.id) == starts.map(\.id) + finishes.map(\.id))
            #expect(
                starts.count == 2 && starts.map(\.id) == finishes.map(\.id)
                    && starts[0].id != starts[1].id)
            #expect(starts[0].thread == starts[1].thread)
            let calls = events.filter { $0.description == "B sample" }
            #expect(finishes.map(\.thread) == calls.map(\.thread))
            for (start, call) in zip(starts, calls) {
                #expect(call.thread != start.thread)
                let waited = try #require(call.arguments["waited µs"] as? Double)
                #expect(waited >= 10_000 && waited <= call.time - start.time)
                #expect(
                    call.arguments["on"] as? String
                        == DeliveryTarget.dispatchQueue(queue).description)
            }
            withExtendedLifetime(token) {}
        }
    }

    @Test func `L5 a dropped delivery is written with the reason`() async {
        await #expect(processExitsWith: .success) {
            let (center, scheduler) = (ObserverCenter(), ManualScheduler())
            let token = center.observe(.sample, on: .custom(scheduler)) { _ in }
            token.backlog = .newest(1)
            let unheld = center.observe(.other) { _ in }
            let buffer = center.notifications(named: .third, buffering: .newest(1))
            let events = try TracedEvent.events {
                center.post(name: .sample, object: nil)
                center.post(name: .sample, object: nil)
                unheld.mute()
                center.post(name: .other, object: nil)
                unheld.mute(keepingNewest: true)
                center.post(name: .other, object: nil)
                center.post(name: .other, object: nil)
                center.post(name: .third, object: nil)
                center.post(name: .third, object: nil)
                token.cancel()
                unheld.cancel()
            }
            #expect(
                events.filter { $0.phase == "i" }.map {
                    "\($0.name): \($0.arguments["because"] ?? "")"
                } == [
                    "dropped sample: its backlog is full", "dropped other: its observer is muted",
                    "dropped other: its observer is muted",
                    "dropped: its buffer is full",
                    "dropped sample: its observer ends", "dropped other: its observer ends",
                ])
            // Each wait has ended.
            let (begun, ended) = (
                events.filter { $0.phase == "b" }, events.filter { $0.phase == "e" }
            )
            #expect(begun.count == 4 && Set(begun.map(\.id)) == Set(ended.map(\.id)))
            #expect(Set(begun.map(\.name)) == Set(ended.map(\.name)))
            withExtendedLifetime(buffer) {}
        }
    }

    @Test func `L5 D6 a switch is traced with the target`() async {
        await #expect(processExitsWith: .success) {
            let center = ObserverCenter()
            let (line, token) = (#line, center.observe(.sample) { _ in })
            let events = try TracedEvent.events {
                token.target = .dispatchQueue(DispatchQueue(label: "\"quoted\""))
            }
            #expect(events.map(\.description) == ["i target dispatch queue \"quoted\""])
            #expect(
                events[0].arguments["observer"] as? String == "TetherTests/TraceTests.swift:\(line)"
            )
        }
    }

    @Test func `L5 O3 an owner's end is a slice with those of its observers, before its deinit`()
        async
    {
        await #expect(processExitsWith: .success) {
            let (center, log) = (ObserverCenter(), Log<String>())
            let owner = Holder(
                LoggedObject("owner", log, atEnd: { _ in center.post(name: .third, object: nil) }))
            center.observe(.sample, owner: owner.object!) { _, _ in }
            center.observe(.other, owner: owner.object!) { _, _ in }
            let instance = describeInstance(owner.object!)
            let events = try TracedEvent.events { owner.release() }
            #expect(
                events.map(\.description) == [
                    "B end of \(instance)", "B end of observer sample", "E ",
                    "B end of observer other", "E ", "E ",
                    "B post third", "E ",
                ])
            #expect(events[1].arguments["because"] as? String == "its owner ends")
        }
    }

    @Test func `L5 O3 the captures of each observer are released before the next observer's end`()
        async
    {
        await #expect(processExitsWith: .success) {
            let center = ObserverCenter()
            let owner = Holder(LoggedObject("owner", Log()))
            for name in [Notification.Name.sample, .other] {
                let capture = LoggedObject(
                    "capture", Log(), atEnd: { _ in center.post(name: .third, object: nil) })
                center.observe(name, owner: owner.object!) { _, _ in capture.touch() }
            }
            let events = try TracedEvent.events { owner.release() }
            #expect(
                events.dropFirst().map(\.description) == [
                    "B end of observer sample", "E ", "B post third", "E ",
                    "B end of observer other", "E ", "B post third", "E ", "E ",
                ])
        }
    }

    @Test func `L5 M5 an observer's end names its sender's end, its center's end or cancellation`()
        async
    {
        await #expect(processExitsWith: .success) {
            let center = Holder(ObserverCenter())
            let sender = Holder(LoggedObject("sender", Log()))
            let tokens = [
                center.object!.observe(.sample, from: sender.object!) { _ in },
                center.object!.observe(.other) { _ in }, center.object!.observe(.third) { _ in },
                center.object!.observe(nil) { _ in },
            ]
            let events = try TracedEvent.events {
                tokens[2].cancel()
                tokens[3].cancel()
                sender.release()
                center.release()
            }
            #expect(
                events.filter { $0.description.hasPrefix("B end of observer") }
                    .map { "\($0.name): \($0.arguments["because"] ?? "")" } == [
                        "end of observer third: it was cancelled or replaced",
                        "end of observer any name: it was cancelled or replaced",
                        "end of observer sample: its sender ended",
                        "end of observer other: its center ended",
                    ])
        }
    }

    @Test func `L5 an async handler is a slice of its own, on any thread`() async {
        await #expect(processExitsWith: .success) {
            let (center, file, gate) = (ObserverCenter(), TracedEvent.freshFile(), AsyncGate())
            let token = center.observe(.sample) { (_: Notification) async in
                await Task.yield()
                gate.open()
            }
            try await Trace.record(to: file) {
                center.post(name: .sample, object: nil)
                await gate.pass()
                await token.cancelAndWait()
            }
            let events = try TracedEvent.read(file).filter { $0.name == "async handler" }
            #expect(
                events.map(\.phase) == ["b", "e"] && events[0].id == events[1].id
                    && events[0].id != nil)
        }
    }

    @Test func `L5 F1 over Foundation's center each delivery is traced in a slice of its post`()
        async
    {
        await #expect(processExitsWith: .success) {
            let center = NotificationCenter()
            let token = center.observe(.sample) { _ in }
            let events = try TracedEvent.events { center.post(name: .sample, object: nil) }
            #expect(events.map(\.description) == ["B post sample", "B sample", "E ", "E "])
            withExtendedLifetime(token) {}
        }
    }

    @Test func `L5 threads are traced with their names`() async {
        await #expect(processExitsWith: .success) {
            let (center, file) = (ObserverCenter(), TracedEvent.freshFile())
            let thread = RunLoopThread(name: "decoder")
            let token = center.observe(.sample, on: .thread(thread)) { _ in }
            let gate = Gate()
            let last = center.observe(.sample, on: .thread(thread)) { _ in gate.open() }
            try Trace.record(to: file) {
                thread.start()
                center.post(name: .sample, object: nil)
                gate.pass()
            }
            let events = try TracedEvent.read(file)
            let names = events.filter { $0.name == "thread_name" }
            let call = try #require(events.first { $0.description == "B sample" })
            #expect(
                names.first { $0.thread == call.thread }?.arguments["name"] as? String == "decoder")
            #expect(events.contains { $0.name == "process_name" })
            thread.cancel()
            withExtendedLifetime((token, last)) {}
        }
    }

    /// A thread whose name is code of the program, which posts.
    private final class PostingThread: Thread, @unchecked SendableAsThread {
        let center: ObserverCenter
        let ended = Gate()

        init(_ center: ObserverCenter) {
            self.center = center
            super.init()
        }

        override var name: String? {
            get {
                center.post(name: .other, object: nil)
                return "posting"
            }
            set { super.name = newValue }
        }

        override func main() {
            center.post(name: .sample, object: nil)
            ended.open()
        }
    }

    @Test func `L5 R6 a thread whose name is code of the program is traced without that code`()
        async
    {
        await #expect(processExitsWith: .success) {
            let (center, file) = (ObserverCenter(), TracedEvent.freshFile())
            let thread = PostingThread(center)
            try Trace.record(to: file) {
                thread.start()
                thread.ended.pass()
            }
            let events = try TracedEvent.read(file)
            let post = try #require(events.first { $0.description == "B post sample" })
            let end = try #require(events.last { $0.thread == post.thread })
            #expect(end.phase == "E" && end.time > post.time)
            #expect(events.contains { $0.name == "thread_name" && $0.thread == post.thread })
        }
    }
}

#endif
