import Dispatch
import Foundation
import Synchronization
import Tether

/// Threads use a few centers, owners and senders in every way at once. The invariants are checked
/// during the storm and after.
///
/// Bounded in count, with the same random choices for the same seed; only the threads' timing
/// differs.
final class Storm: Sendable {
    /// The broken invariants.
    let violations = Log<String>()
    /// How many of all things made here are alive.
    let alive = Counter()
    private let places: Places
    private let names: [Notification.Name]
    private let centers: [Box<SharedCenter?>]
    private let owners: [Box<Owner?>]
    private let senders: [Box<Sender?>]
    /// All centers, with the posts to each.
    private let allCenters = Log<SharedCenter>()

    init(places: Places, names: [Notification.Name]) {
        self.places = places
        self.names = names
        centers = (0..<2).map { _ in Box() }
        owners = (0..<8).map { _ in Box() }
        senders = (0..<4).map { _ in Box() }
        for center in centers { center.set(makeCenter()) }
    }

    // MARK: The shared objects

    /// A center with an observer that counts every post.
    final class SharedCenter: Sendable {
        let center = ObserverCenter()
        let posted = Atomic<Int>(0)
        let seen: Counter
        private let witness: NotificationObserver

        init(seen: Counter) {
            self.seen = seen
            witness = center.observe(nil) { [seen] _ in seen.add() }
        }
    }

    /// Reports an owner's end. Also captured by handlers, which must not run after the end began
    /// (O4).
    final class OwnerEnd: Sendable {
        let hasBegunToEnd = Atomic<Bool>(false)
    }

    final class Owner: Sendable {
        let ownerEnd = OwnerEnd()
        private let alive: Counter

        init(_ alive: Counter) {
            self.alive = alive
            alive.add()
        }

        deinit {
            ownerEnd.hasBegunToEnd.store(true, ordering: .sequentiallyConsistent)
            alive.add(-1)
        }
    }

    final class Sender: Sendable {
        private let alive: Counter

        init(_ alive: Counter) {
            self.alive = alive
            alive.add()
        }

        deinit { alive.add(-1) }
    }

    /// A handler's capture, which counts calls and broken invariants.
    final class Handler: Sendable {
        private let storm: Storm
        private let isOnce: Bool
        private let ownerEnd: OwnerEnd?
        private let calls = Atomic<Int>(0)
        /// Set when `cancelAndWait` has returned: from then on no call starts (R1, R2).
        let mustNotRun = Atomic<Bool>(false)

        init(_ storm: Storm, isOnce: Bool, ownerEnd: OwnerEnd?) {
            self.storm = storm
            self.isOnce = isOnce
            self.ownerEnd = ownerEnd
            storm.alive.add()
        }

        deinit { storm.alive.add(-1) }

        func run() {
            if mustNotRun.load(ordering: .sequentiallyConsistent) {
                storm.violations.add("R1: a call after cancelAndWait")
            }
            if ownerEnd?.hasBegunToEnd.load(ordering: .sequentiallyConsistent) == true {
                storm.violations.add("O4: a call after its owner's end")
            }
            let count = calls.wrappingAdd(1, ordering: .relaxed).newValue
            if isOnce, count > 1 { storm.violations.add("R7: \(count) calls of a once observer") }
        }
    }

    /// The targets of a storm's observers.
    struct Places: Sendable {
        let targets: [DeliveryTarget]
        /// Waits until all posts have been delivered.
        let settle: @Sendable () -> Void
    }

    private func makeCenter() -> SharedCenter {
        let shared = SharedCenter(seen: Counter())
        allCenters.add(shared)
        return shared
    }

    // MARK: The storm

    /// One thread's part.
    func act(_ seed: UInt64, steps: Int) {
        var dice = SplitMix64(seed: seed)
        var own: [(token: NotificationObserver, handler: Handler)] = []
        for _ in 0..<steps {
            step(&dice, &own)
            if own.count > 40 { own.removeFirst(20) }
        }
        for (token, handler) in own {
            token.cancelAndWait()
            handler.mustNotRun.store(true, ordering: .sequentiallyConsistent)
        }
    }

