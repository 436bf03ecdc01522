import Foundation

/// What a row's time is taken by.
enum Clock {
    /// The calling thread's processor time: for work on one thread, whatever else the machine does.
    case processor
    /// Elapsed time: for work on several threads or queues.
    case elapsed

    var now: Double {
        var time = timespec()
        // SAFETY: fills the structure that it is given.
        _ = unsafe clock_gettime(self == .processor ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}

/// One piece of work that is timed: `run` does it `count` times.
struct Subject {
    let name: String
    /// How often one round does the work.
    let count: Int
    let run: (Int) -> Void

    init(_ name: String, count: Int, run: @escaping (Int) -> Void) {
        self.name = name
        self.count = count
        self.run = run
    }
}

/// Nanoseconds for one time, over many rounds.
struct Timing {
    let median: Double
    /// From the tenth to the ninetieth percentile, as a part of the median.
    let spread: Double

    init(_ rounds: [Double]) {
        let sorted = rounds.sorted()
        median = sorted[sorted.count / 2]
        spread = (sorted[sorted.count * 9 / 10] - sorted[sorted.count / 10]) / median
    }

    /// Times subjects in turn, round by round, so that whatever disturbs one disturbs all.
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

/// One line of the table: Tether beside a reference, with a goal for the ratio.
struct Row: Codable {
    let work: String
    let size: String
    let subject: String
    let ns: Double
    let spread: Double
    let reference: String
    let ratio: Double
    let goal: Double
    let met: Bool

    init(
        _ work: String, size: String = "", subject: String = "Tether", _ timing: Timing, to reference: Timing,
        _ name: String, goal: Double
    ) {
        self.init(
            work, size: size, subject: subject, value: timing.median, spread: timing.spread,
            reference: reference.median, name, goal: goal)
    }

    init(
        _ work: String, size: String = "", subject: String = "Tether", value: Double, spread: Double = 0,
        reference: Double, _ name: String, goal: Double
    ) {
        self.work = work
        self.size = size
        self.subject = subject
        ns = value
        self.spread = spread
        self.reference = "\(name) \(Row.short(reference))"
        ratio = value / reference
        self.goal = goal
        met = ratio <= goal
    }

    static func short(_ value: Double) -> String { String(format: value < 100 ? "%.1f" : "%.0f", value) }

    var line: String {
        let columns = [
            work.padded(44), size.padded(10), subject.padded(8), Row.short(ns).padded(9),
            ("±" + String(format: "%.0f%%", spread * 50)).padded(6), reference.padded(28),
            String(format: "%.3f", ratio).padded(8), ("<= " + String(format: "%g", goal)).padded(9),
            met ? "met" : "missed",
        ]
        return columns.joined(separator: " ")
    }
}

extension String {
    func padded(_ width: Int) -> String { count >= width ? self : self + String(repeating: " ", count: width - count) }
}
