import Foundation

let options = Options(Array(CommandLine.arguments.dropFirst()))
Options.warnOfDebugBuild()
if let counted = options.counted {
    counted.run(among: Benchmark.all)
} else {
    Run(options).all()
}
