// Plays random programs of two or three threads on the library, each under an interleaving that a
// seed decides.
//
//     Interleavings COUNT [FIRST]   plays so many seeds, from the first, or 1; 1 after a finding
//     Interleavings RUN             plays one run again, and prints what happens

import Foundation

// Else the order of a dictionary would differ from process to process.
setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
Queues.takeJobs()
// All runs begin with the state that these leave behind. A run that had to make it would take longer.
let rehearsed = (1...30).map { (seed: UInt64) in
    World(Program(seed: seed), schedule: Schedule(seed: seed) { fatalError($0) }) { fatalError($0) }
}
for world in rehearsed { world.rehearse() }

let arguments = CommandLine.arguments.dropFirst()
if let run = arguments.first.flatMap(Run.init) {
    run.show()
    exit(0)
}
guard let count = arguments.first.flatMap({ UInt64($0) }) else {
    fatalError("Interleavings COUNT [FIRST], or Interleavings RUN")
}
let first = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1
var points: UInt64 = 0
var fingerprint: UInt64 = 0
for seed in first..<first + count {
    let run = Run(seed: seed)
    let outcome = run.play()
    points += outcome.points
    fingerprint = fingerprint &* 31 &+ outcome.fingerprint
    guard let finding = outcome.finding else { continue }
    print("\(run): \(finding)")
    fflush(stdout)
    run.shortest(outcome.line).show()
    exit(1)
}
print(
    "Nothing found in \(count) interleavings of \(points / count) points, fingerprint \(fingerprint)."
)
