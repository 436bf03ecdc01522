/// A run of a single thread, with given values for its reads.
///
/// A thread is a function of ordinary Swift, with ordinary branches. The function is called
/// repeatedly, until every read has found every value that another thread may have written.
final class Run {
    /// The run under way. The checker has one thread.
    static var current = Run(choices: [], domains: [:])

    /// The result of each read, as an index in its alternatives. Later reads find the first
    /// alternative.
    private(set) var choices: [Int]
    private(set) var alternatives: [Int] = []
    /// The possible values of each location.
    private let domains: [Location.Number: [Int]]
    private(set) var events: [Event] = []
    private(set) var facts: [Fact: Int] = [:]
    private(set) var locations: [Location.Number: Location] = [:]
    /// Whether the run is impossible: a read found an excluded value.
    private(set) var isImpossible = false
    private var control: UInt64 = 0

    init(choices: [Int], domains: [Location.Number: [Int]]) {
        self.choices = choices
        self.domains = domains
    }

    /// All runs of a thread.
    static func all(of body: () -> Void, domains: [Location.Number: [Int]]) -> [Run] {
        var runs: [Run] = []
        var prefixes: [[Int]] = [[]]
        while let prefix = prefixes.popLast() {
            let run = Run(choices: prefix, domains: domains)
            current = run
            body()
            for read in prefix.count..<run.choices.count {
                for other in 1..<max(1, run.alternatives[read]) {
                    prefixes.append(run.choices[..<read] + [other])
                }
            }
            if !run.isImpossible { runs.append(run) }
        }
        return runs
    }

    // MARK: What a thread does

    func read(
        _ location: Location, _ order: Order, through pointer: Value?,
        where isAwaited: (Int) -> Bool
    ) -> Value {
        locations[location.number] = location
        let found = (domains[location.number] ?? [location.initial]).filter(isAwaited)
        alternatives.append(found.count)
        if alternatives.count > choices.count { choices.append(0) }
        if found.isEmpty { isImpossible = true }
        let number = found.isEmpty ? 0 : found[choices[alternatives.count - 1]]
        append(
            Event(kind: .read, order: order, location: location.number, value: number),
            through: pointer)
        return Value(number, from: 1 << UInt64(events.count - 1))
    }

    func write(_ value: Value, to location: Location, _ order: Order, through pointer: Value?) {
        locations[location.number] = location
        var event = Event(
            kind: .write, order: order, location: location.number, value: value.number)
        event.data = value.sources
        append(event, through: pointer)
    }

    /// Makes the last read the first half of a read-modify-write. `new` is `nil` for a failed
    /// exchange.
    func complete(_ location: Location, with new: Value?, _ order: Order) {
        let read = events.count - 1
        events[read].isExclusive = true
        guard let new else { return }
        events[read].partner = read + 1
        // A read's own value is no dependency: a single instruction for both has none.
        write(
            Value(new.number, from: new.sources & ~(1 << UInt64(read))), to: location, order,
            through: nil)
        events[read + 1].isExclusive = true
    }

    func fence(_ kind: Event.Kind, _ order: Order) {
        append(Event(kind: kind, order: order), through: nil)
    }

    private func append(_ event: Event, through pointer: Value?) {
        var event = event
        event.position = events.count
        event.control = control
        event.address = pointer?.sources ?? 0
        events.append(event)
    }

    func branch(on value: Value) { control |= value.sources }

    func note(_ fact: Fact, _ number: Int) { facts[fact] = number }

    func assume(_ condition: Bool) { if !condition { isImpossible = true } }
}

/// The notes of threads, for the forbidden result.
typealias Fact = String

/// Notes a value for the checker. The thread itself does not read the note.
func note(_ fact: Fact, _ value: Value = 1) { Run.current.note(fact, value.number) }

/// Discards the run if the condition is false.
func assume(_ condition: Bool) { Run.current.assume(condition) }

/// C's `atomic_thread_fence`, Swift's `atomicMemoryFence(ordering:)`.
func fence(_ order: Order) { Run.current.fence(.fence, order) }

/// C's `atomic_signal_fence`: an order for the compiler, none for the processor.
func signalFence() { Run.current.fence(.signalFence, .sequentiallyConsistent) }

/// Linux's `membarrier`: a full fence in every thread of the process.
func fenceAllThreads() { Run.current.fence(.fenceOfAllThreads, .sequentiallyConsistent) }
