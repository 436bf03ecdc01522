internal import CoreFoundation
public import Foundation

#if canImport(ObjectiveC)
internal import ObjectiveC
#endif

// A thread as a target, by its run loop.
//
//     ThreadLoop       A thread and its run loop, until the thread exits.
//       Line           The thread's blocks in one set of modes. Blocks wait for a run loop. The exit drops blocks.
//         RunLoopTarget  A target: of one observer, of an owner's observers, or of a `DeliveryTarget`.
//
// No public API leads from a thread to a run loop, so a thread makes itself known.
//
// Each scheduled block gets a block of the run loop, made as by `RunLoop.perform`, and so a place
// among the others (D4). If a block runs the run loop again, CoreFoundation begins with later
// blocks. So each block of the run loop runs the oldest waiting block of the line. Blocks of other
// lines, which are for other modes, may then come behind the blocks of later posts.

extension DeliveryTarget {
    /// The calling thread, by its run loop, in the common modes; on the main thread `.main`.
    ///
    /// A post from another thread wakes the run loop. A post from the thread itself calls the
    /// handler, unless deliveries wait there in the same modes. Deliveries wait while the loop is
    /// not running. After the thread's exit, pending and later deliveries are dropped and counted.
    @available(
        *, noasync,
        message: "async code runs on threads without a run loop; use .main, .mainActor or a queue"
    )
    public static var currentThread: DeliveryTarget {
        MainQueue.isCurrent ? .main : DeliveryTarget(RunLoopTarget(.current, in: [.common]))
    }

    /// A thread, by its run loop in some modes: the main thread, a thread that called
    /// `RunLoopThread.prepareCurrentThread()`, or a `RunLoopThread`, started or not. Deliveries to
    /// a thread of Foundation's that has finished are dropped and counted. Any other thread stops
    /// the program with a sentence. The main thread in the common modes is `.main`.
    public static func thread(
        _ thread: Thread, modes: Set<RunLoop.Mode> = [.common], fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> DeliveryTarget {
        let site = CallSite(fileID, line)
        guard let loop = ThreadLoop.known(of: thread) else {
            site.refuse(
                "the run loop of this thread is unknown; call RunLoopThread.prepareCurrentThread() on the thread first, or use a "
                    + "RunLoopThread.")
        }
        guard !modes.isEmpty else {
            site.refuse(
                "the set of modes is empty, so nothing is ever delivered; pass one, such as .common."
            )
        }
        if thread.isMainThread, modes == [.common] { return .main }
        return DeliveryTarget(RunLoopTarget(loop, in: modes))
    }
}

/// A thread and its run loop.
final class ThreadLoop: Sendable {
    let description: String
    /// The identity of the thread's object, if the thread is found by the object.
    private let identity: ObjectIdentifier?
    private let state = Locked(State())

    /// A thread's run loop while the thread runs.
    /// SAFETY: any thread may call `perform` and the functions of CoreFoundation used here.
    private struct Loop: @unchecked Sendable {
        let runLoop: RunLoop
        let cfRunLoop: CFRunLoop
        /// `nil` for the main thread.
        var thread: ThreadRecord?

        func perform(in modes: Set<RunLoop.Mode>, _ block: @escaping @Sendable () -> Void) {
            runLoop.perform(inModes: Array(modes), block: block)
            CFRunLoopWakeUp(cfRunLoop)
        }
    }

    private struct State: Sendable {
        var loop: Loop?
        var isClosed = false
        /// All lines that the thread has had.
        var lines: [Set<RunLoop.Mode>: Line] = [:]
        /// The line of each block that waits for the thread's start, in the order of the blocks.
        var linesBeforeStart: [Line] = []
    }

    /// The blocks of the thread in one set of modes. While an observer has a target of this line,
    /// `hold` keeps the run loop from exiting.
    /// SAFETY: the variables are protected by the lock of the thread's state.
    final class Line: @unchecked Sendable {
        fileprivate let modes: Set<RunLoop.Mode>
        /// The waiting blocks, oldest first.
        fileprivate var blocks = FIFO<Block>()
        fileprivate let waiting = WaitingCount()
        fileprivate var targetCount = 0
        fileprivate var hold: RunLoopHold?

