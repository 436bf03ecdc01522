import Foundation
import Tether

private struct Progress: NotificationCenter.MainActorMessage {
    typealias Subject = Thing
    let percent: Int
}

private struct Done: NotificationCenter.AsyncMessage {
    typealias Subject = Thing
    let number: Int
}

private actor Collector {
    private var numbers: [Int] = []

    func add(_ number: Int) { numbers.append(number) }
    var all: [Int] { numbers }
}

@MainActor private final class View {
    var calls = 0
}

/// A task's result, awaited by the main run loop.
private final class Outcome<Value: Sendable>: Sendable {
    private let kept = Guarded<Value?>(nil)

    init(_ body: @escaping @Sendable () async -> Value) {
        Task.detached {
            let value = await body()
            self.kept.withLock { $0 = value }
        }
    }

    var value: Value? { kept.withLock { $0 } }
}

extension Smoke {
    mutating func mainActor() {
        let (center, view) = (ObserverCenter(), View())
        center.observe(.smoke, owner: view, on: .mainActor) { view, _ in view.calls += 1 }
        center.post(name: .smoke, object: nil)
        expect("P1", "posted on the main actor", view.calls, is: 1)
        Thread.detachNewThread { center.post(name: .smoke, object: nil) }
        wait("P1") { view.calls == 2 }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    mutating func messages() {
        let (center, thing, other) = (ObserverCenter(), Thing(), Thing())
        let (view, collector, log) = (View(), Collector(), Log())
        center.observe(of: thing, for: .type(Progress.self), owner: view) { view, message in
            view.calls += message.percent
        }
        let plain = center.observe(nil, from: thing) { _ in log.add("plain") }
        center.post(Progress(percent: 50), subject: thing)
        center.post(Progress(percent: 7), subject: other)
        expect("T1, T3", "a message of the main actor", view.calls, is: 50)
        expect("T2", "a plain observer of it", log.all, is: ["plain"])

        let token = center.observe(for: .type(Done.self)) { message in
            await collector.add(message.number)
        }
        for number in 1...20 { center.post(Done(number: number), subject: thing) }
        let numbers = Outcome {
            while await collector.all.count < 20 { await Task.yield() }
            return await collector.all
        }
        wait("T1") { numbers.value != nil }
        expect("T1, T3", "async messages", numbers.value ?? [], is: Array(1...20))
        token.cancel()
        plain.cancel()
    }

    mutating func sequences() {
        let (center, owner, sender) = (ObserverCenter(), Holder(Thing()), Holder(Thing()))
        let owned = center.notifications(named: .smoke, owner: owner.held)
        let sent = center.notifications(named: .other, from: sender.held)
        let endless = center.notifications(named: .smoke)
        for _ in 1...3 {
            center.post(name: .smoke, object: nil)
            center.post(name: .other, object: sender.held)
        }
        let log = Log()
        let ends = [owned, sent].map { sequence in
            Outcome {
                for await _ in sequence { log.add("value") }
                return "ended"
            }
        }
        wait("S1") { log.all.count == 6 }
        expect("S2", "two sequences, before their end", ends.map(\.value), is: [nil, nil])
        owner.letGo()
        sender.letGo()
        wait("S2") { ends.allSatisfy { $0.value != nil } }
        expect("S1, S2", "the values of two sequences", log.all.count, is: 6)

        let cancelled = Outcome {
            let task = Task { for await _ in endless {} }
            task.cancel()
            await task.value
            return true
        }
        wait("S2") { cancelled.value != nil }
        expect("S2", "what is left", center.audit().count, is: 0)
    }
}
