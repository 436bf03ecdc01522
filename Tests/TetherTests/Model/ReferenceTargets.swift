/// The model of a target: jobs, which run in the order in which they were submitted. A job models a
/// block (D2, D4).
final class ReferenceScheduler {
    let description: String
    let isLoop: Bool
    let isBatching: Bool
    private var jobs: [ReferenceJob] = []
    /// How many jobs the run loop has for these.
    private var turns = 0
    private var isClosed = false

    init(at place: Int) {
        description = LibraryWorld.targets[place]
        isLoop = place == Places.loop
        isBatching = place == Places.batching
    }

    /// D3, D5: every post is made on the thread of the run loop.
    var isCurrent: Bool { isLoop && !isClosed }

    /// How many deliveries are pending here.
    var waiting = 0

    /// D3: whether a post that no handler makes is behind these.
    var holdsUpPosts: Bool { unsafe waiting > 0 && ReferenceDepth.current < 2 }

    fileprivate func submit(_ job: ReferenceJob) {
        if isClosed { return job.cancel() }
        jobs.append(job)
        turns += 1
    }

    /// Runs the jobs that wait now.
    func run() {
        if !isLoop {
            for job in jobs.takeAll() { job.run() }
            return
        }
        // A run of the loop comes to its jobs twice. Each is for the oldest of these, also in a
        // nested run.
        for _ in 0..<2 {
            var count = turns
            turns = 0
            while count > 0, !jobs.isEmpty {
                count -= 1
                jobs.removeFirst().run()
            }
        }
    }

    /// Cancels the jobs that wait; a run loop takes no more (D2, D5).
    func cancel() {
        isClosed = isLoop
        for job in jobs.takeAll() { job.cancel() }
    }
}

/// How many posts and jobs are under way, one inside the other.
/// SAFETY: the model has one thread.
enum ReferenceDepth {
    nonisolated(unsafe) static var current = 0
}

/// What one post delivers on one target.
private final class ReferenceJob {
    let target: ReferenceScheduler
    var entries: [(observer: ReferenceObserver, number: Int)] = []

    init(on target: ReferenceScheduler) {
        self.target = target
    }

    func run() {
        unsafe ReferenceDepth.current += 1
        // A handler may run later jobs, which deliver this post to the other observers first.
        for entry in entries.dropFirst() { entry.observer.markLate(entry.number) }
        for entry in entries { entry.observer.deliver(entry.number) }
        unsafe ReferenceDepth.current -= 1
    }

    func cancel() { for entry in entries { entry.observer.drop(entry.number) } }
}

/// The jobs of one post, in the order in which it reached their targets.
struct ReferenceJobs {
    private var jobs: [ReferenceJob] = []
    private var released: [ReferenceNotification] = []

    mutating func add(_ observer: ReferenceObserver, _ number: Int, on target: ReferenceScheduler?)
    {
        guard let target else { return }
        if !jobs.contains(where: { $0.target === target }) { jobs.append(ReferenceJob(on: target)) }
        jobs.first { $0.target === target }?.entries.append((observer, number))
    }

    /// Has a notification that was dropped released behind the jobs.
    mutating func release(_ notification: ReferenceNotification?) {
        released += [notification].compactMap(\.self)
    }

    func submit() {
        for job in jobs { job.target.submit(job) }
        for notification in released { notification.release() }
    }
}

extension Array {
    fileprivate mutating func takeAll() -> [Element] {
        defer { removeAll() }
        return self
    }
}
