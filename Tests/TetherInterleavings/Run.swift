import Foundation

@testable import Tether

/// One program under one schedule, as `PROGRAM.SCHEDULE`, and behind each `-` the number of an
/// operation that the program leaves out: 5138.7-3-5.
struct Run: CustomStringConvertible {
    var program: UInt64
    var schedule: UInt64
    var leftOut: Set<Int> = []

    /// Each program is played under two schedules.
    init(seed: UInt64) {
        program = seed / 2
        schedule = seed
    }

    init?(_ text: String) {
        let parts = text.split(separator: "-")
        let seeds = parts.first?.split(separator: ".").compactMap { UInt64($0) } ?? []
        guard seeds.count == 2 else { return nil }
        program = seeds[0]
        schedule = seeds[1]
        leftOut = Set(parts.dropFirst().compactMap { Int($0) })
    }

    var description: String {
        "\(program).\(schedule)" + leftOut.sorted().map { "-\($0)" }.joined()
    }

    struct Outcome {
        var points: UInt64 = 0
        var fingerprint: UInt64 = 0
        /// `nil` if nothing was found.
        var finding: String?

        /// The broken line of the contract. A shorter run must break the same line.
        var line: Substring? { finding?.prefix { $0 != ":" } }
    }

    /// Where the process of a run writes its outcome.
    /// SAFETY: only one process of a run exists at a time, and the parent reads after its end.
    nonisolated(unsafe) private static let shared = mmap(
        nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)!
    private static let counts = shared.bindMemory(to: UInt64.self, capacity: 2)
    private static let sentence = (shared + 16).bindMemory(to: CChar.self, capacity: 4000)

    /// Plays the program in a process of its own. So each run begins in the same state, whatever ran
    /// before it, and a crash is a finding.
    func play(isVerbose: Bool = false) -> Outcome {
        memset(Run.shared, 0, 4096)
        fflush(stdout)
        let child = fork()
        if child == 0 { playHere(isVerbose) }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        var outcome = Outcome(points: Run.counts[0], fingerprint: Run.counts[1])
        if Run.sentence[0] != 0 { outcome.finding = String(cString: Run.sentence) }
        if status & 0x7f != 0 { outcome.finding = "crash or hang: signal \(status & 0x7f)" }
        return outcome
    }

    private func playHere(_ isVerbose: Bool) -> Never {
        if !isVerbose { freopen("/dev/null", "w", stderr) }
        alarm(20)
        var world: World!
        func end(_ finding: String) -> Never {
            Run.counts[0] = UInt64(world.schedule.points)
            Run.counts[1] = world.schedule.fingerprint
            strncpy(Run.sentence, finding, 3999)
            if isVerbose { print(world.log.joined(separator: "\n")) }
            fflush(stdout)
            _exit(0)
        }
        let schedule = Schedule(seed: schedule) { end($0) }
        world = World(
            Program(seed: program, leavingOut: leftOut), schedule: schedule, isVerbose: isVerbose
        ) { end($0) }
        world.play()
        end("")
    }

    /// A run with the same finding, without operations that the finding does not need. A shorter
    /// program has other points, so other schedules are tried.
    func shortest(_ line: Substring?) -> Run {
        var shortest = self
        for number in (1...Program(seed: program).count).reversed() {
            var shorter = shortest
            shorter.leftOut.insert(number)
            for schedule in [shortest.schedule] + Array(0..<300) {
                shorter.schedule = schedule
                if shorter.play().line == line {
                    shortest = shorter
                    break
                }
            }
        }
        return shortest
    }

    /// Plays the program, and prints what happens.
    func show() {
        let program = Program(seed: program, leavingOut: leftOut)
        for (index, observer) in program.observers.enumerated() { print("\(index): \(observer)") }
        let outcome = play(isVerbose: true)
        print("\(self): \(outcome.finding ?? "nothing found"), fingerprint \(outcome.fingerprint)")
    }
}