    private func step(
        _ dice: inout SplitMix64, _ own: inout [(token: NotificationObserver, handler: Handler)]
    ) {
        let chosen = own.indices.randomElement(using: &dice).map { own[$0] }
        switch Int.random(in: 0..<100, using: &dice) {
        case 0..<40: post(&dice)
        case 40..<60: observe(&dice).map { own.append($0) }
        case 60..<66: chosen?.token.cancel()
        case 66..<72:
            guard let chosen else { break }
            chosen.token.cancelAndWait()
            chosen.handler.mustNotRun.store(true, ordering: .sequentiallyConsistent)
        case 72..<78:
            chosen?.token.mute(keepingNewest: Bool.random(using: &dice))
            // Unmuted by the same token in the same operation, so no muting is left.
            post(&dice)
            if let chosen, chosen.token.isMuted { chosen.token.unmute() }
        case 78..<84: chosen?.token.target = places.targets.randomElement(using: &dice)!
        case 84..<92:
            owners.randomElement(using: &dice)!.set(Bool.random(using: &dice) ? Owner(alive) : nil)
        case 92..<96:
            senders.randomElement(using: &dice)!.set(
                Bool.random(using: &dice) ? Sender(alive) : nil)
        case 96: centers.randomElement(using: &dice)!.set(makeCenter())
        case 97: centers.randomElement(using: &dice)!.value?.center.removeObservers(named: .stormy)
        case 98: owners.randomElement(using: &dice)!.value.map { OwnerObservers(of: $0).cancel() }
        // The audit of a center. An audit of the process would retain observers of other tests for
        // a moment.
        default: _ = centers.randomElement(using: &dice)!.value?.center.audit().count
        }
    }

    private func post(_ dice: inout SplitMix64) {
        guard let shared = centers.randomElement(using: &dice)!.value else { return }
        let sender = Bool.random(using: &dice) ? senders.randomElement(using: &dice)!.value : nil
        shared.posted.wrappingAdd(1, ordering: .relaxed)
        shared.center.post(name: names.randomElement(using: &dice)!, object: sender)
    }

    private func observe(_ dice: inout SplitMix64) -> (
        token: NotificationObserver, handler: Handler
    )? {
        guard let center = centers.randomElement(using: &dice)!.value?.center else { return nil }
        let name =
            Int.random(in: 0..<5, using: &dice) == 0 ? .stormy : names.randomElement(using: &dice)!
        let target = places.targets.randomElement(using: &dice)!
        let isOnce = Int.random(in: 0..<4, using: &dice) == 0
        let key: Int? =
            Int.random(in: 0..<6, using: &dice) == 0 ? Int.random(in: 0..<3, using: &dice) : nil
        let owner = Bool.random(using: &dice) ? owners.randomElement(using: &dice)!.value : nil
        let handler = Handler(self, isOnce: isOnce, ownerEnd: owner?.ownerEnd)
        let sender = senders.randomElement(using: &dice)!.value
        switch (owner, Bool.random(using: &dice) ? sender : nil) {
        case (let owner?, let sender?):
            let token = center.observe(
                name, from: sender, owner: owner, on: target, once: isOnce, key: key
            ) { _, _ in
                handler.run()
            }
            return (token, handler)
        case (let owner?, nil):
            let token = center.observe(name, owner: owner, on: target, once: isOnce, key: key) {
                _, _ in handler.run()
            }
            return (token, handler)
        case (nil, let sender?):
            let token = center.observe(name, from: sender, on: target, once: isOnce, key: key) {
                _ in handler.run()
            }
            return (token, handler)
        case (nil, nil):
            return (
                center.observe(name, on: target, once: isOnce, key: key) { _ in handler.run() },
                handler
            )
        }
    }

    // MARK: After it

    /// The broken invariants after the return of all threads.
    func verify() -> [String] {
        for owner in owners { owner.drop() }
        for sender in senders { sender.drop() }
        OwnerLifetime.purge()
        places.settle()
        var wrong = Array(Set(violations.entries))
        for shared in allCenters.entries {
            let (posted, seen) = (shared.posted.load(ordering: .relaxed), shared.seen.count)
            if posted != seen { wrong.append("M1: \(seen) of \(posted) posts reached the witness") }
            let rows = shared.center.audit()
            if rows.count != 1 { wrong.append("L1: left on a center: \(rows)") }
        }
        if alive.count != 0 {
            wrong.append("R8: \(alive.count) owners, senders or captures are alive")
        }
        return wrong
    }
}

extension Notification.Name {
    static let stormy = Notification.Name("stormy")
}
