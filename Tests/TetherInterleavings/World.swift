import Foundation

@testable import Tether

/// Performs a program on a center, and records what happens, for `check` in Checks.swift.
///
/// Events count the time. An operation lasts from one time to another, so of two operations that
/// overlap either may come first.
///
/// SAFETY: one thread runs at a time.
final class World: @unchecked Sendable {
    /// What a thread is inside of.
    enum Context: Equatable {
        case operation
        case post(Int)
        case job(Program.Place)
        case handler(Int)
    }

    struct Span {
        let from: Int
        var to = Int.max
        /// Of an end: whether the observer still gets its pending deliveries.
        var deliversPending = false
    }

    struct Post {
        let name: Int
        let isFromSender: Bool
        let thread: Int?
        /// What the post is inside of.
        let contexts: [Context]
        /// How many calls there were before.
        let earlierCalls: Int
        var span: Span
    }

    struct Call {
        let post: Int
        let observer: Int
        let context: Context
    }

    final class Observer {
        let asked: Program.Observer
        var token: NotificationObserver?
        var registration: Span?
        var ends: [Span] = []
        var mutings: [Span] = []
        var isSwitched = false
        /// The threads on which the handler may start no more.
        var endedOn: Set<Int?> = []
        /// The contexts and threads of the calls under way.
        var running: [(thread: Int?, context: Context)] = []
        var calls = 0
        var hasReleasedCaptures = false

        init(_ asked: Program.Observer) { self.asked = asked }
    }

    /// An owner, a sender, a capture or a payload.
    final class Ending: @unchecked Sendable {
        private let end: () -> Void
        init(_ end: @escaping () -> Void) { self.end = end }
        deinit { end() }
        /// A reference that does not outlast the access.
        func touch() {}
    }

    static let allThreads: Set<Int?> = [0, 1, 2]
    let program: Program
    let schedule: Schedule
    let fail: (String) -> Never
    let queues = Queues()
    var center: ObserverCenter? = ObserverCenter()
    private var sender: Ending? = Ending {}
    var owner: Ending?
    let observers: [Observer]
    var posts: [Post] = []
    var calls: [Call] = []
    var payloads = 0
    /// Of each thread; under `nil` of the thread that sets up.
    var contexts: [Int?: [Context]] = [:]
    private var idle: Set<Int> = []
    private var time = 0
    private let isVerbose: Bool
    private(set) var log: [String] = []

    init(
        _ program: Program, schedule: Schedule, isVerbose: Bool = false,
        fail: @escaping (String) -> Never
    ) {
        self.program = program
        self.schedule = schedule
        self.isVerbose = isVerbose
        self.fail = fail
        observers = program.observers.map(Observer.init)
        owner = Ending { [unowned self] in ownerEnds() }
        Queues.current = queues
    }

    var thread: Int? { schedule.thread }

    private func now() -> Int {
        time += 1
        return time
    }

    private func note(_ line: @autoclosure () -> String) {
        guard isVerbose else { return }
        let place = thread.map { "thread \($0)" } ?? "beginning"
        log.append("\(place): \(line().replacing("Interleavings.Program.", with: ""))")
    }

    // MARK: Threads

    func play() {
        for operation in program.beginning { perform(operation) }
        schedule.run(program.threads.indices.map { thread in { self.runThread(thread) } })
        check()
        tearDown()
    }

    /// Performs the operations that never wait, one after the other on the calling thread.
    func rehearse() {
        for operation in program.beginning + program.threads.joined() {
            if case .finish = operation { continue }
            perform(operation)
        }
    }

    private func runThread(_ thread: Int) {
        for operation in program.threads[thread] { perform(operation) }
        // The jobs, until no thread has anything to do.
        while idle.count < program.threads.count || !queues.areEmpty {
            if let place = Program.Place.allCases.first(where: { queues.canRun($0, on: thread) }) {
                idle.remove(thread)
                perform(.runJob(place))
            } else {
                if idle.insert(thread).inserted { Interleaving.pass(.signalled) }
                Interleaving.pass(.waiting)
            }
        }
        Interleaving.pass(.signalled)
    }

    // MARK: Operations

    private func inside(_ context: Context, _ body: () -> Void) {
        let here = thread
        contexts[here, default: []].append(context)
        body()
        contexts[here]!.removeLast()
    }

    func perform(_ operation: Program.Operation) {
        note("\(operation)")
        inside(.operation) { performInside(operation) }
        note("\(operation) returned")
    }

