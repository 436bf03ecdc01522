import Foundation

@testable import Tether

/// The queues of a program, whose jobs the threads run.
///
/// SAFETY: one thread runs at a time.
final class Queues: @unchecked Sendable {
    private var jobs: [Program.Place: [() -> Void]] = [:]
    /// The queues with a job under way, which run one job at a time.
    private var busy: Set<Program.Place> = []
    private(set) var targets: [Program.Place: DeliveryTarget] = [:]

    init() {
        targets = [
            .postingThread: .postingThread,
            .serial: DeliveryTarget(Target(.serial, self)),
            .concurrent: DeliveryTarget(Target(.concurrent, self, isConcurrent: true)),
            // As `MainQueueTarget`.
            .main: DeliveryTarget(Target(.main, self, inline: .unlessPending)),
        ]
    }

    var areEmpty: Bool { jobs.values.allSatisfy(\.isEmpty) && busy.isEmpty }

    /// The main thread is thread 0.
    func canRun(_ place: Program.Place, on thread: Int?) -> Bool {
        if place == .main, thread != 0 { return false }
        return !busy.contains(place) && jobs[place]?.isEmpty == false
    }

    func run(_ place: Program.Place) {
        let job = jobs[place]!.removeFirst()
        if place == .concurrent || place == .tasks { return job() }
        busy.insert(place)
        job()
        busy.remove(place)
        Interleaving.pass(.signalled)
    }

    private final class Identity: Sendable {}

    /// Releases the oldest job of a place. No later job runs meanwhile.
    func drop(_ place: Program.Place) {
        busy.insert(place)
        jobs[place]!.removeFirst()
        busy.remove(place)
        Interleaving.pass(.signalled)
    }

    // MARK: Tasks

    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Enqueue) -> Void

    /// The queues that get the jobs of tasks.
    nonisolated(unsafe) static weak var current: Queues?

    /// The executor of tasks without an actor, which the runtime knows by two words of zero.
    private static let anyThread = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)

    /// Has the runtime put the jobs of tasks on queues.
    static func takeJobs() {
        let hook = dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook")!
        hook.assumingMemoryBound(to: Hook?.self).pointee = { job, _ in
            guard let queues = Queues.current else { return }
            queues.jobs[.tasks, default: []].append { job.runSynchronously(on: Queues.anyThread) }
            Interleaving.pass(.signalled)
        }
    }

    private final class Target: BlockTarget, @unchecked Sendable {
        private let queue: Program.Place
        private unowned let queues: Queues
        private let identity = Identity()

        init(
            _ place: Program.Place, _ queues: Queues, isConcurrent: Bool = false,
            inline: InlineRule = .never
        ) {
            queue = place
            self.queues = queues
            super.init(
                queue: ObjectIdentifier(identity), isConcurrent: isConcurrent, inline: inline)
        }

        override func schedule(_ block: __owned Block) {
            Interleaving.pass(.step)
            let block = CancellableBlock(block)
            queues.jobs[queue, default: []].append { block.run() }
            Interleaving.pass(.signalled)
        }

        override var isCurrent: Bool { queue == .main && Schedule.current.thread == 0 }

        override func waiting(in center: CenterCore) -> WaitingCount? {
            queue == .main ? center.waitingOnMain : nil
        }
    }
}
