/// Makes random sequences. Three of four are edited scenarios, which are shorter than the others and
/// meet cases that random operations seldom meet.
///
/// Each sequence has its own mixture, without some kinds of operations, so that the others meet
/// more often. An operation is made of choices, which are numbers below a limit. The choice 0 is
/// the simplest. Shrinking a sequence makes the choices smaller.
struct ModelGenerator {
    /// The choices for one operation: the recorded choices, and then 0 or, for a new operation,
    /// random numbers.
    private struct Choices {
        var numbers: [Int] = []
        var random: SplitMix64?
        private var next = 0

        init(_ numbers: [Int], random: SplitMix64? = nil) {
            (self.numbers, self.random) = (numbers, random)
        }

        mutating func number(_ count: Int) -> Int {
            if next == numbers.count {
                numbers.append(random == nil ? 0 : Int.random(in: 0..<count, using: &random!))
            }
            next += 1
            return min(numbers[next - 1], count - 1)
        }
    }

    /// An operation of a scenario, or the choices for an operation.
    struct Step {
        var kept: ModelOperation?
        var choices: [Int] = []
    }

    private typealias Maker = @Sendable (inout ModelGenerator) -> ModelOperation

    /// The kinds of operations, each repeated by its weight.
    private var makers: [Maker] = []
    private let tokens: Int
    private let names: Int
    private let values: Int
    /// Of 8, how many observers do something.
    private let activity: Int
    private let usesForeign: Bool
    private let schedulers: [Int]
    private var choices: Choices
    private var depth = 0
    /// The token of the observer whose actions are made, so that an action can stop the observer.
    private var own: Int?
    /// Whether the operations are those of a `deinit`.
    private var isInDeinit = false

    private init(seed: UInt64) {
        choices = Choices([], random: SplitMix64(seed: seed))
        tokens = [4, 8, 8, 8, Places.tokens][choices.number(5)]
        names = [1, 2, 2, 3, 4, Places.names][choices.number(6)]
        values = [2, 3, Places.values][choices.number(3)]
        activity = [0, 2, 3, 4][choices.number(4)]
        usesForeign = choices.number(3) == 0
        let limit = [2, 3, 3, 4, Places.schedulers][choices.number(5)]
        var chosen = Array(0..<Places.schedulers)
        while chosen.count > limit { chosen.remove(at: choices.number(chosen.count)) }
        schedulers = chosen
        addMakers(ofSequences: choices.number(2) == 0)
    }

    /// The steps of a sequence.
    static func steps(seed: UInt64) -> [Step] {
        var generator = ModelGenerator(seed: seed)
        if !seed.isMultiple(of: 4) { return generator.editedScenario() }
        let count = 20 + generator.number(160)
        return (0..<count).map { _ in generator.newStep() }
    }

    /// The operations of steps, in the mixture of a seed.
    static func operations(_ steps: [Step], seed: UInt64) -> [ModelOperation] {
        var generator = ModelGenerator(seed: seed)
        let objects = (0..<Places.objects).map { ModelOperation.make(object: $0, atEnd: []) }
        return objects
            + steps.map { step in
                if let kept = step.kept { return kept }
                generator.choices = Choices(step.choices)
                return generator.operation()
            }
    }

    private mutating func newStep() -> Step {
        let before = choices
        choices = Choices([], random: before.random)
        _ = operation()
        let step = Step(choices: choices.numbers)
        choices = Choices(before.numbers, random: choices.random)
        return step
    }

    private static let scenarios = operations(of: Scenario.all)
    /// The more difficult ones.
    private static let foundScenarios = operations(of: Scenario.found)

    private static func operations(of rows: [Scenario]) -> [[ModelOperation]] {
        rows.compactMap { row in try? row.steps().flatMap(\.operations) }
    }

    /// A scenario, also two of them interleaved, in which operations are inserted, removed, replaced
    /// and exchanged.
    private mutating func editedScenario() -> [Step] {
        var steps: [Step] = []
        for _ in 0...number(2) {
            var place = 0
            let isFound = chance(1, of: 2)
            let kept = isFound ? ModelGenerator.foundScenarios : ModelGenerator.scenarios
            for operation in element(kept) {
                steps.insert(Step(kept: operation), at: place)
                place = min(place + 1 + number(3), steps.count)
            }
        }
        for _ in 0...number(12) {
            let place = number(steps.count)
            switch number(6) {
            case 0: if steps.count > 1 { steps.remove(at: place) }
            case 1: steps[place] = newStep()
            case 2: steps.swapAt(place, number(steps.count))
            default: steps.insert(newStep(), at: place)
            }
        }
        return steps
    }

