import Foundation

/// Counts the instructions of a row's sides with Valgrind. Other load of the machine does not
/// change the figures.
///
/// Each side runs in a process of its own, once and three times as long: the difference is the work
/// without the set-up.
struct InstructionCounter {
    private let program: URL
    private let valgrind: URL

    init() {
        guard let valgrind = InstructionCounter.find("valgrind") else {
            Options.fail(
                "--instructions needs Valgrind, which is not in the PATH; install the package valgrind."
            )
        }
        self.valgrind = valgrind
        program = InstructionCounter.withoutDebugInformation(
            URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath())
    }

    func measure(_ benchmark: Benchmark) -> Row? {
        guard benchmark.hasStableInstructions else { return nil }
        let counts = (0...1).compactMap { side -> Double? in
            guard let once = instructions(benchmark, side: side, times: 1),
                let thrice = instructions(benchmark, side: side, times: 3)
            else { return nil }
            return Double(thrice.total - once.total) / Double(2 * once.count)
        }
        guard counts.count == 2 else { return nil }
        return Row(
            benchmark, unit: "instr.", value: counts[0], referenceValue: counts[1], goal: nil)
    }

    /// The number of instructions of a whole process, and the repetitions of the work in a round.
    /// `nil` for a row that cannot be counted.
    private func instructions(_ benchmark: Benchmark, side: Int, times: Int) -> (
        total: Int, count: Int
    )? {
        let process = Process()
        process.executableURL = valgrind
        process.arguments = [
            "--tool=callgrind", "--callgrind-out-file=/dev/null", program.path, CountedSide.option,
            benchmark.name,
            "\(side)", "\(times)",
        ]
        // Otherwise hashes, and with them the lengths of searches in tables, differ from process to
        // process.
        process.environment = ProcessInfo.processInfo.environment.merging([
            "SWIFT_DETERMINISTIC_HASHING": "1"
        ]) { $1 }
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        do { try process.run() } catch { Options.fail("Valgrind did not start: \(error)") }
        let count = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let report = String(
            decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard let count = Int(count.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            return nil
        }
        guard let line = report.split(separator: "\n").first(where: { $0.contains("Collected :") }),
            let total = Int(line.split(separator: " ").last ?? "")
        else {
            Options.fail(
                "Valgrind did not say how many instructions '\(benchmark.name)' took:\n\(report)")
        }
        return (total, count)
    }

    private static func find(_ name: String) -> URL? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").lazy
            .map { URL(filePath: String($0)).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// A copy of the program for Valgrind: versions before 3.22 stop at Swift's debug information.
    private static func withoutDebugInformation(_ program: URL) -> URL {
        guard let strip = find("llvm-objcopy") ?? find("objcopy") else { return program }
        let copy = URL(filePath: program.path + ".stripped")
        let process = Process()
        process.executableURL = strip
        process.arguments = ["--strip-debug", program.path, copy.path]
        guard (try? process.run()) != nil else { return program }
        process.waitUntilExit()
        return process.terminationStatus == 0 ? copy : program
    }
}

/// The side of a row that a process under Valgrind runs.
struct CountedSide {
    static let option = "--count-one-side"

    private let name: String
    private let side: Int
    private let times: Int

    init(_ arguments: inout ArraySlice<String>) {
        name = arguments.removeFirst()
        side = Int(arguments.removeFirst()) ?? 0
        times = Int(arguments.removeFirst()) ?? 1
    }

    /// Runs the side, and prints the repetitions of the work in a round.
    func run(among benchmarks: [Benchmark]) {
        guard let benchmark = benchmarks.first(where: { $0.name == name }),
            case .timed(let tether, let reference) = benchmark.sides()
        else { return }
        let subject = side == 0 ? tether : reference
        // Caches are full and tables have grown before the count begins.
        subject.run(subject.count)
        for _ in 0..<times { subject.run(subject.count) }
        print(subject.count)
    }
}
