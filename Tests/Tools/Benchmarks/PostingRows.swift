import Foundation
import Tether

extension Notification.Name {
    static let measured = Notification.Name("Benchmarks.measured")
    static let unobserved = Notification.Name("Benchmarks.unobserved")
}

/// Work for a handler that the optimiser does not remove.
final class Sink: @unchecked Sendable {
    var sum = 0
}

@inline(never)
func addOne(_ sink: Sink) { sink.sum &+= 1 }

final class Plain: Sendable {}

extension Benchmark {
    static let posting = [
        postToNobody, postToOne, postToMany, postToOwners, postToOneSender, postAmongOthers,
        postBesideAnyName,
    ]

    private static let postToNobody = Benchmark("post by name, 0 observers", goal: 0.12) {
        let (ours, theirs) = (ObserverCenter(), NotificationCenter())
        let token = ours.observe(.measured) { _ in }
        _ = theirs.addObserver(forName: .measured, object: nil, queue: nil) { _ in }
        return .timed(
            Subject(count: 50_000, keeping: token) {
                for _ in 0..<$0 { ours.post(name: .unobserved, object: nil) }
            },
            Subject(count: 50_000) {
                for _ in 0..<$0 { theirs.post(name: .unobserved, object: nil) }
            })
    }

    private static let postToOne = Benchmark("post by name, 1 observer", goal: 0.08) {
        let (ours, theirs, sink) = (ObserverCenter(), NotificationCenter(), Sink())
        let token = ours.observe(.measured) { _ in addOne(sink) }
        _ = theirs.addObserver(forName: .measured, object: nil, queue: nil) { _ in addOne(sink) }
        return .timed(
            Subject(count: 50_000, keeping: token) {
                for _ in 0..<$0 { ours.post(name: .measured, object: nil) }
            },
            Subject(count: 20_000) { for _ in 0..<$0 { theirs.post(name: .measured, object: nil) } }
        )
    }

    private static let postToMany = Benchmark(
        "post, 1000 observers", reference: "array of boxes", goal: 1.25
    ) {
        let ours = ObserverCenter()
        let sinks = (0..<1000).map { _ in Sink() }
        let limit = LimitCenter(sinks.map { sink in LimitCenter.Box { _ in addOne(sink) } })
        let tokens = sinks.map { sink in ours.observe(.measured) { _ in addOne(sink) } }
        let notification = Notification(name: .measured)
        return .timed(
            Subject(count: 200, keeping: tokens) { for _ in 0..<$0 { ours.post(notification) } },
            Subject(count: 200) { for _ in 0..<$0 { limit.post(notification) } })
    }

    private static let postToOwners = Benchmark(
        "post, 1000 observers handed their owners", reference: "array of closures", goal: 1.2
    ) {
        let ours = ObserverCenter()
        let owners = (0..<1000).map { _ in Sink() }
        for owner in owners { ours.observe(.measured, owner: owner) { owner, _ in addOne(owner) } }
        let closures = ContiguousArray(owners.map { sink in Closure { _ in addOne(sink) } })
        let notification = Notification(name: .measured)
        return .timed(
            Subject(count: 100, keeping: owners) { for _ in 0..<$0 { ours.post(notification) } },
            Subject(count: 100) { for _ in 0..<$0 { callAll(closures, notification) } })
    }

    private static let postToOneSender = Benchmark(
        "post to 1 of n senders of a name", size: "n = 1000", reference: "n = 1", goal: 1.25
    ) {
        let sink = Sink()
        func subject(_ senders: [Plain]) -> Subject {
            let center = ObserverCenter()
            let tokens = senders.map { center.observe(.measured, from: $0) { _ in addOne(sink) } }
            let notification = Notification(name: .measured, object: senders[0])
            return Subject(count: 20_000, keeping: tokens) {
                for _ in 0..<$0 { center.post(notification) }
            }
        }
        let senders = (0..<1000).map { _ in Plain() }
        return .timed(subject(senders), subject([senders[0]]))
    }

    private static let postAmongOthers = Benchmark(
        "post with other registrations", size: "100000", reference: "alone", goal: 1.25,
        isLarge: true
    ) {
        let sink = Sink()
        let notification = Notification(name: .measured)
        func subject(among others: Int) -> Subject {
            let center = ObserverCenter()
            var tokens = [center.observe(.measured) { _ in addOne(sink) }]
            for number in 0..<others {
                tokens.append(center.observe(Notification.Name("other \(number)")) { _ in })
            }
            return Subject(count: 50_000, keeping: tokens) {
                for _ in 0..<$0 { center.post(notification) }
            }
        }
        return .timed(subject(among: 100_000), subject(among: 0))
    }

    private static let postBesideAnyName = Benchmark(
        "post beside one observer of any name", reference: "two of the name", goal: 2.5
    ) {
        let sink = Sink()
        func subject(other name: Notification.Name?) -> Subject {
            let center = ObserverCenter()
            let tokens = [
                center.observe(.measured) { _ in addOne(sink) },
                center.observe(name) { _ in addOne(sink) },
            ]
            return Subject(count: 50_000, keeping: tokens) {
                for _ in 0..<$0 { center.post(name: .measured, object: nil) }
            }
        }
        return .timed(subject(other: nil), subject(other: .measured))
    }
}
