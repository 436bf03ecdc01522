import Foundation

/// A number of rounds, times a factor in a variable of the environment. `TETHER_RACES=0.2` runs a
/// fifth of the rounds of each race, and `TETHER_STORM=100` makes storms a hundred times as long.
func extent(_ count: Int, times variable: String) -> Int {
    let factor = ProcessInfo.processInfo.environment[variable].flatMap(Double.init) ?? 1
    return max(Int(Double(count) * factor), 1)
}
