/// A random program for a few threads on one center, small enough to be read.
struct Program {
    enum Place: CaseIterable {
        case postingThread, serial, concurrent, main
        /// The tasks of async handlers.
        case tasks
    }

    struct Observer {
        /// `nil` for any name.
        var name: Int?
        var isFromSender = false
        var isOwned = false
        var place = Place.postingThread
        var isOnce = false
        var hasKey = false
        /// The operations of the handler's first call.
        var actions: [Operation] = []
    }

    /// An observer, or all observers of the owner.
    enum Subject {
        case observer(Int)
        case owner
    }

    indirect enum Operation {
        case observe(Int)
        case post(name: Int, isFromSender: Bool)
        case cancel(Int)
        case cancelAndWait(Int)
        case finish(Int)
        case switchTarget(Subject, to: Place)
        /// Mutes the subject, performs the operation, and unmutes the subject.
        case mute(Subject, keepingNewest: Bool, during: Operation)
        case bound(Int)
        case remove(name: Int)
        case endOwner
        case endSender
        case endCenter
        /// Runs the oldest job of a place.
        case runJob(Place)
        /// Releases the oldest job of a place.
        case dropJob(Place)
        case audit
    }

    private(set) var observers: [Observer] = []
    /// The operations before the threads start.
    private(set) var beginning: [Operation] = []
    private(set) var threads: [[Operation]] = []
    /// How many operations there would be without `leftOut`.
    private(set) var count = 0
    /// The numbers of the operations that a shorter program leaves out.
    private let leftOut: Set<Int>
    private var random: SplitMix64
    /// Few places and names, so that the observers meet.
    private var places: [Place] = []
    private var names = 1
    /// Few kinds of operations, for the same reason.
    private var kinds: [Int] = []
    private var actionKinds: [Int] = []

    init(seed: UInt64, leavingOut leftOut: Set<Int> = []) {
        random = SplitMix64(seed: seed)
        self.leftOut = leftOut
        places = [any(Place.allCases), any(Place.allCases)]
        names = any([1, 1, 2])
        kinds = Array(Program.allKinds.shuffled(using: &random).prefix(any([2, 3, 4, 8])))
        actionKinds = [any(Array(0..<8)), any(Array(0..<8))]
        for _ in 0..<any([1, 2, 3, 4]) {
            observers.append(
                Observer(
                    name: one(in: 6) ? nil : name(), isFromSender: one(in: 5),
                    isOwned: one(in: 3), place: any(places), isOnce: one(in: 6),
                    hasKey: one(in: 6)))
        }
        for index in observers.indices {
            if one(in: 2) { observers[index].actions = actions(of: index) }
            if index == 0 || !one(in: 4) { beginning += kept(.observe(index)) }
        }
        if one(in: 3) { beginning += kept(post()) }
        for thread in 0..<any([2, 2, 3]) {
            let operations = (0..<any([1, 2, 3, 4])).map { _ in operation(on: thread) }
            threads.append(operations.flatMap { kept($0) })
        }
    }

    /// The operation, with the next number, unless it is left out.
    private mutating func kept(_ operation: Operation) -> [Operation] {
        count += 1
        return leftOut.contains(count) ? [] : [operation]
    }

    private mutating func any<Choice>(_ choices: [Choice]) -> Choice {
        choices.randomElement(using: &random)!
    }

    private mutating func one(in count: Int) -> Bool {
        Int.random(in: 0..<count, using: &random) == 0
    }
    private mutating func name() -> Int { any([0, names - 1]) }
    private mutating func observer() -> Int { any(Array(observers.indices)) }
    private mutating func place() -> Place { any(one(in: 3) ? Place.allCases : places) }
    private mutating func post() -> Operation { .post(name: name(), isFromSender: one(in: 4)) }

    private mutating func subject() -> Subject { one(in: 4) ? .owner : .observer(observer()) }

    private mutating func mute() -> Operation {
        .mute(subject(), keepingNewest: !one(in: 3), during: post())
    }

    private mutating func actions(of index: Int) -> [Operation] {
        switch any(actionKinds) {
        case 0: kept(post()) + kept(post())
        case 1: kept(.cancel(index))
        // Often two handlers wait for each other.
        case 2: kept(.cancelAndWait(min(index ^ 1, observers.count - 1)))
        case 3: kept(.switchTarget(subject(), to: place()))
        case 4: kept(mute())
        case 5: kept(.endOwner)
        case 6: kept(.finish(index))
        default: kept(.cancel(observer())) + kept(post())
        }
    }

    /// The kinds of operations, the more frequent ones several times.
    private static let allKinds = Array(0..<15) + [0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 5]

    private mutating func operation(on thread: Int) -> Operation {
        if one(in: 3) { return post() }
        switch any(kinds) {
        case 0: return .runJob(any(places))
        case 1: return .switchTarget(subject(), to: place())
        case 2: return .cancel(observer())
        case 3: return .cancelAndWait(observer())
        case 4: return mute()
        case 5: return .observe(observer())
        // The main thread makes the deliveries that `finish()` waits for.
        case 6: return thread == 0 ? post() : .finish(observer())
        case 7: return .endOwner
        case 8: return .remove(name: name())
        case 9: return .bound(observer())
        case 10: return .dropJob(any(places))
        case 11: return .endSender
        case 12: return .endCenter
        case 13: return .audit
        default: return post()
        }
    }
}
