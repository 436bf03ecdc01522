import Foundation
import Tether

extension Notification.Name {
    static let measured = Notification.Name("Benchmarks.measured")
    static let unobserved = Notification.Name("Benchmarks.unobserved")
}

/// Something for a handler to do that is not optimised away.
final class Sink: @unchecked Sendable {
    var sum = 0
}

@inline(never)
func addOne(_ sink: Sink) { sink.sum &+= 1 }

final class Plain: Sendable {}

extension Benchmarks {
    func postNone() {
        let (ours, theirs) = (ObserverCenter(), NotificationCenter())
        let kept: [Any] = [
            ours.observe(.measured) { _ in },
            theirs.addObserver(forName: .measured, object: nil, queue: nil) { _ in },
        ]
        compare(
            "post by name, 0 observers", goal: 0.25,
            Subject("Tether", count: 50_000) { for _ in 0..<$0 { ours.post(name: .unobserved, object: nil) } },
            Subject("Foundation", count: 50_000) { for _ in 0..<$0 { theirs.post(name: .unobserved, object: nil) } })
        withExtendedLifetime(kept) {}
    }

    func postOne() {
        let (ours, theirs) = (ObserverCenter(), NotificationCenter())
        let sink = Sink()
        let limit = LimitCenter([LimitCenter.Box { _ in addOne(sink) }])
        let channel = ours.channel(for: .measured)
        let kept: [Any] = [
            ours.observe(.measured) { _ in addOne(sink) },
            theirs.addObserver(forName: .measured, object: nil, queue: nil) { _ in addOne(sink) },
        ]
        compare(
            "post by name, 1 observer", goal: 0.12,
            Subject("Tether", count: 50_000) { for _ in 0..<$0 { ours.post(name: .measured, object: nil) } },
            Subject("Foundation", count: 20_000) { for _ in 0..<$0 { theirs.post(name: .measured, object: nil) } })
        let notification = Notification(name: .measured)
        compare(
            "same through a channel resolved once", goal: 2,
            Subject("Tether", count: 50_000) { for _ in 0..<$0 { channel.post(notification) } },
            Subject("limit", count: 50_000) { for _ in 0..<$0 { limit.post(notification) } })
        withExtendedLifetime(kept) {}
    }

    func postMany() {
        let ours = ObserverCenter()
        let sinks = (0..<1000).map { _ in Sink() }
        let limit = LimitCenter(sinks.map { sink in LimitCenter.Box { _ in addOne(sink) } })
        let kept = sinks.map { sink in ours.observe(.measured) { _ in addOne(sink) } }
        let notification = Notification(name: .measured)
        compare(
            "post, 1000 observers", goal: 1.3,
            Subject("Tether", count: 200) { for _ in 0..<$0 { ours.post(notification) } },
            Subject("limit", count: 200) { for _ in 0..<$0 { limit.post(notification) } })
        withExtendedLifetime(kept) {}
    }

    func postOwners() {
        let ours = ObserverCenter()
        let owners = (0..<1000).map { _ in Sink() }
        for owner in owners { ours.observe(.measured, owner: owner) { owner, _ in addOne(owner) } }
        let closures = ContiguousArray(owners.map { sink in Closure { _ in addOne(sink) } })
        let notification = Notification(name: .measured)
        compare(
            "post, 1000 observers handed their owners", goal: 1.3,
            Subject("Tether", count: 100) { for _ in 0..<$0 { ours.post(notification) } },
            Subject("closures", count: 100) { for _ in 0..<$0 { callAll(closures, notification) } })
        withExtendedLifetime(owners) {}
    }

    func postSenders() {
        let sink = Sink()
        func center(_ senders: [Plain]) -> (ObserverCenter, [NotificationObserver]) {
            let center = ObserverCenter()
            return (center, senders.map { center.observe(.measured, from: $0) { _ in addOne(sink) } })
        }
        let senders = (0..<1000).map { _ in Plain() }
        let (one, many) = (center([senders[0]]), center(senders))
        let notification = Notification(name: .measured, object: senders[0])
        compare(
            "post to 1 of n senders of a name", size: "n = 1000", reference: "n = 1", goal: 1.25,
            Subject("Tether", count: 20_000) { for _ in 0..<$0 { many.0.post(notification) } },
            Subject("n = 1", count: 20_000) { for _ in 0..<$0 { one.0.post(notification) } })
    }

    func postAmongOthers() {
        let sink = Sink()
        let (alone, among) = (ObserverCenter(), ObserverCenter())
        var kept = [alone, among].map { center in center.observe(.measured) { _ in addOne(sink) } }
        for number in 0..<100_000 { kept.append(among.observe(Notification.Name("other \(number)")) { _ in }) }
        let notification = Notification(name: .measured)
        compare(
            "post with other registrations", size: "100000", reference: "alone", goal: 1.25,
            Subject("Tether", count: 50_000) { for _ in 0..<$0 { among.post(notification) } },
            Subject("alone", count: 50_000) { for _ in 0..<$0 { alone.post(notification) } })
        withExtendedLifetime(kept) {}
    }

    func postOnThreads() {
        let center = ObserverCenter()
        let kept = center.observe(.measured) { _ in }
        // SAFETY: the notification holds a name only.
        nonisolated(unsafe) let notification = Notification(name: .measured)
        let each = 100_000
        func posts(threads: Int) -> Subject {
            Subject("\(threads)", count: each * threads) { count in
                let share = count / threads
                DispatchQueue.concurrentPerform(iterations: 1) { _ in }
                let group = DispatchGroup()
                for _ in 0..<threads {
                    group.enter()
                    Thread.detachNewThread {
                        for _ in 0..<share { unsafe center.post(notification) }
                        group.leave()
                    }
                }
                group.wait()
            }
        }
        // Elapsed time x threads / posts, for threads that each have a core.
        let timings = Timing.interleaved([posts(threads: 1), posts(threads: 2)], rounds: rounds, clock: .elapsed)
        add(
            Row(
                "posting one name from 2 threads, x threads", size: "2", value: timings[1].median * 2,
                spread: timings[1].spread, reference: timings[0].median, "1 thread", goal: 1.2))
        for threads in [4, 8, 16, 32] {
            let timings = Timing.interleaved(
                [posts(threads: 1), posts(threads: threads)], rounds: rounds / 3 + 1, clock: .elapsed)
            add(
                Row(
                    "posting one name from n threads", size: "\(threads)", timings[1], to: timings[0], "1 thread",
                    goal: 2))
        }
        withExtendedLifetime(kept) {}
    }
}
