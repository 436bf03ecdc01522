/// Visits all candidate executions of a scenario with the forbidden result. Memory models decide
/// whether an execution is possible.
final class Search {
    /// An execution with the forbidden result, by model. A model without one forbids all of them.
    private(set) var witnesses: [Model: String] = [:]
    /// How many executions were put to the models.
    private(set) var executions = 0

    private let scenario: Scenario
    private let models: [Model]
    private var locations: [Location.Number: Location] = [:]
    private var contents = Contents()

    init(_ scenario: Scenario, models: [Model]) {
        self.scenario = scenario
        self.models = models
        let runs = allRuns()
        let choices = runs.map { $0.map { Choice($0, of: contents) } }
        Facts.noted.formUnion(runs.joined().flatMap(\.facts.keys))
        combine(choices[...], chosen: [], stored: contents.initial)
    }

    /// A run, with its reads and stores: a bit for each value of each location.
    private struct Choice {
        let run: Run
        let found: UInt64
        let stored: UInt64

        init(_ run: Run, of contents: Contents) {
            self.run = run
            found = contents.bits(of: run.events.filter(\.isRead))
            stored = contents.bits(of: run.events.filter(\.isWrite))
        }
    }

    /// The possible values of each location, numbered.
    private struct Contents {
        private var numbers: [[Int]: UInt64] = [:]
        /// The first values.
        var initial: UInt64 = 0

        mutating func insert(_ location: Location.Number, _ value: Int) -> UInt64 {
            if let known = numbers[[location, value]] { return known }
            precondition(numbers.count < 64, "The locations of a scenario have at most 64 values.")
            let made: UInt64 = 1 << UInt64(numbers.count)
            numbers[[location, value]] = made
            return made
        }

        func bits(of events: [Event]) -> UInt64 {
            events.reduce(0) { $0 | (numbers[[$1.location, $1.value]] ?? 0) }
        }
    }

    /// The limit of computed values. Without a limit a counter would have no end.
    private static let counts = -1...4

    /// The runs of each thread, with every value written by any run.
    private func allRuns() -> [[Run]] {
        var domains: [Location.Number: [Int]] = [:]
        while true {
            let runs = scenario.threads.map { Run.all(of: $0.body, domains: domains) }
            var grown = domains
            for run in runs.joined() {
                for (number, location) in run.locations {
                    locations[number] = location
                    if grown[number] == nil { grown[number] = [location.initial] }
                }
                for event in run.events
                where event.isWrite && grown[event.location]?.contains(event.value) == false {
                    if event.isExclusive || event.data != 0, !Search.counts.contains(event.value) {
                        continue
                    }
                    grown[event.location]?.append(event.value)
                }
            }
            if grown == domains {
                for (location, values) in domains {
                    for value in values { _ = contents.insert(location, value) }
                }
                for location in locations.values {
                    contents.initial |= contents.insert(location.number, location.initial)
                }
                return runs
            }
            domains = grown
        }
    }

    private var isDone: Bool { witnesses.count == models.count }

    private func combine(_ left: ArraySlice<[Choice]>, chosen: [Choice], stored: UInt64) {
        guard let choices = left.first else {
            // Each read value must have been stored.
            guard chosen.allSatisfy({ $0.found & ~stored == 0 }) else { return }
            return judge(chosen.map(\.run))
        }
        let storable = left.joined().reduce(stored) { $0 | $1.stored }
        guard chosen.allSatisfy({ $0.found & ~storable == 0 }) else { return }
        for choice in choices where !isDone {
            combine(left.dropFirst(), chosen: chosen + [choice], stored: stored | choice.stored)
        }
    }

    private func judge(_ runs: [Run]) {
        guard scenario.forbidden(Outcome(runs)) else { return }
        Candidates(runs, locations: Array(locations.values)).visit { execution in
            judge(execution)
            return !isDone
        }
    }

    private func judge(_ execution: Execution) {
        if let finally = scenario.finally,
            execution.lastValue(of: finally.location) != finally.value
        {
            return
        }
        executions += 1
        for model in models where witnesses[model] == nil && model.allows(execution) {
            witnesses[model] = execution.description(
                threads: scenario.threads.map(\.name), locations: locations.mapValues(\.name))
        }
    }
}

extension Execution {
    /// The value of a location when everything has happened.
    fileprivate func lastValue(of location: Location) -> Int? {
        events.indices.first {
            events[$0].isWrite && events[$0].location == location.number && coherence.rows[$0] == 0
        }.map { events[$0].value }
    }
}
