import Foundation
import Tether

/// Puts the deallocator hook into every kind of Swift class, and checks the invariants. A separate
/// program, because it is built with every setting of the optimiser.
///
///     HookSafety [PATH OF A DYNAMIC LIBRARY MADE FROM Library/Library.swift]
let checks = Checks()

guard OwnerLifetime.isExact else {
    print("HookSafety: the hook cannot be used here, so there is nothing to check.")
    exit(1)
}

checks.kinds()
checks.foundationClasses()
checks.throwingInits()
checks.otherReferences()
checks.isolatedDeinits()
checks.manyClasses(depth: 12)
checks.hooksFromManyThreads()
checks.instancesThatDieMeanwhile()
if CommandLine.arguments.count > 1 { checks.anotherLibrary(at: CommandLine.arguments[1]) }

print("\(checks.count) checks, \(checks.failures.count) failed.")
for failure in checks.failures { print("failed: \(failure)") }
exit(checks.failures.isEmpty ? 0 : 1)