    private func performInside(_ operation: Program.Operation) {
        switch operation {
        case .observe(let index): observe(index)
        case .post(let name, let isFromSender): post(name, isFromSender)
        case .cancel(let index): cancel(index)
        case .cancelAndWait(let index): cancelAndWait(index)
        case .finish(let index): finish(index)
        case .switchTarget(let subject, let place): switchTarget(subject, to: place)
        case .mute(let subject, let keepsNewest, let operation):
            mute(subject, keepsNewest, during: operation)
        case .bound(let index):
            beginEnd([observers[index]])
            observers[index].token?.backlog = .newest(1)
        case .remove(let name):
            let named = observers.filter { $0.asked.name == name }
            end(named) { center?.removeObservers(named: World.name(name)) }
        // A call that is under way may retain the owner, the sender or the center.
        case .endOwner:
            beginEnd(owned)
            owner = nil
        case .endSender:
            beginEnd(observers.filter(\.asked.isFromSender), deliversPending: true)
            sender = nil
        case .endCenter:
            beginEnd(observers)
            center = nil
        case .runJob(let place):
            guard contexts[thread]!.count == 1, queues.canRun(place, on: thread) else { return }
            inside(.job(place)) { queues.run(place) }
        case .dropJob(let place):
            guard contexts[thread]!.count == 1, queues.canRun(place, on: thread), place != .tasks
            else { return }
            beginEnd(observers)
            queues.drop(place)
        case .audit:
            _ = center?.audit().count
            OwnerLifetime.purge()
        }
    }

    private var owned: [Observer] { observers.filter(\.asked.isOwned) }

    private func switchTarget(_ subject: Program.Subject, to place: Program.Place) {
        guard let target = queues.targets[place] else { return }
        switch subject {
        case .observer(let index):
            // The target of an async handler is fixed.
            if observers[index].asked.place == .tasks { return }
            observers[index].isSwitched = true
            observers[index].token?.target = target
        case .owner:
            guard let owner else { return }
            for observer in owned where observer.asked.place != .tasks {
                observer.isSwitched = true
            }
            OwnerObservers(of: owner).target = target
        }
    }

    static func name(_ number: Int) -> Notification.Name { Notification.Name("n\(number)") }

    private func observe(_ index: Int) {
        let observer = observers[index]
        let asked = observer.asked
        let owner = owner
        guard observer.registration == nil, let center, let sender,
            !asked.isOwned || owner != nil
        else { return }
        observer.registration = Span(from: now())
        let capture = Ending { observer.hasReleasedCaptures = true }
        let handler: @Sendable (Notification) -> Void = { [unowned self] notification in
            capture.touch()
            called(index, notification.userInfo!["number"] as! Int)
        }
        let name = asked.name.map(World.name)
        let from: AnyObject = asked.isFromSender ? sender : Omitted.argument
        let once = asked.isOnce
        let key = asked.hasKey ? "key" : nil
        let replaced = observers.filter {
            asked.hasKey && $0 !== observer && $0.asked.hasKey && $0.asked.isOwned == asked.isOwned
        }
        end(replaced) {
            guard let target = queues.targets[asked.place] else {
                observer.token =
                    if asked.isOwned, let owner {
                        center.observe(name, from: from, owner: owner, once: once, key: key) {
                            _, notification async in handler(notification)
                        }
                    } else {
                        center.observe(name, from: from, once: once, key: key) {
                            notification async in handler(notification)
                        }
                    }
                return
            }
            if asked.isOwned, let owner {
                observer.token = center.observe(
                    name, from: from, owner: owner, on: target, once: once, key: key
                ) { handler($1) }
            } else {
                observer.token = center.observe(
                    name, from: from, on: target, once: once, key: key
                ) { handler($0) }
            }
        }
        observer.registration?.to = now()
    }

    private func post(_ name: Int, _ isFromSender: Bool) {
        guard let center, let sender else { return }
        let number = posts.count
        posts.append(
            Post(
                name: name, isFromSender: isFromSender, thread: thread,
                contexts: contexts[thread]!.dropLast(), earlierCalls: calls.count,
                span: Span(from: now())))
        payloads += 1
        let payload = Ending { [unowned self] in payloads -= 1 }
        inside(.post(number)) {
            center.post(
                name: World.name(name), object: isFromSender ? sender : nil,
                userInfo: ["number": number, "payload": payload])
        }
        posts[number].span.to = now()
    }

    private func mute(
        _ subject: Program.Subject, _ keepsNewest: Bool, during operation: Program.Operation
    ) {
        switch subject {
        case .observer(let index):
            guard let token = observers[index].token else { return }
            let from = beginMuting([observers[index]])
            token.mute(keepingNewest: keepsNewest)
            perform(operation)
            token.unmute()
            endMuting(since: from)
        case .owner:
            guard let owner else { return }
            let from = beginMuting(owned)
            OwnerObservers(of: owner).mute(keepingNewest: keepsNewest)
            perform(operation)
            OwnerObservers(of: owner).unmute()
            endMuting(since: from)
        }
    }

    private func beginMuting(_ observers: [Observer]) -> Int {
        let from = now()
        for observer in observers { observer.mutings.append(Span(from: from)) }
        return from
    }

    private func endMuting(since from: Int) {
        let to = now()
        for observer in observers {
            for place in observer.mutings.indices where observer.mutings[place].from == from {
                observer.mutings[place].to = to
            }
        }
    }

    // MARK: Ends

    /// From now on, posts to the observers may be lost.
    @discardableResult
    private func beginEnd(_ observers: [Observer], deliversPending: Bool = false) -> Int {
        let from = now()
        let end = Span(from: from, deliversPending: deliversPending)
        for observer in observers { observer.ends.append(end) }
        return from
    }

