internal import CoreFoundation
public import Foundation

// A thread as a target, by its run loop.
//
//     ThreadLoop       A thread: its run loop, until the thread exits.
//       RunLoopSource  The thread's blocks in one set of modes. Blocks wait for a run loop. The exit drops blocks.
//         RunLoopTarget  A target, one for each observer.
//
// No public API leads from a thread to a run loop, so a thread makes itself known.
//
// Each scheduled block gets a block of the run loop, made as by `RunLoop.perform`, and so a place among the others
// (D4). CoreFoundation removes the blocks of a pass from its list before the first runs. So if a block runs the run
// loop again, the new run begins with later blocks. The others wait until the first block returns, in all modes. Each
// block of the run loop runs the oldest waiting block, so the order holds there, too.

extension DeliveryTarget {
    /// The calling thread, by its run loop, in the common modes; on the main thread `.main`.
    ///
    /// A post from another thread wakes the run loop. A post from the thread itself calls the handler, unless a
    /// delivery of the observer is pending. Deliveries wait while the loop is not running. After the thread's exit,
    /// pending and later deliveries are dropped and counted (D5). Not for async code, whose threads run no run loop.
    @available(*, noasync, message: "async code runs on threads without a run loop; use .main, .mainActor or a queue")
    public static var currentThread: DeliveryTarget {
        MainQueue.isCurrent ? .main : DeliveryTarget(kind: .thread(.current, modes: [.common]))
    }

    /// A thread, by its run loop: the main thread, a thread that called `RunLoopThread.prepareCurrentThread()`, or a
    /// `RunLoopThread`, started or not. Any other thread stops the program with a sentence. The main thread in the
    /// common modes is `.main`.
    /// - Parameters:
    ///   - thread: The thread.
    ///   - modes: The run loop modes of the deliveries: all common modes, if omitted.
    public static func thread(_ thread: Thread, modes: Set<RunLoop.Mode> = [.common]) -> DeliveryTarget {
        guard let loop = ThreadLoop.known(of: thread) else {
            fatalError(
                "DeliveryTarget.thread(_:modes:): no run loop is known of this thread; call "
                    + "RunLoopThread.prepareCurrentThread() on it first, or use a RunLoopThread.")
        }
        guard !modes.isEmpty else {
            fatalError(
                "DeliveryTarget.thread(_:modes:): the set of modes is empty, so nothing could ever be delivered; pass "
                    + "at least one mode, such as .common.")
        }
        if thread.isMainThread, modes == [.common] { return .main }
        return DeliveryTarget(kind: .thread(loop, modes: modes))
    }
}

/// The calling thread's name for people. Foundation on Linux knows the name of no other thread.
func describeCurrentThread() -> String {
    if Thread.isMainThread { return "the main thread" }
    guard let name = Thread.current.name, !name.isEmpty else { return "a thread without a name" }
    return "thread \(name)"
}

/// A thread and its run loop.
final class ThreadLoop: Sendable {
    let description: String
    /// The thread, if identified by its object. After the deallocation another thread may have the address.
    private let reference: OwnerReference<Thread>?
    private let state = Locked(State())

    /// A thread's run loop while the thread runs.
    ///
    /// SAFETY: `perform` and the functions of CoreFoundation used here may be called from any thread.
    struct Loop: @unchecked Sendable {
        let runLoop: RunLoop
        let cfRunLoop: CFRunLoop

        func perform(in modes: [RunLoop.Mode] = [.default], _ block: @escaping @Sendable () -> Void) {
            runLoop.perform(inModes: modes, block: block)
            CFRunLoopWakeUp(cfRunLoop)
        }
    }

    private struct State: Sendable {
        var sources: [Set<RunLoop.Mode>: Unowned<RunLoopSource>] = [:]
        var loop: Loop?
        var thread: ThreadRecord?
        var isClosed = false

        var liveSources: [RunLoopSource] { sources.values.compactMap { $0.take() } }
    }

    init(description: String) {
        self.description = description
        reference = nil
    }

    private init(of thread: Thread) {
        description = describeCurrentThread()
        reference = OwnerReference(thread)
    }

    // MARK: Finding one

    private static let known = Locked<[ObjectIdentifier: ThreadLoop]>([:])

    private static let main: ThreadLoop = {
        let main = ThreadLoop(description: "the main thread")
        main.state.withLock { $0.loop = Loop(runLoop: .main, cfRunLoop: CFRunLoopGetMain()) }
        return main
    }()

    private static let own = ThreadSlot<ThreadLoop>()

    /// The calling thread's, until the exit.
    static var current: ThreadLoop {
        if Thread.isMainThread { return main }
        if let known = ThreadRecord.current[own] { return known }
        let thread = Thread.current
        let made = ThreadLoop(of: thread)
        made.begin()
        let identity = ObjectIdentifier(thread)
        let old = known.withLock { $0.updateValue(made, forKey: identity) }
        withExtendedLifetime(old) {}
        // The thread's object may be deallocated before the exit. Then another thread may have the address.
        ThreadRecord.current.atExit { known.withLock { if $0[identity] === made { $0[identity] = nil } } }
        return made
    }

