import Foundation
import Testing
import Tether

/// Actors as owners, with isolated handlers, on an executor that the test drives.
@Suite(.ownThread) struct ActorOwnerTests {
    private let center = ObserverCenter()
    private let executor = ManualExecutor()
    private let log = Log<String>()

    private func recorder() -> Recorder { Recorder(on: executor, log: log) }

    @Test func `P2 an actor's handlers run on the actor, in posting order across its observers`() {
        let owner = recorder()
        center.observe(.sample, owner: owner) { (owner: isolated Recorder, note) in
            owner.record("a\(note.number)")
        }
        center.observe(.sample, owner: owner) { owner, note in owner.record("b\(note.number)") }
        center.observe(.other, owner: owner) { $0.record("c\($1.number)") }
        for number in 1...2 {
            center.post(.sample, number: number)
            center.post(.other, number: number)
        }
        #expect(log.entries == [])
        executor.runNext()
        #expect(log.entries == ["a1", "b1"])
        for _ in 0..<3 { executor.runNext() }
        #expect(log.entries == ["a1", "b1", "c1", "a2", "b2", "c2"])
        #expect(
            center.audit().map(\.target) == ["actor Recorder", "actor Recorder", "actor Recorder"])
        withExtendedLifetime(owner) {}
    }

    @Test func `O13 P2 a cancelled loop calls no handler for an element that waits for the actor`()
        async
    {
        let owner = recorder()
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        let loop = numbers.observe(owner: owner) { (owner: isolated Recorder, number) in
            owner.record("\(number)")
        }
        input.yield(1)
        executor.expectJob()
        loop.cancel()
        executor.runNext()
        await loop.value
        #expect(log.entries == [])
    }

    @Test func `P2 D4 a job that overtakes earlier jobs makes their deliveries first`() {
        let owner = recorder()
        let token = center.observe(.sample, owner: owner) { (owner: isolated Recorder, note) in
            owner.record("\(note.number)")
        }
        center.post(.sample, numbers: 1...3)
        executor.runNext(newest: true)
        #expect(log.entries == ["1", "2", "3"])
        center.post(.sample, number: 4)
        executor.runNext(newest: true)
        #expect(log.entries == ["1", "2", "3", "4"])
        for _ in 0..<2 { executor.runNext() }
        #expect(log.entries.count == 4)
        withExtendedLifetime(token) {}
        withExtendedLifetime(owner) {}
    }

    @Test func `P2 O2 O3 an actor's observers do not retain it, and end before its deinit`() {
        let (center, log) = (center, log)
        let owner = Box<Recorder?>()
        owner.set(
            Recorder(on: executor, log: log) {
                log.add("deinit with \(center.audit().count) observers")
            })
        let probe = ObjectProbe(owner.value!)
        let token = {
            let capture = Ending { log.add("released") }
            return center.observe(.sample, owner: owner.value!) { owner, _ in
                capture.touch()
                owner.record("ran")
            }
        }()
        center.post(.sample, number: 1)
        executor.runNext()
        owner.drop()
        #expect(
            log.entries
                == (endsFollowDeinit
                    ? ["ran", "deinit with 1 observers", "released"]
                    : ["ran", "released", "deinit with 0 observers"]))
        #expect(!token.isActive && probe.isDeallocated && !probe.hasRecord)
        #expect(center.isEmpty)
    }

    @Test func `P2 O2 a waiting delivery retains its actor, which is deallocated afterwards`() {
        let (center, log) = (center, log)
        let owner = Box<Recorder?>()
        owner.set(Recorder(on: executor, log: log) { log.add("deinit") })
        let probe = ObjectProbe(owner.value!)
        center.observe(.sample, owner: owner.value!) { owner, note in owner.record("\(note.number)")
        }
        center.post(.sample, number: 1)
        executor.expectJob()
        owner.drop()
        #expect(!probe.isDeallocated)
        executor.runNext()
        #expect(log.entries == ["1", "deinit"])
        #expect(probe.isDeallocated && center.isEmpty)
    }

    @Test func `P2 O8 an actor that observes in its deinit gets an inactive observer`() {
        actor Late {
            let center: ObserverCenter
            let log: Log<String>

            init(_ center: ObserverCenter, _ log: Log<String>) {
                self.center = center
                self.log = log
            }

            deinit {
                let token = center.observe(.sample, owner: self) { (_: isolated Late, _) in }
                log.add(token.isActive ? "active" : "inactive")
            }
        }
        let owner = Box(optional: Late(center, log))
        owner.drop()
        #expect(log.entries == ["inactive"])
        center.post(.sample, number: 1)
        #expect(center.isEmpty)
    }

    @Test func `P2 D4 an actor that is also a scheduler is distinguished from its blocks`()
        async
    {
        let (center, log, owner) = (center, log, SchedulingActor())
        let token = center.observe(.sample, on: .custom(owner)) { _ in log.add("scheduled") }
        await withCheckedContinuation { continuation in
            center.observe(.sample, owner: owner) { owner, _ in
                owner.assertIsolated()
                log.add("isolated")
                continuation.resume()
            }
            center.post(.sample, number: 1)
        }
        #expect(log.entries == ["isolated"])
        owner.jobs.runAll()
        #expect(log.entries == ["isolated", "scheduled"])
        withExtendedLifetime(token) {}
    }

    private actor SchedulingActor: DeliveryScheduler {
        nonisolated let jobs = ManualScheduler()

        nonisolated func schedule(_ job: @escaping @Sendable () -> Void) { jobs.schedule(job) }
    }

    @Test func `P2 an actor with the usual executor, and the main actor, are owners as well`() async
    {
        actor Plain { var numbers: [Int] = [] }
        let (center, log, plain) = (center, log, Plain())
        let wish = center.observe(.other, owner: MainActor.shared) {
            (_: isolated MainActor, note) in
            MainActor.assertIsolated()
            log.add("main \(note.number)")
        }
        #expect(wish.target.description == "main")
        await withCheckedContinuation { continuation in
            center.observe(.sample, owner: plain) { (owner: isolated Plain, note) in
                owner.assertIsolated()
                owner.numbers.append(note.number)
                if note.number == 50 { continuation.resume() }
            }
            onThreads({ center.post(.sample, numbers: 1...50) })
        }
        #expect(await plain.numbers == Array(1...50))
        onThreads({ center.post(.other, number: 1) })
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { DispatchQueue.main.async { continuation.resume() } }
        }
        #expect(log.entries == ["main 1"])
        wish.cancel()
    }
}
