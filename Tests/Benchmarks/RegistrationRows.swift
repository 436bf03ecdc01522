import Foundation
import Tether

extension Benchmark {
    static let registering =
        [0, 1000, 100_000].map { registered in
            Benchmark("add + remove", size: "\(registered)", goal: 0.25, isLarge: registered > 10_000) {
                let (ours, theirs) = (ObserverCenter(), NotificationCenter())
                let tokens = (0..<registered).map { _ in ours.observe(.measured) { _ in } }
                for _ in tokens { _ = theirs.addObserver(forName: .measured, object: nil, queue: nil) { _ in } }
                return .timed(
                    Subject(count: 5000, keeping: tokens) {
                        for _ in 0..<$0 { ours.observe(.measured) { _ in }.stop() }
                    },
                    Subject(count: 5000) { addAndRemove($0, theirs) })
            }
        } + removals + manyNames + mutedOwners

    static let owning =
        [0, 1000, 100_000].map { owners in
            Benchmark(
                "attach to an owner + the owner's end", size: "\(owners)", reference: "Foundation's add + remove",
                goal: 0.33, isLarge: owners > 10_000
            ) {
                let (ours, theirs) = (ObserverCenter(), NotificationCenter())
                let others = (0..<owners).map { _ in Plain() }
                for owner in others { ours.observe(.measured, owner: owner) { _, _ in } }
                return .timed(
                    Subject(count: 5000, keeping: others) {
                        for _ in 0..<$0 { ours.observe(.measured, owner: Plain()) { _, _ in } }
                    },
                    Subject(count: 5000) { addAndRemove($0, theirs) })
            }
        } + hookedClass

    private static func addAndRemove(_ count: Int, _ center: NotificationCenter) {
        for _ in 0..<count {
            center.removeObserver(center.addObserver(forName: .measured, object: nil, queue: nil) { _ in })
        }
    }

    /// Many observers of one name, removed in one order or another: the cost for each must not grow with their number.
    private static let removals = ["oldest first", "newest first", "at random"].map { order in
        Benchmark(
            "add n, remove \(order), each", size: "n = 1000000", reference: "n = 1000", goal: 4, isLarge: true
        ) {
            func subject(_ size: Int) -> Subject {
                let center = ObserverCenter()
                var generator = Lehmer(state: 20)
                let indices =
                    switch order {
                    case "oldest first": Array(0..<size)
                    case "newest first": Array((0..<size).reversed())
                    default: (0..<size).shuffled(using: &generator)
                    }
                return Subject(count: size) { count in
                    for _ in 0..<max(1, count / size) {
                        let tokens = indices.map { _ in center.observe(.measured) { _ in } }
                        for index in indices { tokens[index].stop() }
                    }
                }
            }
            return .timed(subject(1_000_000), subject(1000))
        }
    }

    /// One sender that is observed under many names.
    private static let manyNames = [
        Benchmark(
            "observe n names of one sender + stop, each", size: "n = 40000", reference: "n = 1000", goal: 3,
            isLarge: true
        ) {
            func subject(_ size: Int) -> Subject {
                let (center, sender) = (ObserverCenter(), Plain())
                let names = (0..<size).map { Notification.Name("name \($0)") }
                return Subject(count: size) { count in
                    for _ in 0..<max(1, count / size) {
                        for token in names.map({ center.observe($0, from: sender) { _ in } }) { token.stop() }
                    }
                }
            }
            return .timed(subject(40_000), subject(1000))
        }
    ]

    /// Many owners whose observers are muted at the same time.
    private static let mutedOwners = [
        Benchmark(
            "attach to n muted owners + unmute, each", size: "n = 40000", reference: "n = 1000", goal: 3, isLarge: true
        ) {
            func subject(_ size: Int) -> Subject {
                let center = ObserverCenter()
                return Subject(count: size) { count in
                    for _ in 0..<max(1, count / size) {
                        let owners = (0..<size).map { _ in Plain() }
                        for owner in owners {
                            OwnerObservers(of: owner).mute()
                            center.observe(.measured, owner: owner) { _, _ in }
                        }
                        for owner in owners { OwnerObservers(of: owner).unmute() }
                    }
                }
            }
            return .timed(subject(40_000), subject(1000))
        }
    ]

    private static let hookedClass = [0, 100_000].map { attached in
        Benchmark(
            "alloc + dealloc in a hooked class", size: "\(attached)", reference: "unhooked", goal: 1.2,
            isLarge: attached > 10_000
        ) {
            final class Hooked {}
            final class Unhooked {}
            let center = ObserverCenter()
            let owners = (0..<max(1, attached)).map { _ in Hooked() }
            for owner in owners { center.observe(.measured, owner: owner) { _, _ in } }
            if attached == 0 { center.removeObservers() }
            return .timed(
                Subject(count: 100_000, keeping: owners) { for _ in 0..<$0 { keep(Hooked()) } },
                Subject(count: 100_000) { for _ in 0..<$0 { keep(Unhooked()) } })
        }
    }
}

/// A generator whose numbers are the same in every run.
struct Lehmer: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state
    }
}

/// Lets an object escape, so that it is not put on the stack or left out.
@inline(never)
func keep(_ object: AnyObject) { unsafe kept = object }

// SAFETY: only the thread that measures uses it.
nonisolated(unsafe) private var kept: AnyObject?