        fileprivate init(_ modes: Set<RunLoop.Mode>) { self.modes = modes }
    }

    init(description: String, of thread: Thread? = nil) {
        self.description = description
        identity = thread.map { ObjectIdentifier($0) }
    }

    deinit { close() }

    // MARK: Finding one

    /// The loops of threads that made themselves known, by the identities of the threads, until
    /// their exits. Where an exit is not seen (see `ThreadRecord`), a later `Thread` at the address
    /// is taken for the exited one.
    private static let ofThreads = Locked<[ObjectIdentifier: ThreadLoop]>([:])

    private static let main: ThreadLoop = {
        let main = ThreadLoop(description: "the main thread")
        main.state.withLock { $0.loop = Loop(runLoop: .main, cfRunLoop: CFRunLoopGetMain()) }
        return main
    }()

    /// The calling thread's, until the exit.
    static var current: ThreadLoop {
        if Thread.isMainThread { return main }
        if let known = ThreadRecord.current[ThreadLoop.self] { return known }
        let thread = Thread.current
        let made = ThreadLoop(description: describeCurrentThread(), of: thread)
        made.begin()
        let old = ofThreads.withLock { $0.updateValue(made, forKey: ObjectIdentifier(thread)) }
        withExtendedLifetime(old) {}
        return made
    }

    /// The loop of a thread; `nil` if the thread has not made itself known.
    static func known(of thread: Thread) -> ThreadLoop? {
        if thread.isMainThread { return main }
        if let thread = thread as? RunLoopThread { return thread.loop }
        if let known = ofThreads.withLock({ $0[ObjectIdentifier(thread)] }) { return known }
        // A thread of Foundation's is finished before its exit removes it from the table.
        return thread.isFinished ? ended : nil
    }

    /// The loop of every thread that had finished when it was given. Its deliveries are dropped.
    private static let ended: ThreadLoop = {
        let ended = ThreadLoop(description: "a finished thread")
        ended.close()
        return ended
    }()

    // MARK: A thread's life

    /// Stores the calling thread's run loop, which runs the waiting blocks, until the thread exits.
    func begin() {
        let thread = ThreadRecord.current
        thread[ThreadLoop.self] = self
        thread.atExit(self) { $0.exit() }
        state.withLock { state in
            if state.isClosed { return }
            let loop = Loop(runLoop: .current, cfRunLoop: CFRunLoopGetCurrent(), thread: thread)
            state.loop = loop
            for line in state.lines.values {
                if line.targetCount > 0 { line.hold = RunLoopHold(loop.cfRunLoop, in: line.modes) }
            }
            for line in state.linesBeforeStart { perform(line, on: loop) }
            state.linesBeforeStart = []
        }
    }

    /// Drops the waiting blocks, counted, rejects later ones, and ends the innermost run of the
    /// loop, if that run is in the default mode.
    func stop() {
        close()
        state.withLock(\.loop)?.perform(in: [.default]) { CFRunLoopStop(CFRunLoopGetCurrent()) }
    }

    private func close() {
        let blocks = state.withLock { state in
            state.isClosed = true
            state.linesBeforeStart = []
            return state.lines.values.flatMap { $0.blocks.removeAll() }
        }
        for block in blocks { block.drop() }
    }

    /// Drops the waiting blocks, counted, and rejects later ones. Undoes `begin`.
    func exit() {
        close()
        state.withLock { state in
            state.loop = nil
            for line in state.lines.values { line.hold.take()?.invalidate() }
        }
        // The thread's object may be deallocated already, and another thread may have the address.
        ThreadLoop.ofThreads.withLock {
            if let identity, $0[identity] === self { $0[identity] = nil }
        }
    }

