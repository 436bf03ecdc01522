/// Performs operations on a world, what handlers and `deinit`s do included, and traces what happens.
///
/// It keeps only what follows from the operations alone: which places are taken, and how often something was muted.
final class Player {
    /// How deep handlers may be nested that still do something.
    private static let depthLimit = 3
    /// How many operations one step may come to.
    private static let stepLimit = 40

    private(set) var history = History()
    private(set) var performed = 0
    private(set) var liveCaptures = 0
    private(set) var liveObjects = 0
    /// Set to have handlers and `deinit`s do nothing.
    var isClearing = false
    /// Set to have everything end in silence.
    var isSilent = false

    private let mode: LifetimeMode
    private var rules: ModelRules
    private var threads = Threads()
    private(set) unowned var world: (any World)!
    private var depth = 0
    private var left = 0

    // What is registered and made.
    private var actions: [[ModelOperation]] = []
    private var observers: [Int?] = Array(repeating: nil, count: Places.tokens)
    private var mutings: [Int] = []
    private var hasSender: [Bool] = []
    private var sequences = 0
    private(set) var objects: [Int?] = Array(repeating: nil, count: Places.objects)
    private var endActions: [[ModelOperation]] = []
    private var objectMutings: [Int] = []
    private var dying: [Int] = []
    /// The object that is let go of just now.
    private var dropped: Int?
    var posts = 0
    var enqueued: [(number: Int, name: Int, sender: ModelOperation.Sender, object: Int?)] = []
    private var ownerTableUses = 0

    init(mode: LifetimeMode) {
        self.mode = mode
        rules = ModelRules(mode: mode)
    }

    func connect(to world: any World) { self.world = world }

    /// Whether a handler has ended its thread.
    var hasLeftThread: Bool { threads.hasLeft }

    /// The places where a token is.
    var takenTokens: [Int] { observers.indices.filter { observers[$0] != nil } }

    /// Performs one step of a sequence; the history is then of that step.
    func step(_ operation: ModelOperation) {
        history.clear()
        left = Player.stepLimit
        if mode == .sweep, ownerTableUses >= 20 { purge() }
        perform(operation)
    }

    // MARK: What the world tells

    func captureMade() { liveCaptures += 1 }

    /// `holding`: what the call holds.
    func called(
        _ observer: Int, number: Int, sender: History.PostedSender, hasOwner: Bool,
        holding held: @autoclosure () -> [AnyObject?]
    ) {
        if isSilent { return }
        threads.called(Threads.Call(observer: observer, number: number, held: threads.isElsewhere ? held() : []))
        defer { threads.returned() }
        history.add(.called(observer: observer, number: number, sender: sender, hasOwner: hasOwner))
        if perform(actions[observer]) { history.add(.returned(observer: observer)) }
    }

    func taken(from sequence: Int, _ element: (number: Int, sender: History.PostedSender)?) {
        if isSilent { return }
        history.add(.taken(sequence: sequence, number: element?.number, sender: element?.sender ?? .nobody))
    }

    func released(_ observer: Int) {
        if threads.hasLost(observer: observer) { return }
        liveCaptures -= 1
        if !isSilent { history.add(.released(observer: observer)) }
    }

    func payloadReleased(_ number: Int) {
        if !isSilent, !threads.hasLost(post: number) { history.add(.payloadReleased(number: number)) }
    }

    /// Called in an object's `deinit`, which is at the place of the dying while it acts.
    func ended(_ object: Int) {
        liveObjects -= 1
        if isSilent { return }
        guard dropped == object else {
            // Where in the library it was let go of is the library's affair, so it must not matter.
            history.add(.ended(object: object))
            return
        }
        history.add(.deinitBegan(object: object))
        dying.append(object)
        perform(endActions[object])
        dying.removeLast()
    }

    func tokenGoes(to place: Int, of observer: Int) { observers[place] = observer }

    // MARK: Performing

    @discardableResult
    private func perform(_ operations: [ModelOperation]) -> Bool {
        guard !operations.isEmpty, !isClearing, depth < Player.depthLimit, left > 0 else { return false }
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
        performed += 1
        let isBlocking = threads.block(operation)
        defer { if isBlocking { threads.unblock() } }
        switch operation {
        case .observe(let observation): observe(observation)
        case .stop(let token): world.stop(token)
        case .drop(let token): drop(token)
        case .stopAll(let object): if isThere(object) { world.stopAll(object) }
        case .remove(let center, let name, let sender, let owner):
            guard isThere(sender), isThere(owner) else { return }
            world.remove(center: center, name: name, sender: sender, owner: owner)
        case .removeToken(let center, let token, let form, let name, let sender):
            guard observers[token] != nil, isThere(sender) else { return }
            world.removeToken(center: center, token: token, form: form, name: name, sender: sender)
        case .removeObject(let center, let owner, let form, let name, let sender):
            guard isThere(owner), isThere(sender) else { return }
            world.removeObject(center: center, owner: owner, form: form, name: name, sender: sender)
        case .post(let center, let name, let sender, let form):
            let sender = rules.posted(sender, on: center)
            guard isThere(sender), let name = rules.posted(name, on: center) else { return }
            posts += 1
            world.post(center: center, name: name, sender: sender, number: posts, form: form)
        case .enqueue, .dequeue, .dequeueExactly, .flush, .renewQueue:
            // What is enqueued for a run loop belongs to its thread.
            if !threads.isElsewhere { performOnQueue(operation) }
        case .renewCenter(let center):
            // A handler's post holds it, and who takes closures off meanwhile would let go of it on another thread.
            // And a posting queue is made for the thread's run loop.
            if !threads.isElsewhere, center != Places.foundation || depth == 0 { world.renewCenter(center) }
        case .mute, .unmute, .muteAll, .unmuteAll, .bound: performFlowControl(operation)
        case .redirect(let token, let scheduler):
            // What waits there when its sender ends is delivered by the sweep, which takes dead senders in no order.
            if mode == .sweep, scheduler == nil, let observer = observers[token], hasSender[observer] { return }
            world.redirect(token: token, scheduler: scheduler)
        case .run(let scheduler): world.run(scheduler)
        case .runAll(let scheduler): world.runAll(scheduler)
        case .dropJobs(let scheduler): world.dropJobs(scheduler)
        case .sequence, .take, .runTasks, .cancelTask, .dropSequence, .leaveSequence: performOnSequence(operation)
        case .make(let place, let atEnd): make(at: place, atEnd: atEnd)
        case .end(let place): dropObject(at: place)
        // In a post, what has ended still refers to its sender, who then waits for the next sweep. Where ends are seen as
        // they happen there is nothing to sweep, but for what other tests are about.
        case .onThread(let operations): performOnThread(operations)
        case .exit: exitThread()
        case .purge: if mode == .sweep, depth == 0 { purge() }
        }
    }