    /// An observer that is made meanwhile may end, too.
    private func end(_ observers: [Observer], deliversPending: Bool = false, _ body: () -> Void) {
        let from = beginEnd(observers, deliversPending: deliversPending)
        body()
        for observer in observers where observer.registration.map({ $0.to < from }) == true {
            observer.ends[observer.ends.firstIndex { $0.from == from }!].to = now()
        }
    }

    private func cancel(_ index: Int) {
        let observer = observers[index]
        guard let token = observer.token else { return }
        let isFree = token.isActive && !mayBeKept(observer)
        let switches = schedule.switches
        end([observer]) { token.cancel() }
        if token.isActive { fail("R1: observer \(index) is active after cancel()") }
        observer.endedOn.insert(thread)
        if isFree, switches == schedule.switches, !observer.hasReleasedCaptures {
            fail("R8: the captures of \(index) are kept after cancel()")
        }
    }

    /// Whether a post, a job or a call may be using the observer: on this thread, or on another
    /// thread that is not inside the handler of another observer.
    private func mayBeKept(_ observer: Observer) -> Bool {
        if !observer.running.isEmpty || contexts[thread]!.count > 1 { return true }
        return contexts.contains { other, contexts in
            guard other != thread, let innermost = contexts.last else { return false }
            if case .handler = innermost { return false }
            return true
        }
    }

    private func cancelAndWait(_ index: Int) {
        let observer = observers[index]
        guard let token = observer.token else { return }
        var result = NotificationObserver.WaitResult.finished
        end([observer]) { result = token.cancelAndWait() }
        checkWait(index, result)
        if token.isActive { fail("R2: observer \(index) is active after cancelAndWait()") }
        observer.endedOn.formUnion(result == .finished ? World.allThreads : [thread])
    }

    private func finish(_ index: Int) {
        let observer = observers[index]
        guard let token = observer.token else { return }
        var result = NotificationObserver.WaitResult.finished
        end([observer], deliversPending: true) { result = token.finish() }
        checkWait(index, result)
        if result == .finished, token.isActive {
            fail("R11: observer \(index) is active after finish()")
        }
    }

    private func checkWait(_ index: Int, _ result: NotificationObserver.WaitResult) {
        let isInHandler = contexts[thread]!.contains {
            if case .handler = $0 { true } else { false }
        }
        if result == .wouldDeadlock, !isInHandler {
            fail("R2: a wait for \(index) outside of a handler would deadlock")
        }
        if result == .finished, observers[index].running.contains(where: { $0.thread != thread }) {
            fail("R2: a wait for \(index) ended while another thread runs its handler")
        }
    }

    private func ownerEnds() {
        for (index, observer) in observers.enumerated() where observer.asked.isOwned {
            guard let token = observer.token else { continue }
            if token.isActive { fail("O3: observer \(index) is active in its owner's deinit") }
            observer.endedOn = World.allThreads
        }
    }

    // MARK: Calls

    private func called(_ index: Int, _ number: Int) {
        let observer = observers[index]
        let here = thread
        let context = contexts[here]!.last!
        checkCall(index, number, context)
        calls.append(Call(post: number, observer: index, context: context))
        note("handler \(index) of post \(number)")
        observer.running.append((here, context))
        observer.calls += 1
        inside(.handler(index)) {
            Interleaving.pass(.step)
            if observer.calls == 1, contexts[here]!.count < 12 {
                for operation in observer.asked.actions { perform(operation) }
            }
            Interleaving.pass(.step)
        }
        checkCancellation(index)
        observer.running.remove(at: observer.running.lastIndex { $0.thread == here }!)
        if observer.hasReleasedCaptures {
            fail("R8: the captures of \(index) are released while its handler runs")
        }
        note("handler \(index) of post \(number) returned")
    }

    /// A call is cancelled if another thread has ended the observer, but not if the observer still
    /// gets its pending deliveries.
    private func checkCancellation(_ index: Int) {
        let observer = observers[index]
        guard observer.asked.place == .tasks, observer.asked.actions.isEmpty,
            observer.ends.count < 2
        else { return }
        let end = observer.ends.first { !$0.deliversPending }
        if Task.isCancelled, end == nil { fail("P4: the call of handler \(index) is cancelled") }
        if !Task.isCancelled, let end, end.to < time {
            fail("P4: the call of handler \(index) is not cancelled")
        }
    }

    private func checkCall(_ index: Int, _ number: Int, _ context: Context) {
        let observer = observers[index]
        if observer.endedOn.contains(thread) || observer.hasReleasedCaptures {
            fail("R1: handler \(index) starts after its end, for post \(number)")
        }
        if observer.isSwitched { return }
        let place = observer.asked.place
        if place == .main, thread != 0 { fail("D3: handler \(index) runs on thread \(thread!)") }
        switch context {
        case .job(let job):
            if job != place { fail("D2: handler \(index) runs at \(job)") }
            if observer.running.contains(where: { $0.context == context }) {
                fail("D4: two jobs call handler \(index) at once")
            }
        case .post(let post):
            if place != .main, place != .postingThread {
                fail("D1: post \(post) calls handler \(index), whose target is \(place)")
            }
        default: break
        }
    }
}
