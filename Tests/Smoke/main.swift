import Foundation
import Tether

// The main lines of the contract, in a program without a test framework, so that it can be built in every mode. Prints
// what does not hold.
//
//     Smoke [--end-in-loop]
//
// --end-in-loop    asks only what comes of what the main run loop has not come to when its thread ends in what it calls

var smoke = Smoke()
let endsInLoop = CommandLine.arguments.contains("--end-in-loop")
if !endsInLoop { smoke.all() }

// Last, because the main thread does not come back from it.
smoke.mainLoopThatEnds(inLoop: endsInLoop) { smoke in
    print("\(smoke.count) checks, \(smoke.failures.count) failed.")
    for failure in smoke.failures { print("failed: \(failure)") }
    exit(smoke.failures.isEmpty ? 0 : 1)
}
