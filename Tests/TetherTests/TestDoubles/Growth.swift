/// How many times as long each of many takes as each of few: about once, or as many times as there are more if the time is
/// quadratic.
///
/// The shortest of some rounds in turn counts, because other tests run meanwhile.
func growth(
    from few: Int, to many: Int, isolation: isolated (any Actor)? = #isolation, of work: (Int) async -> Void
) async -> Double {
    var shortest = [few: Duration.seconds(1_000_000), many: .seconds(1_000_000)]
    for _ in 0..<4 {
        for (count, time) in shortest {
            let begin = ContinuousClock.now
            await work(count)
            shortest[count] = min(time, ContinuousClock.now - begin)
        }
    }
    return (shortest[many]! / Double(many)) / (shortest[few]! / Double(few))
}
