import Foundation
import Tether

// The main lines of the contract, in a program without a test framework, which can be built in
// every mode. Prints the failures.

var smoke = Smoke()
smoke.all()

// Last, because the main thread does not return.
smoke.mainLoopThatEnds { smoke in
    print("\(smoke.count) checks, \(smoke.failures.count) failed.")
    for failure in smoke.failures { print("failed: \(failure)") }
    exit(smoke.failures.isEmpty ? 0 : 1)
}
