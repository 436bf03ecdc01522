// Checks the library's lock-free protocols, exhaustively, against the memory models of machines.
// See README.md.
//
//     swift run --package-path Tests/Tools -c release Litmus [--verbose]
//
// --verbose   also prints an execution for everything that breaks

internal import Foundation

let began = ContinuousClock.now
var checking = Checking(isVerbose: CommandLine.arguments.contains("--verbose"))
checking.check(Classic.all)
checking.check(Unlinking.self)
checking.check(Reclaiming.self)
checking.check(Waiting.self)
checking.check(Returning.self)
checking.check(ThreadRecords.self)
checking.check(KeyedReplacement.self)
checking.check(Publication.self)
checking.check(RegistrationState.self)
checking.check(HookTable.self)
checking.check(TryRetain.self)
checking.conclude(after: ContinuousClock.now - began)
exit(checking.surprises == 0 ? 0 : 1)
