/// A random program for a few threads on one center, small enough to be read.
struct Program {
    enum Place: CaseIterable { case postingThread, serial, concurrent, main }

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

    init(seed: UInt64, leavingOut leftOut: Set<Int> = []) {
        random = SplitMix64(seed: seed)
        self.leftOut = leftOut
        places = [any(Place.allCases), any(Place.allCases)]
        names = any([1, 1, 2])
        for _ in 0..<any([1, 2, 3, 4]) {
            observers.append(
                Observer(
                    name: one(in: 6) ? nil : name(), isFromSender: one(in: 5),
                    isOwned: one(in: 3), place: any(places), isOnce: one(in: 6),
                    hasKey: one(in: 6)))
        }
        for index in observers.indices {
            if one(in: 3) { observers[index].actions = actions(of: index) }
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
        switch any(Array(0..<7)) {
        case 0: kept(post()) + kept(post())
        case 1: kept(.cancel(index))
        case 2: kept(.cancelAndWait(observer()))
        case 3: kept(.switchTarget(subject(), to: place()))
        case 4: kept(mute())
        case 5: kept(.endOwner)
        default: kept(.cancel(observer())) + kept(post())
        }
    }

    private mutating func operation(on thread: Int) -> Operation {
        switch any(Array(0..<100)) {
        case 0..<38: post()
        case 38..<47: .cancel(observer())
        case 47..<56: .cancelAndWait(observer())
        // The main thread makes the deliveries that `finish()` waits for.
        case 56..<61: thread == 0 ? post() : .finish(observer())
        case 61..<72: .switchTarget(subject(), to: place())
        case 72..<78: mute()
        case 78..<82: .endOwner
        case 82..<92: .runJob(any(places))
        case 92..<95: .observe(observer())
        case 95..<97: .remove(name: name())
        case 97: any([.audit, .endCenter, .bound(observer())])
        case 98: .dropJob(any(places))
        default: .endSender
        }
    }
}
