import CoreFoundation
import Foundation

@testable import Tether

/// Where deliveries wait until they are run or dropped. `Library…` is Tether itself, and
/// `Reference…` the model that Tether is compared with.
protocol LibraryTarget: AnyObject {
    var target: DeliveryTarget { get }
    /// How many jobs wait; 0 where the number is not known, or not promised.
    var count: Int { get }
    /// Runs the jobs that wait now.
    func run()
    /// Runs the oldest job, or on a concurrent target the newest.
    func runOne(newest: Bool)
    func cancelOne(newest: Bool)
    func drop()
}

/// Retains jobs until they are run or dropped.
///
/// SAFETY: everything of a run is on one thread.
class LibraryScheduler: LibraryTarget, DeliveryScheduler, @unchecked Sendable {
    fileprivate var jobs: [@Sendable () -> Void] = []
    var target: DeliveryTarget { .custom(self) }
    var count: Int { jobs.count }

    func schedule(_ job: @escaping @Sendable () -> Void) { jobs.append(job) }

    /// Inside of a job, the run continues with the jobs of the outer run.
    func run() {
        let count = jobs.count
        for _ in 0..<count { runOne(newest: false) }
    }

    func runOne(newest: Bool) {
        if !jobs.isEmpty { jobs.removeFirst()() }
    }

    func cancelOne(newest: Bool) {
        guard !jobs.isEmpty else { return }
        let job = newest ? jobs.removeLast() : jobs.removeFirst()
        withExtendedLifetime(job) {}
    }

    func drop() {
        var dropped = jobs
        jobs = []
        while !dropped.isEmpty { dropped.removeFirst() }
    }
}

final class LibraryBatchingScheduler: LibraryScheduler, @unchecked Sendable {
    override var target: DeliveryTarget { DeliveryTarget(CustomTarget(self, isBatching: true)) }
    override var count: Int { 0 }
}

/// Runs jobs in any order.
final class LibraryConcurrentScheduler: LibraryScheduler, @unchecked Sendable {
    /// SAFETY: the scheduler is a constant.
    private final class Target: BlockTarget, @unchecked Sendable {
        private let scheduler: LibraryConcurrentScheduler

        init(_ scheduler: LibraryConcurrentScheduler) {
            self.scheduler = scheduler
            super.init(queue: ObjectIdentifier(scheduler), isConcurrent: true)
        }

        override var description: String { "concurrent LibraryScheduler" }

        override func schedule(_ block: __owned Block) {
            let block = CancellableBlock(block)
            scheduler.schedule { block.run() }
        }
    }

    override var target: DeliveryTarget { DeliveryTarget(Target(self)) }

    override func runOne(newest: Bool) {
        if !newest { return super.runOne(newest: false) }
        if let job = jobs.popLast() { job() }
    }
}

/// Runs each job at once.
final class LibraryImmediateScheduler: LibraryScheduler, @unchecked Sendable {
    override func schedule(_ job: @escaping @Sendable () -> Void) { job() }
}

/// The run loop of the test's thread, in a mode of its own, so that only `run()` runs it there.
final class LibraryLoop: LibraryTarget {
    static let description = "run loop of the model, modes [\"model\"]"
    private static let mode = RunLoop.Mode("model")
    private var loop: ThreadLoop?

    var target: DeliveryTarget {
        DeliveryTarget(RunLoopTarget(currentLoop, in: [LibraryLoop.mode]))
    }

    private var currentLoop: ThreadLoop {
        if let loop { return loop }
        let made = ThreadLoop(description: "run loop of the model")
        made.begin()
        loop = made
        return made
    }

    var count: Int { 0 }

    func run() { LibraryLoop.mode.run(for: 0) }
    func runOne(newest: Bool) {}
    func cancelOne(newest: Bool) {}

    /// Ends the loop as the end of its thread would; another one takes its place.
    func drop() { loop.take()?.exit() }
}

/// A foreign center: a list of closures, which are called in order.
final class LibraryForeignCenter: PostingCenter {
    private struct Entry: Sendable {
        let id: Int
        let name: Notification.Name?
        let sender: ObjectIdentifier?
        let handler: @Sendable (Notification) -> Void
    }

    private struct State {
        var entries: [Entry] = []
        var registered = 0
        var strangers = 0
    }

    /// May outlive the center, because another thread removes closures. Then it is empty.
    private final class List: Sendable {
        let state = Locked(State())

        func removeAll(where condition: (Entry) -> Bool) {
            let removed = state.withLock { state in
                let removed = state.entries.filter(condition)
                state.entries.removeAll(where: condition)
                if removed.isEmpty { state.strangers += 1 }
                return removed
            }
            withExtendedLifetime(removed) {}
        }
    }

    private struct Registration: NotifyingRegistration {
        let list: List
        let id: Int

        func cancel() { list.removeAll { $0.id == id } }
    }

    private let list = List()

    deinit { list.removeAll { _ in true } }

    func register(
        name: Notification.Name?, sender: AnyObject?,
        handler: @escaping @Sendable (Notification) -> Void
    ) -> any NotifyingRegistration {
        let sender = sender.map { ObjectIdentifier($0) }
        let id = list.state.withLock { state in
            state.registered += 1
            state.entries.append(
                Entry(id: state.registered, name: name, sender: sender, handler: handler))
            return state.registered
        }
        return Registration(list: list, id: id)
    }

    func post(name: Notification.Name, object: Any?, userInfo: [AnyHashable: Any]?) {
        let notification = Notification(name: name, object: object, userInfo: userInfo)
        let sender = (notification.object as? any LibraryObject).map { ObjectIdentifier($0) }
        let entries = list.state.withLock(\.entries).filter { entry in
            (entry.name == nil || entry.name == notification.name)
                && (entry.sender == nil || entry.sender == sender)
        }
        for entry in entries { entry.handler(notification) }
    }

    /// The number of closures, and of requests to remove a missing closure.
    var closures: (Int, Int) {
        ForeignSubscription.settle()
        return list.state.withLock { ($0.entries.count, $0.strangers) }
    }
}