    // MARK: Kinds

    private mutating func add(_ weight: Int, isAlways: Bool = false, _ make: @escaping Maker) {
        if choices.number(4) > 0 || isAlways { makers += Array(repeating: make, count: weight) }
    }

    private mutating func addMakers(ofSequences: Bool) {
        add(52, isAlways: true) {
            .post(
                center: $0.anyCenter(), name: $0.name(), sender: $0.sender(),
                isPlain: $0.chance(1, of: 4))
        }
        add(44, isAlways: true) { .observe($0.observation()) }
        add(14) { $0.make() }
        add(12) {
            .enqueue(
                center: $0.center(), name: $0.name(), sender: $0.sender(), style: $0.style(),
                mask: $0.mask())
        }
        add(12) { .redirect(token: $0.token(), scheduler: $0.maybe(2, of: 3) { $0.scheduler() }) }
        add(3) {
            .redirectAll(object: $0.object(), scheduler: $0.maybe(2, of: 3) { $0.scheduler() })
        }
        add(12) { .run($0.scheduler()) }
        add(8) { .runOne(scheduler: $0.scheduler(), newest: $0.chance(2, of: 3)) }
        add(4) { .cancelOne(scheduler: $0.scheduler(), newest: $0.chance(1, of: 2)) }
        add(8) { .end($0.number(Places.objects)) }
        add(8) { .stop($0.token()) }
        add(3) { .finish($0.token()) }
        add(8) { .unmute($0.token()) }
        add(6) { .mute(token: $0.token(), keepingNewest: $0.chance(1, of: 2)) }
        add(6) { .bound(token: $0.token(), to: $0.backlog()) }
        add(6) { .flush($0.center()) }
        add(6) { .drop($0.token()) }
        add(4) { .runAll($0.scheduler()) }
        add(4) {
            .remove(
                center: $0.anyCenter(), name: $0.maybe(1, of: 2) { $0.name() },
                sender: $0.maybe(1, of: 2) { $0.object() },
                owner: $0.maybe(1, of: 2) { $0.object() })
        }
        add(4) { .muteAll(object: $0.object(), keepingNewest: $0.chance(1, of: 2)) }
        add(4) { .unmuteAll($0.object()) }
        add(4) {
            .dequeue(center: $0.center(), name: $0.name(), sender: $0.sender(), mask: $0.mask())
        }
        add(2) {
            .removeToken(
                center: $0.center(), token: $0.token(), name: $0.maybe(1, of: 3) { $0.name() },
                sender: $0.anySender())
        }
        add(2) {
            .removeObject(
                center: $0.center(), owner: $0.object(), name: $0.maybe(1, of: 3) { $0.name() },
                sender: $0.anySender())
        }
        add(2) { .stopAll($0.object()) }
        add(2) { .cancelJobs($0.scheduler()) }
        add(1) { .renewQueue($0.center()) }
        add(1) { .renewCenter($0.anyCenter()) }
        guard ofSequences else { return }
        add(9) { .sequence($0.sequence()) }
        add(9) { .take($0.number(Places.sequences)) }
        add(4) { .runTasks($0.number(Places.sequences)) }
        add(2) { .cancelTask($0.number(Places.sequences)) }
        add(2) { .dropSequence($0.number(Places.sequences)) }
        add(1) { .leaveSequence($0.number(Places.sequences)) }
    }

    // MARK: Choices

    private mutating func number(_ count: Int) -> Int { choices.number(count) }
    private mutating func chance(_ count: Int, of all: Int) -> Bool { number(all) >= all - count }

    private mutating func maybe<Value>(_ count: Int, of all: Int, _ make: (inout Self) -> Value)
        -> Value?
    {
        chance(count, of: all) ? make(&self) : nil
    }

    private mutating func element<Value>(_ values: [Value]) -> Value {
        values[number(values.count)]
    }

    private mutating func token() -> Int {
        if let own, chance(1, of: 3) { return own }
        return number(tokens)
    }

