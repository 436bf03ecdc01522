internal import CoreFoundation
public import Foundation

extension DeliveryTarget {
    /// The calling thread, by its run loop, in the common modes.
    ///
    /// What is posted from other threads wakes the run loop; posted from the thread itself it is delivered inline, unless
    /// something is already pending there. Deliveries are held while the loop is not running; those that are pending when
    /// the thread exits, and later ones, are dropped and counted (D5).
    public static var currentThread: DeliveryTarget { DeliveryTarget(ThreadLoop.current, modes: [.common]) }

    /// A thread, by its run loop: the main thread, one that called `prepareCurrentThread()`, or a `RunLoopThread`,
    /// started or not. Any other thread stops the program with a sentence.
    /// - Parameters:
    ///   - thread: The thread.
    ///   - modes: The run loop modes in which it delivers: all that are common, if left out.
    public static func thread(_ thread: Thread, modes: Set<RunLoop.Mode> = [.common]) -> DeliveryTarget {
        guard let loop = ThreadLoop.known(of: thread) else {
            // Not covered: ends the process; MisuseTableTests run it apart.
            fatalError(
                "DeliveryTarget.thread(_:modes:): no run loop is known of \(describeThread(thread)); call "
                    + "DeliveryTarget.prepareCurrentThread() on it first, or use a RunLoopThread.")
        }
        return DeliveryTarget(loop, modes: modes)
    }

    /// Makes the calling thread known as a target for `thread(_:modes:)`.
    public static func prepareCurrentThread() { _ = ThreadLoop.current }

    private init(_ loop: ThreadLoop, modes: Set<RunLoop.Mode>) {
        guard !modes.isEmpty else {
            // Not covered: ends the process; MisuseTableTests run it apart.
            fatalError(
                "DeliveryTarget.thread(_:modes:): the set of modes is empty, so nothing could ever be delivered; pass "
                    + "at least one mode, such as .common.")
        }
        self.init(kind: .thread(loop, modes: modes))
    }
}

/// A thread's name for people.
func describeThread(_ thread: Thread) -> String {
    if thread.isMainThread { return "the main thread" }
    guard let name = thread.name, !name.isEmpty else { return "a thread without a name" }
    return "thread \(name)"
}

/// A thread as a target: its run loop, from when that is known until the thread exits.
///
/// No public API leads from a thread to its run loop, so a thread makes itself known.
final class ThreadLoop: Sendable {
    let description: String
    private let isMain: Bool
    private let state = Guarded(State())

    /// SAFETY: only touched under the mutex; a `CFRunLoop` may be signalled and woken from any thread.
    private struct State: @unchecked Sendable {
        /// By number. Not held, because a source that nothing delivers to is taken off the run loop, which may end then.
        var sources: [Int: WeakSource] = [:]
        var loop: CFRunLoop?
        var thread: PostingThread?
        var isClosed = false

        var liveSources: [ThreadSource] { sources.values.compactMap(\.source) }
    }

    private let mailboxes = MailboxTable<Set<RunLoop.Mode>>()

    init(description: String, isMain: Bool = false) {
        self.description = description
        self.isMain = isMain
    }

    // MARK: Finding one

    private static let known = Guarded<[ObjectIdentifier: ThreadLoop]>([:])

    static let main: ThreadLoop = {
        let main = ThreadLoop(description: "the main thread", isMain: true)
        main.state.withLock { $0.loop = CFRunLoopGetMain() }
        return main
    }()

    /// The calling thread's, until it exits.
    static var current: ThreadLoop {
        let thread = Thread.current
        if thread.isMainThread { return main }
        if let known = PostingThread.current.loop { return known }
        let made = (thread as? RunLoopThread)?.loop ?? ThreadLoop(description: describeThread(thread))
        made.begin()
        // SAFETY: the identity is removed before the thread object goes: its thread holds it until it exits.
        let identity = ObjectIdentifier(thread)
        known.withLock { $0[identity] = made }
        PostingThread.current.atExit { known.withLock { $0[identity] = nil } }
        return made
    }

    static func known(of thread: Thread) -> ThreadLoop? {
        if thread.isMainThread { return main }
        if let thread = thread as? RunLoopThread { return thread.loop }
        return known.withLock { $0[ObjectIdentifier(thread)] }
    }

    // MARK: A thread's life

    /// Takes the calling thread's run loop, and sees to the thread's exit.
    func begin() {
        let thread = PostingThread.current
        thread.loop = self
        thread.atExit { [self] in exit() }
        let sources = state.withLock { state -> [ThreadSource] in
            if state.isClosed { return [] }
            state.loop = CFRunLoopGetCurrent()
            state.thread = thread
            return state.liveSources
        }
        for source in sources { source.install() }
    }

    /// Drops what is pending, counted, but for what a drain has begun with, and takes no more.
    func close() {
        let sources = state.withLock { state in
            state.isClosed = true
            return state.liveSources
        }
        for source in sources { source.close() }
    }

    /// Ends what `begin` began.
    func exit() {
        close()
        state.withLock { state in
            state.thread = nil
            state.loop = nil
        }
    }

