internal import CoreFoundation
internal import Foundation

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
    let isMain: Bool
    /// The thread, if it is told by its object; another one may have the address, which this may not pin, when it has gone.
    private let reference: OwnerReference<Thread>?
    private let state = Guarded(State())

    /// SAFETY: only touched under the mutex; a `CFRunLoop` may be signalled and woken from any thread.
    private struct State: @unchecked Sendable {
        /// Not held, because a source that nothing delivers to is taken off the run loop, which may end then.
        var sources: [RunLoopInfo: Unretained<ThreadSource>] = [:]
        var loop: CFRunLoop?
        var thread: PostingThread?
        var isClosed = false

        var liveSources: [ThreadSource] { sources.values.compactMap { $0.take() } }
    }

    private let mailboxes = SharedObjects<Set<RunLoop.Mode>, Mailbox>()

    init(description: String, isMain: Bool = false) {
        self.description = description
        self.isMain = isMain
        reference = nil
    }

    private init(of thread: Thread) {
        description = describeThread(thread)
        isMain = false
        reference = OwnerReference(thread)
    }

    // MARK: Finding one

    private static let known = Guarded<[ObjectIdentifier: ThreadLoop]>([:])

    static let main: ThreadLoop = {
        let main = ThreadLoop(description: "the main thread", isMain: true)
        main.state.withLock { $0.loop = CFRunLoopGetMain() }
        return main
    }()

    private static let own = ThreadSlot<ThreadLoop>()

    /// The calling thread's, until it exits; on the main queue the main thread's.
    static var current: ThreadLoop {
        if MainDrains().isCurrent { return main }
        if let known = PostingThread.current[own] { return known }
        let thread = Thread.current
        let made = ThreadLoop(of: thread)
        made.begin()
        let identity = ObjectIdentifier(thread)
        let old = known.withLock { $0.updateValue(made, forKey: identity) }
        withExtendedLifetime(old) {}
        // A thread's object may go before its exit gets here, and the next one at its address be known by then.
        PostingThread.current.atExit { known.withLock { if $0[identity] === made { $0[identity] = nil } } }
        return made
    }

    static func known(of thread: Thread) -> ThreadLoop? {
        if thread.isMainThread { return main }
        if let thread = thread as? RunLoopThread { return thread.loop }
        return known.withLock { loops in
            // Not covered: a thread at the address of one that has gone, which only the Objective-C runtime lets it have.
            guard let loop = loops[ObjectIdentifier(thread)], loop.reference?.take() === thread else { return nil }
            return loop
        }
    }

    // MARK: A thread's life

    /// Takes the calling thread's run loop, and sees to the thread's exit.
    func begin() {
        let thread = PostingThread.current
        thread[ThreadLoop.own] = self
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

    /// The thread's run loop, as long as there is one.
    var runLoop: CFRunLoop? { isMain && MainLoopExit.hasThreadEnded ? nil : state.withLock { $0.loop } }

    /// The mailbox of this thread and some modes, the same for all observers.
    func mailbox(for modes: Set<RunLoop.Mode>) -> Mailbox {
        mailboxes.object(of: modes) { Mailbox(scheduler: ThreadDrains(source: makeSource(modes)), whenUnused: $0) }
    }

    private func makeSource(_ modes: Set<RunLoop.Mode>) -> ThreadSource {
        let source = ThreadSource(thread: self, modes: modes)
        let isClosed = state.withLock { state in
            state.sources[source.info] = Unretained<ThreadSource>(source)
            return state.isClosed
        }
        if isClosed { source.close() } else { source.install() }
        return source
    }

    func forget(_ info: RunLoopInfo) { state.withLock { $0.sources[info] = nil } }
}
