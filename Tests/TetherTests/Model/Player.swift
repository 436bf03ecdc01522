/// Performs operations on a world, also those of handlers and `deinit`s, and records the events.
///
/// Stores only facts that follow from the operations alone: the occupied places, and the counts of
/// mutings.
final class Player {
    /// The greatest depth of nested handlers with actions.
    private static let depthLimit = 3
    /// The most operations of one step.
    private static let stepLimit = 40

    private(set) var history = History()
    /// The operations so far. The first has the number 1.
    private(set) var operations: [ModelOperation] = []
    /// The observers, posts and objects whose captures, payloads or selves have been released.
    private(set) var released: Set<Int> = []
    private(set) var liveCaptures = 0
    private(set) var liveObjects = 0
    /// If set, handlers and `deinit`s have no actions.
    var isClearing = false
    /// If set, nothing is recorded.
    var isSilent = false

    private unowned var world: (any World)!
    private var depth = 0
    private var left = 0
    /// The actions of observers and objects, and the counts of their mutings, by their numbers.
    private var actions: [Int: [ModelOperation]] = [:]
    private var mutings: [Int: Int] = [:]
    /// The numbers of the observers and objects at the places.
    private var observers: [Int?] = Array(repeating: nil, count: Places.tokens)
    private var objects: [Int?] = Array(repeating: nil, count: Places.objects)
    private var dying: [Int] = []
    /// The object that is being released.
    private var dropped: Int?

    var performed: Int { operations.count }

    func connect(to world: any World) { self.world = world }

    /// The places with a token.
    var takenTokens: [Int] { observers.indices.filter { observers[$0] != nil } }

    /// Performs one step of a sequence. The history then has the events of the step.
    func step(_ operation: ModelOperation) {
        history.clear()
        left = Player.stepLimit
        perform(operation)
    }

    // MARK: What the world reports

    func captureMade() { liveCaptures += 1 }

    func called(_ observer: Int, number: Int?, sender: History.PostedSender, hasOwner: Bool) {
        if isSilent { return }
        history.add(.called(observer: observer, number: number, sender: sender, hasOwner: hasOwner))
        if perform(actions[observer] ?? []) { history.add(.returned(observer: observer)) }
    }

    func taken(from sequence: Int, _ element: (number: Int?, sender: History.PostedSender)?) {
        if !isSilent {
            history.add(
                .taken(sequence: sequence, number: element?.number, sender: element?.sender))
        }
    }

    func released(_ observer: Int) {
        liveCaptures -= 1
        released.insert(observer)
        if !isSilent { history.add(.released(observer: observer)) }
    }

    func payloadReleased(_ number: Int?) {
        guard let number, !isSilent else { return }
        released.insert(number)
        history.add(.payloadReleased(number: number))
    }

    /// Called in an object's `deinit`. The object is at the place `dying` during the actions of the
    /// `deinit`.
    func ended(_ object: Int) {
        liveObjects -= 1
        released.insert(object)
        if isSilent { return }
        guard dropped == object else {
            // The library may release the object at any moment, so the `deinit` has no actions
            // here.
            return history.add(.ended(object: object))
        }
        history.add(.deinitBegan(object: object))
        dying.append(object)
        perform(actions[object] ?? [])
        dying.removeLast()
    }

    func tokenGoes(to place: Int, of observer: Int) { observers[place] = observer }

    // MARK: Performing

    @discardableResult
    private func perform(_ operations: [ModelOperation]) -> Bool {
        guard !operations.isEmpty, !isClearing, depth < Player.depthLimit, left > 0 else {
            return false
        }
        depth += 1
        for operation in operations where left > 0 {
            perform(operation)
            history.add(.done)
        }
        depth -= 1
        return true
    }

    private func perform(_ operation: ModelOperation) {
        left -= 1
        operations.append(operation)
        let (number, uses) = (performed, operation.uses)
        guard uses.objects.allSatisfy(isThere), uses.token.map({ observers[$0] != nil }) ?? true
        else { return }
        switch operation {
        case .observe(let observation):
            drop(observation.token)
            actions[number] = observation.actions
        case .drop(let token): return drop(token)
        case .mute(let token, _):
            if world.isActive(token) { mutings[observers[token]!, default: 0] += 1 }
        case .unmute(let token):
            // An unmuting without a muting stops the program, unless the observer has ended.
            guard unmutes(observers[token]!) || !world.isActive(token) else { return }
        case .muteAll(let place, _):
            if let object = object(at: place) { mutings[object, default: 0] += 1 }
        case .unmuteAll(let place): if let object = object(at: place), !unmutes(object) { return }
        case .make(let place, let atEnd):
            dropObject(at: place)
            guard objects[place] == nil else { return }
            objects[place] = number
            actions[number] = atEnd
            liveObjects += 1
        case .end(let place): return dropObject(at: place)
        default: break
        }
        world.perform(operation, number: number)
    }

    private func isThere(_ place: Int) -> Bool {
        place == ModelOperation.dying ? !dying.isEmpty : objects[place] != nil
    }

    /// An object that is not being deinitialised.
    private func object(at place: Int) -> Int? {
        place == ModelOperation.dying ? nil : objects[place]
    }

    /// Counts the unmuting of a muted observer or object.
    private func unmutes(_ number: Int) -> Bool {
        guard let count = mutings[number], count > 0 else { return false }
        mutings[number] = count - 1
        return true
    }

    private func drop(_ token: Int) {
        observers[token] = nil
        world.perform(.drop(token), number: performed)
    }

    private func dropObject(at place: Int) {
        guard let object = objects[place] else { return }
        objects[place] = nil
        let before = dropped
        dropped = object
        world.perform(.end(place), number: performed)
        dropped = before
    }
}
