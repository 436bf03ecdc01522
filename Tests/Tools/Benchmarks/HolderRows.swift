import Foundation
import TetherTesting

extension Benchmark {
    /// A program's wait for the name of what holds one of its objects.
    ///
    /// The search reads all memory of the process. The row counts the time of its thread.
    static let holding = [
        Benchmark(
            "name what holds one of n MB of objects", size: "100", reference: "300 ms", goal: 1,
            isLarge: true
        ) {
            let author = Plain()
            Shelf.pages = (0..<1_000_000).map { _ in Page(author) }
            defer { Shelf.pages = [] }
            var rounds: [Double] = []
            for round in 0..<5 {
                let number = 765_432 + round
                let begin = Clock.processor.now
                let found = holders(of: Shelf.pages[number])
                rounds.append(Clock.processor.now - begin)
                guard found.contains(where: { $0.description.contains("pages[\(number)]") }) else {
                    return .unavailable("memory cannot be searched here")
                }
            }
            return .counted(rounds.sorted()[2], 300_000_000, unit: "ns")
        }
    ]

    /// An object of about 100 bytes, with the allocator's.
    private final class Page: Sendable {
        let author: Plain
        let words = (0, 1, 2, 3, 4, 5, 6, 7)

        init(_ author: Plain) { self.author = author }
    }

    private enum Shelf {
        // SAFETY: one row uses the variable, on one thread.
        @safe nonisolated(unsafe) static var pages: [Page] = []
    }
}