    static func known(of thread: Thread) -> ThreadLoop? {
        if thread.isMainThread { return main }
        if let thread = thread as? RunLoopThread { return thread.loop }
        return known.withLock { loops in
            guard let loop = loops[ObjectIdentifier(thread)], loop.reference?.take() === thread else { return nil }
            return loop
        }
    }

    // MARK: A thread's life

    /// Stores the calling thread's run loop, until the thread exits.
    func begin() {
        let thread = ThreadRecord.current
        thread[ThreadLoop.own] = self
        thread.atExit { [self] in exit() }
        let loop = Loop(runLoop: .current, cfRunLoop: CFRunLoopGetCurrent())
        let sources = state.withLock { state -> [RunLoopSource] in
            if state.isClosed { return [] }
            (state.loop, state.thread) = (loop, thread)
            return state.liveSources
        }
        for source in sources { source.install(in: loop) }
    }

    /// Drops the pending deliveries, counted, and rejects later blocks.
    func close() {
        let sources = state.withLock { state in
            state.isClosed = true
            return state.liveSources
        }
        for source in sources { source.close() }
    }

    /// Undoes `begin`.
    func exit() {
        close()
        state.withLock { ($0.thread, $0.loop) = (nil, nil) }
    }

    /// Whether the thread is the calling one.
    var isCurrent: Bool {
        self === ThreadLoop.main
            ? Thread.isMainThread : state.withLock { $0.thread.map { $0 === ThreadRecord.current } ?? false }
    }

    /// The loop, while the thread runs.
    var loop: Loop? { state.withLock(\.loop) }

    /// The source of the thread and some modes, the same for all observers.
    func source(for modes: Set<RunLoop.Mode>) -> RunLoopSource {
        state.withLock { state in
            if let known = state.sources[modes]?.take() { return known }
            let made = RunLoopSource(thread: self, modes: modes, in: state.loop, isClosed: state.isClosed)
            state.sources[modes] = Unowned(made)
            return made
        }
    }

    /// Called by a source's `deinit`. Another source for the modes may have replaced the ended source.
    fileprivate func forget(_ source: RunLoopSource) {
        let other = state.withLock { state in
            let other = state.sources[source.modes]?.take()
            if other == nil { state.sources[source.modes] = nil }
            return other
        }
        withExtendedLifetime(other) {}
    }
}

/// The blocks of one thread and set of modes.
///
/// The run loop source keeps the loop running as long as an observer has the thread as target.
///
/// SAFETY: `source` never changes; any thread may invalidate a run loop source.
final class RunLoopSource: @unchecked Sendable {
    private struct State: Sendable {
        /// The waiting blocks, oldest first.
        var blocks = FIFO<CancellableBlock>()
        var loop: ThreadLoop.Loop?
        var isClosed = false
    }

    let thread: ThreadLoop
    let modes: Set<RunLoop.Mode>
    private let state: Locked<State>
    private let source = makeIdleRunLoopSource()

    fileprivate init(thread: ThreadLoop, modes: Set<RunLoop.Mode>, in loop: ThreadLoop.Loop?, isClosed: Bool) {
        self.thread = thread
        self.modes = modes
        state = Locked(State(loop: loop, isClosed: isClosed))
        if let loop { add(to: loop) }
    }

    deinit {
        thread.forget(self)
        CFRunLoopSourceInvalidate(source)
        // A waiting run loop does not notice an empty list of sources.
        if let loop = thread.loop { CFRunLoopWakeUp(loop.cfRunLoop) }
    }

    private func add(to loop: ThreadLoop.Loop) {
        for mode in modes { CFRunLoopAddSource(loop.cfRunLoop, source, mode.cfMode) }
    }

    /// Adds the source to the thread's run loop, which then runs the waiting blocks.
    fileprivate func install(in loop: ThreadLoop.Loop) {
        add(to: loop)
        let count = state.withLock { state in
            state.loop = loop
            return state.blocks.count
        }
        for _ in 0..<count { perform(in: loop) }
    }

    /// Runs a block on the thread, and wakes the thread. The block waits without a loop, and is dropped after the exit.
    func schedule(_ block: Block) {
        let block = CancellableBlock(block)
        let (isClosed, loop) = state.withLock { state in
            if !state.isClosed { state.blocks.append(block) }
            return (state.isClosed, state.loop)
        }
        if isClosed { return block.cancel() }
        if let loop { perform(in: loop) }
    }

    private func perform(in loop: ThreadLoop.Loop) {
        loop.perform(in: Array(modes)) { [weak self] in self?.runOldest() }
    }

    private func runOldest() { state.withLock { $0.blocks.popFirst() }?.run() }

    /// Drops the waiting blocks, counted, and rejects later ones.
    func close() {
        let blocks = state.withLock { state in
            (state.isClosed, state.loop) = (true, nil)
            return state.blocks.removeAll()
        }
        for block in blocks { block.cancel() }
    }
}

/// A thread's run loop as a target.
///
/// SAFETY: the source is a constant and Sendable.
final class RunLoopTarget: BoundTarget, @unchecked Sendable {
    private let source: RunLoopSource

    init(_ target: DeliveryTarget, _ source: RunLoopSource) {
        self.source = source
        super.init(target, place: ObjectIdentifier(source), mayBeCurrent: true)
    }

    override func schedule(_ block: Block) { source.schedule(block) }

    override var isCurrent: Bool { source.thread.isCurrent }
}
