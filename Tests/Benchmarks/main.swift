import Foundation

let options = Options(Array(CommandLine.arguments.dropFirst()))
if let counted = options.counted {
    counted.run(among: Benchmark.all)
} else {
    Run(options).all()
}
