import Foundation

/// The ratios of an earlier run beside those of this one.
struct Comparison {
    let earlier: [Row]
    let later: [Row]

    func print() {
        Swift.print(
            "\n\("compared by ratio".padded(58)) \("earlier".padded(9)) \("now".padded(9)) change")
        let byName = Dictionary(
            earlier.map { ("\($0.name) \($0.unit)", $0) }, uniquingKeysWith: { $1 })
        for row in later {
            let name = row.name.padded(58)
            guard let before = byName["\(row.name) \(row.unit)"] else {
                Swift.print("\(name) new")
                continue
            }
            let change = row.ratio / before.ratio - 1
            let figures = [before.ratio, row.ratio].map { String(format: "%.3f", $0).padded(9) }
                .joined(separator: " ")
            Swift.print(
                "\(name) \(figures) \(String(format: "%+.1f %%", change * 100))\(verdict(change, before, row))"
            )
        }
    }

    private func verdict(_ change: Double, _ before: Row, _ now: Row) -> String {
        guard abs(change) > max(before.noise, now.noise) else { return "" }
        return change < 0 ? "  better, outside the noise" : "  WORSE, outside the noise"
    }
}