    private func isThere(_ place: Int?) -> Bool {
        guard let place else { return true }
        return place == ModelOperation.dying ? !dying.isEmpty : objects[place] != nil
    }

    func isThere(_ sender: ModelOperation.Sender) -> Bool {
        if case .object(let place, _) = sender { isThere(place) } else { true }
    }

    private func purge() {
        ownerTableUses = 0
        world.purge()
    }

    // MARK: Observers

    private func observe(_ asked: Observation) {
        // No sweep is to come by itself, of which the model does not know.
        guard mode == .hook || ownerTableUses < 60, let observation = rules.registered(asked, isThere: isThere)
        else { return }
        ownerTableUses += 2
        drop(observation.token)
        actions.append(observation.actions)
        mutings.append(0)
        if case .object = observation.sender { hasSender.append(true) } else { hasSender.append(false) }
        world.observe(observation, id: actions.count - 1)
    }

    /// Whether one more task may begin, which may observe anew.
    private func mayIterate() -> Bool {
        guard mode == .hook || ownerTableUses < 60 else { return false }
        ownerTableUses += 2
        return true
    }

    private func performOnSequence(_ operation: ModelOperation) {
        switch operation {
        case .sequence(let asked):
            guard mode == .hook || ownerTableUses < 60, let asked = rules.registered(asked, isThere: isThere)
            else { return }
            ownerTableUses += 2
            world.leaveSequence(asked.place)
            sequences += 1
            world.makeSequence(asked, id: sequences)
        case .take(let place): if mayIterate() { world.take(place) }
        case .runTasks(let place): world.runTasks(place)
        case .cancelTask(let place): if mayIterate() { world.cancelTask(place) }
        case .dropSequence(let place): world.dropSequence(place)
        case .leaveSequence(let place): world.leaveSequence(place)
        default: break
        }
    }

    private func drop(_ token: Int) {
        observers[token] = nil
        world.dropToken(token)
    }

    private func performFlowControl(_ operation: ModelOperation) {
        switch operation {
        case .mute(let token, let keepingNewest):
            guard let observer = observers[token] else { return }
            if world.isActive(token) { mutings[observer] += 1 }
            world.mute(token: token, keepingNewest: keepingNewest)
        case .unmute(let token):
            // One too many stops the program, unless the observer has ended.
            guard let observer = observers[token], mutings[observer] > 0 || !world.isActive(token) else { return }
            mutings[observer] -= 1
            world.unmute(token)
        case .muteAll(let place, let keepingNewest):
            guard isThere(place), mode == .hook || ownerTableUses < 60 else { return }
            if place != ModelOperation.dying, let object = objects[place] { objectMutings[object] += 1 }
            ownerTableUses += 1
            world.muteAll(object: place, keepingNewest: keepingNewest)
        case .unmuteAll(let place):
            guard isThere(place) else { return }
            if place != ModelOperation.dying, let object = objects[place] {
                guard objectMutings[object] > 0 else { return }
                objectMutings[object] -= 1
            }
            world.unmuteAll(place)
        case .bound(let token, let backlog): world.bound(token: token, to: backlog)
        default: break
        }
    }

    // MARK: Objects

    private func make(at place: Int, atEnd: [ModelOperation]) {
        dropObject(at: place)
        guard objects[place] == nil else { return }
        objects[place] = endActions.count
        endActions.append(atEnd)
        objectMutings.append(0)
        liveObjects += 1
        world.makeObject(endActions.count - 1, at: place)
    }

    private func dropObject(at place: Int) {
        guard let object = objects[place] else { return }
        objects[place] = nil
        let before = dropped
        dropped = object
        world.dropObject(at: place)
        dropped = before
    }

    // MARK: Threads

    private func performOnThread(_ operations: [ModelOperation]) {
        guard !isClearing, threads.begin() else { return }
        let before = depth
        world.threadBegins()
        ModelThread.run { [self] in perform(operations) }
        depth = before
        threads.end()
    }

    private func exitThread() {
        guard dying.isEmpty, let lost = threads.exit() else { return }
        for call in lost.calls where !call.isKnown { liveCaptures -= 1 }
        liveObjects -= lost.objects
        world.threadEnds()
        ModelThread.exit()
    }
}
