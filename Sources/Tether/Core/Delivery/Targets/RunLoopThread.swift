internal import COwnerLifetime
internal import CoreFoundation
public import Foundation

// If `Thread` is `Sendable`, each subclass has to say so again. On Linux `Thread` is marked as not
// `Sendable`.
#if canImport(Darwin)
private typealias SendableAsThread = Sendable
#else
private typealias SendableAsThread = Any
#endif

// SAFETY: the properties never change.

/// A thread that runs its run loop until cancelled, and can be a target before the start.
///
/// ```swift
/// let worker = RunLoopThread(name: "worker")
/// // What is posted is held until the thread runs.
/// let token = center.observe(.modelDidChange, on: .thread(worker)) { _ in … }
/// worker.start()
/// worker.cancel()
/// ```
///
/// Earlier posts are delivered when the thread runs. When the thread is cancelled, or deallocated
/// without a start, pending deliveries are dropped and counted. On Linux, Foundation knows only the
/// calling thread's `name`.
public final class RunLoopThread: Thread, @unchecked SendableAsThread {
    let loop: ThreadLoop
    private let ownName: String

    /// Makes a thread with a name, not started yet.
    public init(name: String) {
        ownName = name
        loop = ThreadLoop(description: "thread \(name)")
        super.init()
        #if canImport(Darwin)
        self.name = name
        #endif
    }

    deinit { loop.exit() }

    /// Makes the calling thread known as a target for
    /// `DeliveryTarget.thread(_:modes:fileID:line:)`.
    public static func prepareCurrentThread() { _ = ThreadLoop.current }

    /// Runs the run loop in the default mode until the thread is cancelled; not to be called.
    public override func main() {
        // On Linux a `Thread` that has just started does not name the system's thread.
        unsafe tether_name_thread(ownName)
        loop.begin()
        // The block that stops the loop ends only the innermost run, perhaps one inside a handler.
        // Each outer run is stopped once, before it sleeps; `stoppedDepth` is the least depth that
        // was stopped. A later run of such a depth is a handler's own, and sleeps. Otherwise a
        // handler that calls `RunLoop.run(until:)`, which begins one run after the other, would
        // spin until the date.
        var depth = 0
        var stoppedDepth = Int.max
        let activities = RunLoopHold.entry | RunLoopHold.beforeWaiting | RunLoopHold.exit
        let hold = RunLoopHold(CFRunLoopGetCurrent(), in: [.default], observing: activities) {
            [unowned self] activity in
            switch activity {
            case RunLoopHold.entry: depth += 1
            case RunLoopHold.exit: depth -= 1
            default:
                guard isCancelled, depth < stoppedDepth else { return }
                stoppedDepth = depth
                CFRunLoopStop(CFRunLoopGetCurrent())
            }
        }
        while !isCancelled { CFRunLoopRunInMode(RunLoop.Mode.default.cfMode, 1.0e10, false) }
        hold.invalidate()
        loop.exit()
    }

    /// Ends the thread when the running handler has returned. Pending and later deliveries are
    /// dropped and counted. Exception: posts of the thread's own handlers are delivered at once. An
    /// unstarted thread never runs.
    ///
    /// *Thread safety*: any thread. A handler on the thread calls `Thread.current.cancel()`,
    /// because on Linux a handler cannot capture a thread.
    public override func cancel() {
        super.cancel()
        loop.stop()
    }
}
