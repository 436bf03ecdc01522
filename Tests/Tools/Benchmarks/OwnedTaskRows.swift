import Foundation
import Tether

extension Benchmark {
    /// The cost of an owner for a task, and for an element of a sequence.
    static let ownedTasks = [ownedTask, ownedElements]

    private static let ownedTask = Benchmark(
        "a task of an owner, until its return", reference: "Task", goal: 1.5, clock: .elapsed,
        hasStableInstructions: false
    ) {
        let (owner, ended) = (Plain(), DispatchSemaphore(value: 0))
        return .timed(
            Subject(count: 5000, keeping: owner) { count in
                for number in (0..<count).reversed() {
                    Task(owner: owner) { if number == 0 { ended.signal() } }
                }
                ended.wait()
            },
            Subject(count: 5000) { count in
                for number in (0..<count).reversed() {
                    Task { if number == 0 { ended.signal() } }
                }
                ended.wait()
            })
    }

    /// Each round waits for the last element.
    private static let ownedElements = Benchmark(
        "1000 elements of an AsyncStream to an owner, each", size: "1000",
        reference: "for await", goal: 1.25, clock: .elapsed, hasStableInstructions: false
    ) {
        let (owner, ended) = (Plain(), DispatchSemaphore(value: 0))
        func stream(_ consume: (AsyncStream<Int>) -> Void) {
            let (numbers, input) = AsyncStream.makeStream(of: Int.self)
            consume(numbers)
            for number in (0..<1000).reversed() { input.yield(number) }
            ended.wait()
            input.finish()
        }
        return .timed(
            Subject(count: 10_000, keeping: owner) { count in
                for _ in 0..<max(1, count / 1000) {
                    stream { numbers in
                        numbers.observe(owner: owner) { _, number in
                            if number == 0 { ended.signal() }
                        }
                    }
                }
            },
            Subject(count: 10_000) { count in
                for _ in 0..<max(1, count / 1000) {
                    stream { numbers in
                        Task { for await number in numbers where number == 0 { ended.signal() } }
                    }
                }
            })
    }
}