    /// Whether the calling thread is this one.
    var isCurrent: Bool {
        isMain ? Thread.isMainThread : state.withLock { $0.thread.map { $0 === PostingThread.current } ?? false }
    }

    var runLoop: CFRunLoop? { state.withLock { $0.loop } }

    /// The mailbox of this thread and some modes, the same for all observers.
    func mailbox(for modes: Set<RunLoop.Mode>) -> Mailbox {
        mailboxes.mailbox(of: modes) { ThreadDrains(source: makeSource(modes)) }
    }

    private func makeSource(_ modes: Set<RunLoop.Mode>) -> ThreadSource {
        let source = ThreadSource(thread: self, modes: modes)
        let isClosed = state.withLock { state in
            state.sources[source.number] = WeakSource(source: source)
            return state.isClosed
        }
        if isClosed { source.close() } else { source.install() }
        return source
    }

    fileprivate func forget(_ number: Int) { state.withLock { $0.sources[number] = nil } }
}

/// Drains in the run loop of a thread.
struct ThreadDrains: DrainScheduler {
    let source: ThreadSource

    func schedule(_ drain: Drain) { source.schedule(drain) }

    var mayBeCurrent: Bool { true }
    var isCurrent: Bool { source.thread.isCurrent }
}

/// The run loop source of one thread and set of modes.
///
/// SAFETY: `source` never changes; CoreFoundation's run loop sources may be signalled from any thread.
final class ThreadSource: @unchecked Sendable {
    private struct State: @unchecked Sendable {
        var drains: [Drain] = []
        var loop: CFRunLoop?
        var isClosed = false
    }

    let thread: ThreadLoop
    let number: Int
    private let modes: Set<RunLoop.Mode>
    private let state = Guarded(State())
    private let source: CFRunLoopSource

    init(thread: ThreadLoop, modes: Set<RunLoop.Mode>) {
        self.thread = thread
        self.modes = modes
        (number, source) = RunLoopSources.make()
        RunLoopSources.connect(number, to: self)
    }

    deinit {
        thread.forget(number)
        RunLoopSources.disconnect(number)
        CFRunLoopSourceInvalidate(source)
        // A run loop that waits does not see that there is nothing left to wait for.
        if let loop = thread.runLoop { CFRunLoopWakeUp(loop) }
    }

    /// Adds the source to the thread's run loop, if that is known; what was held is delivered when the loop runs.
    func install() {
        guard let loop = thread.runLoop else { return }
        for mode in modes { CFRunLoopAddSource(loop, source, mode.cfMode) }
        let isNeeded = state.withLock { state in
            state.loop = loop
            return !state.drains.isEmpty
        }
        if isNeeded { signal(loop) }
    }

    /// Runs a drain on the thread, and wakes it; holds it while there is no loop; cancels it when the thread has exited.
    func schedule(_ drain: Drain) {
        let (isClosed, loop) = state.withLock { state in
            if !state.isClosed { state.drains.append(drain) }
            return (state.isClosed, state.loop)
        }
        if isClosed { return drain.cancel() }
        if let loop { signal(loop) }
    }

    private func signal(_ loop: CFRunLoop) {
        CFRunLoopSourceSignal(source)
        CFRunLoopWakeUp(loop)
    }

    /// Runs what was scheduled, on the thread.
    func perform() {
        let drains = state.withLock { state in
            let drains = state.drains
            state.drains = []
            return drains
        }
        for drain in drains { drain.run() }
    }

    /// Cancels what is scheduled, which drops what it stands for, and takes no more.
    func close() {
        let drains = state.withLock { state in
            state.isClosed = true
            state.loop = nil
            let drains = state.drains
            state.drains = []
            return drains
        }
        for drain in drains { drain.cancel() }
    }
}

private struct WeakSource: Sendable { weak var source: ThreadSource? }

/// The thread sources by number: what a run loop holds is a number, so that one which fires while its source goes on
/// another thread finds nothing, instead of something freed.
private enum RunLoopSources {
    private static let sources = Guarded<(last: Int, byNumber: [Int: WeakSource])>((0, [:]))

    static func make() -> (Int, CFRunLoopSource) {
        let number = sources.withLock { sources in
            sources.last += 1
            return sources.last
        }
        var context = unsafe CFRunLoopSourceContext()
        // SAFETY: a number, never read through.
        unsafe context.info = UnsafeMutableRawPointer(bitPattern: number)
        unsafe context.perform = { info in RunLoopSources.source(Int(bitPattern: info))?.perform() }
        return (number, unsafe CFRunLoopSourceCreate(nil, 0, &context))
    }

    static func connect(_ number: Int, to source: ThreadSource) {
        sources.withLock { $0.byNumber[number] = WeakSource(source: source) }
    }

    static func disconnect(_ number: Int) { sources.withLock { $0.byNumber[number] = nil } }

    private static func source(_ number: Int) -> ThreadSource? { sources.withLock { $0.byNumber[number]?.source } }
}
