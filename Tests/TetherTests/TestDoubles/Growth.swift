import Foundation
import TestLimits

/// How many times as long each of many takes as each of few: about once, or as many times as there
/// are more if the time is quadratic.
///
/// The time is the calling thread's processor time, because other tests run meanwhile, and the
/// shortest of several rounds. A round that ends on another thread is repeated.
func growth(
    from few: Int, to many: Int, isolation: isolated (any Actor)? = #isolation,
    of work: (Int) async -> Void
) async -> Double {
    var shortest = [few: Duration.seconds(1_000_000), many: .seconds(1_000_000)]
    for _ in 0..<4 {
        for (count, time) in shortest {
            var taken: Duration?
            while taken == nil { taken = await processorTime { await work(count) } }
            shortest[count] = min(time, taken!)
        }
    }
    return (shortest[many]! / Double(many)) / (shortest[few]! / Double(few))
}

/// The processor time of the calling thread's work. `nil` if the work ended on another thread.
private func processorTime(
    isolation: isolated (any Actor)? = #isolation, of work: () async -> Void
) async -> Duration? {
    let (thread, begin) = (pthread_self(), processorTime())
    await work()
    return pthread_self() == thread ? processorTime() - begin : nil
}
