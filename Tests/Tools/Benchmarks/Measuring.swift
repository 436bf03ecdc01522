import Foundation

/// The clock of a row.
enum Clock {
    /// The calling thread's processor time: for work on one thread, independent of other load.
    case processor
    /// Elapsed time: for work on several threads or queues.
    case elapsed

    var now: Double {
        var time = timespec()
        // SAFETY: the call fills the structure of its argument.
        _ = unsafe clock_gettime(
            self == .processor ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}

/// A piece of timed work. `run` repeats the work a given number of times.
struct Subject {
    /// How often a round does the work.
    let count: Int
    let run: (Int) -> Void
    /// Registrations and owners that live as long as the subject.
    private let kept: Any?

    init(count: Int, keeping kept: Any? = nil, run: @escaping (Int) -> Void) {
        self.count = count
        self.kept = kept
        self.run = run
    }
}

/// Nanoseconds for a repetition, over many rounds.
struct Timing {
    let median: Double
    /// From the tenth to the ninetieth percentile, as a part of the median.
    let spread: Double

    init(_ rounds: [Double]) {
        let sorted = rounds.sorted()
        median = sorted[sorted.count / 2]
        spread = (sorted[sorted.count * 9 / 10] - sorted[sorted.count / 10]) / median
    }

    /// Times subjects in turn, round by round, so a disturbance affects all subjects.
    static func interleaved(_ subjects: [Subject], rounds: Int, clock: Clock) -> [Timing] {
        for subject in subjects { subject.run(max(1, subject.count / 10)) }
        var times = subjects.map { _ in [Double]() }
        for _ in 0..<rounds {
            for (index, subject) in subjects.enumerated() {
                let begin = clock.now
                subject.run(subject.count)
                times[index].append((clock.now - begin) / Double(subject.count))
            }
        }
        return times.map(Timing.init)
    }
}
