import Foundation
import Tether

// The main lines of the contract, in a program without a test framework, so that it can be built in every mode. Prints
// what does not hold.
//
//     Smoke

var smoke = Smoke()
smoke.matching()
smoke.defaultCenter()
smoke.endingSenders()
smoke.stopping()
smoke.owners()
smoke.queues()
smoke.bursts()
smoke.threads()
smoke.postingQueues()
smoke.mainActor()
if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { smoke.messages() }
smoke.sequences()

// Last, because the main thread does not come back from it.
smoke.mainLoopThatEnds { smoke in
    print("\(smoke.count) checks, \(smoke.failures.count) failed.")
    for failure in smoke.failures { print("failed: \(failure)") }
    exit(smoke.failures.isEmpty ? 0 : 1)
}