    /// Whether the thread is the calling one.
    var isCurrent: Bool {
        if self === ThreadLoop.main { return Thread.isMainThread }
        // Before the lock: a thread's first record is made under another lock.
        let thread = ThreadRecord.current
        return state.withLock { state in
            guard let loop = state.loop else { return false }
            return loop.thread === thread
        }
    }

    // MARK: Targets and blocks

    /// The line of some modes.
    fileprivate func line(in modes: Set<RunLoop.Mode>) -> Line {
        state.withLock { state in
            let line = state.lines[modes] ?? Line(modes)
            state.lines[modes] = line
            return line
        }
    }

    /// Counts a target of the line, until `detach`.
    fileprivate func attach(to line: Line) {
        state.withLock { state in
            line.targetCount += 1
            if line.hold == nil, let loop = state.loop {
                line.hold = RunLoopHold(loop.cfRunLoop, in: line.modes)
            }
        }
    }

    fileprivate func detach(from line: Line) {
        state.withLock { state in
            line.targetCount -= 1
            guard line.targetCount == 0 else { return }
            line.hold.take()?.invalidate()
            // A waiting run loop does not notice an empty list of sources.
            if let loop = state.loop { CFRunLoopWakeUp(loop.cfRunLoop) }
        }
    }

    /// Runs a block on the thread, and wakes the thread. Without a loop the block waits; after
    /// `stop` or `exit` it is dropped.
    fileprivate func schedule(_ block: __owned Block, on line: Line) {
        let isClosed = state.withLock { state in
            if state.isClosed { return true }
            line.blocks.append(block)
            // Under the lock, so the loop's blocks are in the order of these: what the caller puts
            // on the loop afterwards comes behind the block.
            if let loop = state.loop {
                perform(line, on: loop)
            } else {
                state.linesBeforeStart.append(line)
            }
            return false
        }
        if isClosed { block.drop() }
    }

    private func perform(_ line: Line, on loop: Loop) {
        loop.perform(in: line.modes) { [self] in
            withObjectPool { state.withLock { _ in line.blocks.popFirst() }?.runNestable() }
            // A run inside a handler may have used up the wake-up of a block that the run could not
            // call.
            if let loop = state.withLock({ line.blocks.isEmpty ? nil : $0.loop }) {
                CFRunLoopWakeUp(loop.cfRunLoop)
            }
        }
    }
}

/// Calls a body, and then releases what the body autoreleased. A run of CoreFoundation's loop has
/// no pool of its own on a thread.
private func withObjectPool(_ body: () -> Void) {
    #if canImport(ObjectiveC)
    autoreleasepool(invoking: body)
    #else
    body()
    #endif
}

/// A thread's run loop as a target.
/// SAFETY: the properties are constants.
final class RunLoopTarget: BlockTarget, @unchecked Sendable {
    private let thread: ThreadLoop
    private let line: ThreadLoop.Line
    /// Whether an observer has the target.
    private let isAttached: Bool

    init(_ thread: ThreadLoop, in modes: Set<RunLoop.Mode>, isAttached: Bool = false) {
        self.thread = thread
        self.isAttached = isAttached
        line = thread.line(in: modes)
        if isAttached {
            thread.attach(to: line)
        }
        super.init(queue: ObjectIdentifier(line), inline: .unlessPending)
    }

    deinit { if isAttached { thread.detach(from: line) } }

    override func copyForObserver() -> BlockTarget {
        RunLoopTarget(thread, in: line.modes, isAttached: true)
    }

    override func copyForValue() -> BlockTarget { RunLoopTarget(thread, in: line.modes) }

    override func schedule(_ block: __owned Block) { thread.schedule(block, on: line) }

    override var isCurrent: Bool { thread.isCurrent }

    override func waiting(in center: CenterCore) -> WaitingCount? { line.waiting }

    override var description: String {
        thread.description
            + (line.modes == [.common] ? "" : ", modes \(line.modes.map(\.rawValue).sorted())")
    }
}