    private mutating func center() -> Int { chance(1, of: 5) ? 1 : 0 }
    private mutating func anyCenter() -> Int {
        usesForeign && chance(1, of: 3) ? Places.foreign : center()
    }
    private mutating func name() -> Int { number(names) }
    private mutating func scheduler() -> Int { element(schedulers) }
    private mutating func style() -> ModelOperation.Style { element(ModelOperation.Style.allCases) }
    private mutating func mask() -> ModelOperation.Mask { element(ModelOperation.Mask.allCases) }

    private mutating func object() -> Int {
        isInDeinit && chance(1, of: 3) ? ModelOperation.dying : number(Places.objects)
    }

    private mutating func sender() -> ModelOperation.Sender {
        switch number(8) {
        case 0...2: .nobody
        case 3: .value(number(values))
        default: .object(object())
        }
    }

    /// Mostly any.
    private mutating func anySender() -> ModelOperation.Sender {
        maybe(1, of: 3) { $0.sender() } ?? .nobody
    }

    private mutating func backlog() -> ModelOperation.Backlog {
        switch number(4) {
        case 0: .unbounded
        case 1: .oldest(1 + number(3))
        default: .newest(1 + number(3))
        }
    }

    // MARK: Operations

    private mutating func operation() -> ModelOperation { element(makers)(&self) }

    private mutating func actions(of all: Int) -> [ModelOperation] {
        guard depth < 2, chance(activity, of: all) else { return [] }
        depth += 1
        defer { depth -= 1 }
        return (0...number(3)).map { _ in operation() }
    }

    private mutating func make() -> ModelOperation {
        let before = isInDeinit
        isInDeinit = true
        defer { isInDeinit = before }
        return .make(object: number(Places.objects), atEnd: actions(of: 6))
    }

    private mutating func sequence() -> SequenceObservation {
        SequenceObservation(
            place: number(Places.sequences), center: anyCenter(),
            name: maybe(4, of: 5) { $0.name() },
            sender: maybe(1, of: 2) { $0.object() }, owner: maybe(2, of: 5) { $0.object() },
            buffer: backlog())
    }

    private mutating func observation() -> Observation {
        var observation = Observation()
        observation.token = number(tokens)
        observation.center = anyCenter()
        observation.name = maybe(4, of: 5) { $0.name() }
        observation.sender = chance(1, of: 2) ? sender() : .nobody
        observation.owner = maybe(2, of: 5) { $0.object() }
        observation.scheduler = maybe(2, of: 5) { $0.scheduler() }
        observation.once = chance(1, of: 6)
        observation.key = maybe(1, of: 6) { $0.number($0.values) }
        observation.backlog = maybe(1, of: 8) { $0.backlog() } ?? .unbounded
        observation.isFoundations = chance(1, of: 10)
        observation.keepsToken = !chance(1, of: 4)
        let before = own
        own = observation.token
        defer { own = before }
        observation.actions = actions(of: 8)
        return observation.valid
    }
}

// MARK: Shrinking

extension ModelGenerator {
    /// Makes the steps of a failing sequence fewer, and their choices smaller, while it fails.
    static func shortest(_ steps: [Step], tries: Int = 20_000, where fails: ([Step]) -> Bool)
        -> [Step]
    {
        var (shortest, triesLeft) = (steps, tries)
        func accepts(_ candidate: [Step]) -> Bool {
            guard triesLeft > 0 else { return false }
            triesLeft -= 1
            guard fails(candidate) else { return false }
            shortest = candidate
            return true
        }
        var isShorter: Bool
        repeat {
            isShorter = false
            // Ever smaller parts of the sequence are left out.
            var size = shortest.count
            while size > 0 {
                var start = 0
                while start < shortest.count {
                    var candidate = shortest
                    candidate.removeSubrange(start..<min(start + size, shortest.count))
                    if accepts(candidate) { isShorter = true } else { start += size }
                }
                size /= 2
            }
            for place in shortest.indices {
                var index = 0
                while index < shortest[place].choices.count {
                    let number = shortest[place].choices[index]
                    var candidates = [shortest]
                    candidates[0][place].choices.remove(at: index)
                    for smaller in [0, number / 2, number - 1]
                    where smaller >= 0 && smaller < number {
                        candidates.append(shortest)
                        candidates[candidates.count - 1][place].choices[index] = smaller
                    }
                    if candidates.contains(where: accepts) { isShorter = true } else { index += 1 }
                }
            }
        } while isShorter && triesLeft > 0
        return shortest
    }
}
