import Foundation
import Tether

extension Benchmark {
    static let registering =
        [1000, 100_000].map { registered in
            Benchmark(
                "add + remove", size: "\(registered)", goal: 0.36, isLarge: registered > 10_000
            ) {
                let (ours, theirs) = (ObserverCenter(), NotificationCenter())
                let tokens = (0..<registered).map { _ in ours.observe(.measured) { _ in } }
                for _ in tokens {
                    _ = theirs.addObserver(forName: .measured, object: nil, queue: nil) { _ in }
                }
                // A center's first post makes its name cache, which finds the name.
                ours.post(name: .measured, object: nil)
                return .timed(
                    Subject(count: 5000, keeping: tokens) {
                        for _ in 0..<$0 { ours.observe(.measured) { _ in }.cancel() }
                    },
                    Subject(count: 5000) { addAndRemove($0, theirs) })
            }
        } + firstObservers + removals + manyNames + mutedOwners
        + [replaced, auditText, longestCall]

    /// Observers of names without other observers.
    private static let firstObservers = [0, 1000].map { others in
        Benchmark("the first observer of a name, and its end", size: "\(others)", goal: 1) {
            let (ours, theirs) = (ObserverCenter(), NotificationCenter())
            let names = (0..<others).map { Notification.Name("name \($0)") }
            let tokens = names.map { ours.observe($0) { _ in } }
            for name in names {
                _ = theirs.addObserver(forName: name, object: nil, queue: nil) { _ in }
            }
            return .timed(
                Subject(count: 5000, keeping: tokens) {
                    for _ in 0..<$0 { ours.observe(.measured) { _ in }.cancel() }
                },
                Subject(count: 5000) { addAndRemove($0, theirs) })
        }
    }

    /// A new observer takes the place of the one with the same key, beside one that takes the place
    /// in the program's variable alone.
    private static let replaced = Benchmark(
        "replace the observer of a key", reference: "without a key", goal: 6
    ) {
        func subject(key: String?) -> Subject {
            let (center, handle) = (ObserverCenter(), Handle())
            return Subject(count: 2000, keeping: handle) { count in
                for _ in 0..<count {
                    handle.token = center.observe(.measured, key: key) { _ in }
                }
            }
        }
        return .timed(subject(key: "key"), subject(key: nil))
    }

    /// The longest wait of a program, beside many short-lived names.
    ///
    /// An allocator may merge all freed small blocks when a large block is allocated, on any
    /// thread: 18 ms here, after 100,000 names, with glibc's. So the row allocates a large block
    /// now and then, outside of the time.
    private static let longestCall = Benchmark(
        "longest call, names that come, are posted and go", size: "100000", reference: "2 ms",
        goal: 1, isLarge: true
    ) {
        let center = ObserverCenter()
        let names = (0..<100_000).map {
            Notification.Name("a name that is not short, number \($0)")
        }
        let object = Plain()
        var rounds: [Double] = []
        for _ in 0..<5 {
            var (tokens, longest, calls) = ([NotificationObserver](), 0.0, 0)
            tokens.reserveCapacity(names.count)
            func timed(_ body: () -> Void) {
                let begin = Clock.processor.now
                body()
                longest = max(longest, Clock.processor.now - begin)
                calls += 1
                if calls % 64 == 0 { keep(Array(repeating: object, count: 10_000)) }
            }
            for name in names { timed { tokens.append(center.observe(name) { _ in }) } }
            for name in names { timed { center.post(name: name, object: nil) } }
            for token in tokens { timed { token.cancel() } }
            rounds.append(longest)
        }
        return .counted(rounds.sorted()[2], 2_000_000, unit: "ns")
    }

    static let owning =
        [0, 1000, 100_000].map { owners in
            Benchmark(
                "attach to an owner + the owner's end", size: "\(owners)",
                reference: "by hand over Foundation",
                goal: 0.7, isLarge: owners > 10_000
            ) {
                let (ours, theirs) = (ObserverCenter(), NotificationCenter())
                let others = (0..<owners).map { _ in Plain() }
                for owner in others { ours.observe(.measured, owner: owner) { _, _ in } }
                ours.post(name: .measured, object: nil)
                return .timed(
                    Subject(count: 5000, keeping: others) {
                        for _ in 0..<$0 { ours.observe(.measured, owner: Plain()) { _, _ in } }
                    },
                    Subject(count: 5000) { for _ in 0..<$0 { _ = ByHand(observing: theirs) } })
            }
        } + hookedClass

    /// An owner without Tether: a token, a weak reference, and removal in the `deinit`.
    private final class ByHand: @unchecked Sendable {
        private let center: NotificationCenter
        private var token: (any NSObjectProtocol)?
        private var calls = 0

