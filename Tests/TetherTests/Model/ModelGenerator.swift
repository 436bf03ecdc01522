/// Makes random sequences.
///
/// Each sequence has its own mixture, with some kinds of operations left out, so that the rest meets more often.
struct ModelGenerator {
    private enum Kind: CaseIterable {
        case observe, post, stop, drop, stopAll, remove, removeToken, removeObject, enqueue, dequeue, dequeueExactly
        case flush, renewQueue, mute, unmute, muteAll, unmuteAll, bound, redirect, run, runAll, dropJobs
        case sequence, take, runTasks, cancelTask, dropSequence, leaveSequence
        case onThread, exit
        case make, end, renewCenter, purge

        var weight: Int {
            switch self {
            case .observe: 44
            case .post: 52
            case .make: 14
            case .sequence, .take, .onThread: 9
            case .enqueue, .redirect, .run: 12
            case .end, .stop, .unmute: 8
            case .mute, .bound, .flush, .drop: 6
            case .runTasks, .runAll, .remove, .muteAll, .unmuteAll, .dequeue: 4
            case .cancelTask, .dropSequence, .removeToken, .removeObject, .stopAll, .dequeueExactly, .dropJobs: 2
            case .exit, .leaveSequence, .renewQueue, .renewCenter, .purge: 1
            }
        }
    }

    private var numbers: SplitMix64
    private var kinds: [Kind] = []
    private let tokens: Int
    private let names: Int
    private let values: Int
    /// Of 8, how many observers do something.
    private let activity: Int
    private var usesForeign = false
    private var usesThreads = false
    private var schedulers = Places.schedulers
    /// The token of the observer whose actions are made, for it to stop itself.
    private var own: Int?
    /// Whether the operations are those of a `deinit`.
    private var isInDeinit = false

    private init(seed: UInt64) {
        numbers = SplitMix64(seed: seed)
        tokens = [4, 8, 8, 8, Places.tokens].randomElement(using: &numbers)!
        names = [1, 2, 2, 3, 4, Places.names].randomElement(using: &numbers)!
        values = [2, 3, Places.values].randomElement(using: &numbers)!
        activity = [0, 2, 3, 4].randomElement(using: &numbers)!
        // Whether what was kept while muted is delivered there and then on the run loop depends on whether a drain was
        // asked for whose deliveries are all withdrawn by now, of which the model does not know.
        // Sequences with an even seed have posting queues on the run loop, which post nothing at once in its mode (Q5).
        let usesLoop = !seed.isMultiple(of: 2) && chance(1, of: 3)
        if !usesLoop { schedulers -= 1 }
        let isMuting: Set<Kind> = [.mute, .muteAll]
        let isOfSequences: Set<Kind> = [.sequence, .take, .runTasks, .cancelTask, .dropSequence, .leaveSequence]
        let usesSequences = chance(1, of: 2)
        usesForeign = chance(1, of: 3)
        usesThreads = !usesLoop && chance(1, of: 8)
        for kind in Kind.allCases where !(usesLoop && isMuting.contains(kind)) {
            guard usesThreads || (kind != .onThread && kind != .exit) else { continue }
            guard usesSequences || !isOfSequences.contains(kind) else { continue }
            guard kind == .observe || kind == .post || chance(3, of: 4) else { continue }
            kinds += Array(repeating: kind, count: kind.weight)
        }
    }

    static func sequence(seed: UInt64) -> [ModelOperation] {
        var generator = ModelGenerator(seed: seed)
        let count = Int.random(in: 20...180, using: &generator.numbers)
        let objects = (0..<Places.objects).map { ModelOperation.make(object: $0, atEnd: []) }
        return objects + (0..<count).map { _ in generator.operation(depth: 0) }
    }

    // MARK: Choices

    private mutating func chance(_ count: Int, of all: Int) -> Bool { Int.random(in: 0..<all, using: &numbers) < count }

