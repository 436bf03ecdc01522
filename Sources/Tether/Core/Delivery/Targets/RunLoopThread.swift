internal import COwnerLifetime
internal import CoreFoundation
public import Foundation

// Where `Thread` is `Sendable`, each subclass has to say so again; on Linux it is said not to be.
#if canImport(Darwin)
private typealias SendableAsThread = Sendable
#else
private typealias SendableAsThread = Any
#endif

// SAFETY: its properties never change; a run loop source may be signalled from any thread.

/// A thread that runs its run loop until it is cancelled, and can be a target before it is started.
///
/// ```swift
/// let worker = RunLoopThread(name: "worker")
/// // What is posted is held until the thread runs.
/// center.observe(
///     .modelDidChange, owner: catalog, on: .thread(worker)
/// ) { catalog, note in … }
/// worker.start()
/// worker.cancel()
/// ```
///
/// Posts from before it runs are delivered when it does. When it is cancelled, or goes without having been started,
/// what is pending is dropped and counted (D5).
public final class RunLoopThread: Thread, @unchecked SendableAsThread {
    let loop: ThreadLoop
    private let ownName: Locked<String?>
    private let body: (@Sendable () -> Void)?
    private let stopper: CFRunLoopSource

    /// Makes a thread, not started yet.
    /// - Parameters:
    ///   - name: The thread's name.
    ///   - body: What to do on the thread before its run loop runs.
    public init(name: String, body: (@Sendable () -> Void)? = nil) {
        ownName = Locked(name)
        loop = ThreadLoop(description: "thread \(name)")
        self.body = body
        // The source keeps the loop from ending for want of anything to wait for, and stops it.
        // SAFETY: what the context has is never read through.
        var context = unsafe CFRunLoopSourceContext()
        unsafe context.info = RunLoopInfo().pointer
        unsafe context.perform = { _ in CFRunLoopStop(CFRunLoopGetCurrent()) }
        stopper = unsafe CFRunLoopSourceCreate(nil, 0, &context)
        super.init()
    }

    deinit { loop.exit() }

    /// The thread's name.
    public override var name: String? {
        get { ownName.withLock(\.self) }
        set {
            ownName.withLock { $0 = newValue }
            super.name = newValue
        }
    }

    /// Runs the thread's run loop in the default mode until the thread is cancelled; not to be called.
    public override func main() {
        // On Linux a `Thread` does not name the system's thread when it has just started.
        unsafe tether_name_thread(name ?? "")
        CFRunLoopAddSource(CFRunLoopGetCurrent(), stopper, RunLoop.Mode.default.cfMode)
        loop.begin()
        body?()
        let observer = outermostStopper()
        CFRunLoopAddObserver(CFRunLoopGetCurrent(), observer, RunLoop.Mode.default.cfMode)
        while !isCancelled { CFRunLoopRunInMode(RunLoop.Mode.default.cfMode, 1.0e10, false) }
        CFRunLoopObserverInvalidate(observer)
        CFRunLoopSourceInvalidate(stopper)
        loop.exit()
    }

    /// Keeps a cancelled thread's outermost run from sleeping, because the source that stops the loop stops only the run
    /// that is innermost: one that a handler began, perhaps. Runs in handlers still sleep, lest they spin.
    private func outermostStopper() -> CFRunLoopObserver? {
        let moments: CFRunLoopActivity = [.entry, .beforeWaiting, .exit]
        var depth = 0
        return CFRunLoopObserverCreateWithHandler(nil, moments.rawValue, true, 0) { [unowned self] _, moment in
            switch moment {
            case .entry: depth += 1
            case .exit: depth -= 1
            default: if depth == 1, isCancelled { CFRunLoopStop(CFRunLoopGetCurrent()) }
            }
        }
    }

    /// Ends the thread when the handler that it runs has returned. Pending and later deliveries are dropped and counted, but
    /// for those that its own handlers post, which are made at once (D5). A thread that was not started
    /// never runs.
    ///
    /// *Thread safety*: may be called on any thread, and in a handler that the thread runs.
    public override func cancel() {
        super.cancel()
        loop.close()
        CFRunLoopSourceSignal(stopper)
        loop.wake()
    }
}