        init(observing center: NotificationCenter) {
            self.center = center
            token = center.addObserver(forName: .measured, object: nil, queue: nil) {
                [weak self] _ in self?.calls += 1
            }
        }

        deinit { token.map(center.removeObserver) }
    }

    private static func addAndRemove(_ count: Int, _ center: NotificationCenter) {
        for _ in 0..<count {
            center.removeObserver(
                center.addObserver(forName: .measured, object: nil, queue: nil) { _ in })
        }
    }

    /// Many observers of a name, removed in several orders: the cost for each must not grow with
    /// their number.
    private static let removals = ["oldest first", "newest first", "at random"].map { order in
        Benchmark(
            "add n, remove \(order), each", size: "n = 1000000", reference: "n = 1000", goal: 4,
            isLarge: true
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
                        for index in indices { tokens[index].cancel() }
                    }
                }
            }
            return .timed(subject(1_000_000), subject(1000))
        }
    }

    /// A sender that is observed under many names, or on many centers.
    private static let manyNames = [
        Benchmark(
            "observe n names of one sender + cancel, each", size: "n = 40000",
            reference: "n = 1000",
            goal: 3,
            isLarge: true
        ) {
            func subject(_ size: Int) -> Subject {
                let (center, sender) = (ObserverCenter(), Plain())
                let names = (0..<size).map { Notification.Name("name \($0)") }
                return Subject(count: size) { count in
                    for _ in 0..<max(1, count / size) {
                        for token in names.map({ center.observe($0, from: sender) { _ in } }) {
                            token.cancel()
                        }
                    }
                }
            }
            return .timed(subject(40_000), subject(1000))
        },
        Benchmark(
            "observe one sender on n centers + cancel, each", size: "n = 1000", reference: "n = 10",
            goal: 3
        ) {
            func subject(_ size: Int) -> Subject {
                let (centers, sender) = ((0..<size).map { _ in ObserverCenter() }, Plain())
                return Subject(count: 1000) { count in
                    for _ in 0..<max(1, count / size) {
                        for token in centers.map({ $0.observe(.measured, from: sender) { _ in } }) {
                            token.cancel()
                        }
                    }
                }
            }
            return .timed(subject(1000), subject(10))
        },
    ]

    private static let auditText = Benchmark(
        "print an audit of n observers, each", size: "n = 10000", reference: "n = 100", goal: 2
    ) {
        func subject(_ size: Int) -> Subject {
            let center = ObserverCenter()
            let tokens = (0..<size).map { _ in center.observe(.measured) { _ in } }
            return Subject(count: 10_000, keeping: tokens) { count in
                for _ in 0..<max(1, count / size) {
                    precondition(center.audit().description.count > size)
                }
            }
        }
        return .timed(subject(10_000), subject(100))
    }

    /// Many owners whose observers are muted at the same time.
    private static let mutedOwners = [
        Benchmark(
            "mute n owners + unmute, each", size: "n = 40000", reference: "n = 1000", goal: 3,
            isLarge: true
        ) {
            func subject(_ size: Int) -> Subject {
                let center = ObserverCenter()
                return Subject(count: size) { count in
                    for _ in 0..<max(1, count / size) {
                        let owners = (0..<size).map { _ in Plain() }
                        for owner in owners {
                            center.observe(.measured, owner: owner) { _, _ in }
                            OwnerObservers(of: owner).mute()
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
            "alloc + dealloc beside owners of the class", size: "\(attached)",
            reference: "without owners", goal: 1.2,
            isLarge: attached > 10_000
        ) {
            final class Hooked {}
            final class Unhooked {}
            let center = ObserverCenter()
            let owners = (0..<max(1, attached)).map { _ in Hooked() }
            for owner in owners { center.observe(.measured, owner: owner) { _, _ in } }
            if attached == 0 { center.removeAllObservers() }
            // Many at a time, so each has its own address.
            func make<Object: AnyObject>(_ count: Int, _ make: () -> Object) {
                for _ in 0..<max(1, count / 20_000) {
                    keep((0..<20_000).map { _ in make() } as [AnyObject])
                }
            }
            return .timed(
                Subject(count: 100_000, keeping: owners) { make($0) { Hooked() } },
                Subject(count: 100_000) { make($0) { Unhooked() } })
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

/// Lets objects escape, so that the optimiser does not allocate them on the stack or remove them.
/// Releases the objects of the last call.
@inline(never)
private func keep(_ objects: [AnyObject]) { unsafe kept = objects }

// SAFETY: only the measuring thread uses the array.
nonisolated(unsafe) private var kept: [AnyObject] = []