    private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &numbers) }

    private mutating func token() -> Int {
        if let own, chance(1, of: 3) { return own }
        return number(tokens)
    }

    private mutating func center() -> Int { chance(1, of: 5) ? 1 : 0 }

    private mutating func anyCenter() -> Int {
        usesForeign && chance(1, of: 2) ? Places.foundation - (chance(1, of: 3) ? 0 : 1) : center()
    }

    private mutating func name() -> Int { number(names) }
    private mutating func scheduler() -> Int { number(schedulers) }

    private mutating func object() -> Int {
        isInDeinit && chance(1, of: 3) ? ModelOperation.dying : number(Places.objects)
    }

    private mutating func maybe<Value>(_ count: Int, of all: Int, _ make: (inout Self) -> Value) -> Value? {
        chance(count, of: all) ? make(&self) : nil
    }

    private mutating func sender() -> ModelOperation.Sender {
        switch number(8) {
        case 0...2: chance(1, of: 16) ? .nothing : .nobody
        case 3: .value(number(values), form: chance(1, of: 2) ? number(Places.valueForms) : 0)
        default: .object(object(), form: form())
        }
    }

    private mutating func backlog() -> ModelOperation.Backlog {
        switch number(4) {
        case 0: .unbounded
        case 1: .oldest(1 + number(3))
        default: .newest(1 + number(3))
        }
    }

    private mutating func form() -> Int { chance(1, of: 5) ? number(Places.forms) : 0 }

    private mutating func element<Value>(_ values: [Value]) -> Value { values[number(values.count)] }

    private mutating func actions(depth: Int, of all: Int) -> [ModelOperation] {
        guard depth < 2, chance(activity, of: all) else { return [] }
        let operations = (0...number(3)).map { _ in operation(depth: depth + 1) }
        return usesThreads && !isInDeinit && chance(1, of: 2) ? operations + [.exit] : operations
    }

    // MARK: Operations

    private mutating func operation(depth: Int) -> ModelOperation {
        let kind = element(kinds)
        switch kind {
        case .observe: return .observe(observation(depth: depth))
        case .post:
            return .post(
                center: anyCenter(), name: name(), sender: sender(), form: element(ModelOperation.PostForm.allCases))
        case .stop: return .stop(token())
        case .drop: return .drop(token())
        case .stopAll: return .stopAll(object())
        case .remove:
            return .remove(
                center: anyCenter(), name: maybe(1, of: 2) { $0.name() }, sender: maybe(1, of: 2) { $0.object() },
                owner: maybe(1, of: 2) { $0.object() })
        case .removeToken:
            return .removeToken(
                center: center(), token: token(), form: form(), name: maybe(1, of: 3) { $0.name() },
                sender: maybe(1, of: 3) { $0.sender() } ?? .nobody)
        case .removeObject:
            return .removeObject(
                center: center(), owner: object(), form: form(), name: maybe(1, of: 3) { $0.name() },
                sender: maybe(1, of: 3) { $0.sender() } ?? .nobody)
        case .enqueue:
            return .enqueue(
                center: center(), name: name(), sender: sender(), style: element(ModelOperation.Style.allCases),
                mask: element(ModelOperation.Mask.allCases))
        case .dequeue:
            return .dequeue(
                center: center(), name: name(), sender: sender(), mask: element(ModelOperation.Mask.allCases))
        case .dequeueExactly: return .dequeueExactly(center: center(), ago: number(4))
        case .flush: return .flush(center())
        case .renewQueue: return .renewQueue(center())
        default: return lifeOrFlow(kind, depth: depth)
        }
    }

    private mutating func lifeOrFlow(_ kind: Kind, depth: Int) -> ModelOperation {
        switch kind {
        case .mute: .mute(token: token(), keepingNewest: chance(1, of: 2))
        case .unmute: .unmute(token())
        case .muteAll: .muteAll(object: object(), keepingNewest: chance(1, of: 2))
        case .unmuteAll: .unmuteAll(object())
        case .bound: .bound(token: token(), to: backlog())
        case .redirect: .redirect(token: token(), scheduler: maybe(2, of: 3) { $0.scheduler() })
        case .run: .run(scheduler())
        case .runAll: .runAll(scheduler())
        case .dropJobs: .dropJobs(scheduler())
        case .sequence: .sequence(sequence())
        case .take: .take(number(Places.sequences))
        case .runTasks: .runTasks(number(Places.sequences))
        case .cancelTask: .cancelTask(number(Places.sequences))
        case .dropSequence: .dropSequence(number(Places.sequences))
        case .leaveSequence: .leaveSequence(number(Places.sequences))
        case .onThread: .onThread((0...number(2)).map { _ in operationOnThread(depth: depth + 1) })
        case .exit: .exit
        case .make: make(depth: depth)
        case .end: .end(number(Places.objects))
        case .renewCenter: .renewCenter(anyCenter())
        default: .purge
        }
    }

    private mutating func operationOnThread(depth: Int) -> ModelOperation {
        switch number(4) {
        case 0: operation(depth: depth)
        case 1: .run(scheduler())
        default:
            .post(
                center: anyCenter(), name: name(), sender: sender(), form: element(ModelOperation.PostForm.allCases))
        }
    }

    private mutating func make(depth: Int) -> ModelOperation {
        let before = isInDeinit
        isInDeinit = true
        defer { isInDeinit = before }
        return .make(object: number(Places.objects), atEnd: actions(depth: depth, of: 6))
    }

    private mutating func sequence() -> SequenceObservation {
        SequenceObservation(
            place: number(Places.sequences), center: anyCenter(), name: maybe(4, of: 5) { $0.name() },
            sender: maybe(1, of: 2) { $0.object() }, owner: maybe(2, of: 5) { $0.object() }, buffer: backlog())
    }

    private mutating func observation(depth: Int) -> Observation {
        var observation = Observation()
        observation.token = number(tokens)
        observation.center = anyCenter()
        observation.name = maybe(4, of: 5) { $0.name() }
        observation.sender = chance(1, of: 2) ? .nobody : sender()
        observation.owner = maybe(2, of: 5) { $0.object() }
        observation.scheduler = maybe(2, of: 5) { $0.scheduler() }
        observation.once = chance(1, of: 6)
        observation.key = maybe(1, of: 6) { $0.number($0.values) }
        observation.keyForm = chance(1, of: 2) ? number(Places.valueForms) : 0
        observation.isFoundations = chance(1, of: 10)
        observation.keepsToken = chance(3, of: 4)
        let before = own
        own = observation.token
        defer { own = before }
        observation.actions = actions(depth: depth, of: 8)
        return observation
    }
}
