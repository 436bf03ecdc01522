internal import COwnerLifetime
internal import CoreFoundation
public import Foundation

// Where `Thread` is `Sendable`, each subclass has to say so again; on Linux it is said not to be.
#if canImport(Darwin)
private typealias SendableAsThread = Sendable
#else
private typealias SendableAsThread = Any
#endif

// SAFETY: its properties never change, but for the name, which is guarded.

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
/// Posts from before it runs are delivered when it does. When it is cancelled, or deallocated without having been started,
/// pending deliveries are dropped and counted (D5).
public final class RunLoopThread: Thread, @unchecked SendableAsThread {
    let loop: ThreadLoop
    private let ownName: Locked<String?>
    private let body: (@Sendable () -> Void)?

    /// Makes a thread, not started yet.
    /// - Parameters:
    ///   - name: The thread's name.
    ///   - body: What to do on the thread before its run loop runs.
    public init(name: String, body: (@Sendable () -> Void)? = nil) {
        ownName = Locked(name)
        loop = ThreadLoop(description: "thread \(name)")
        self.body = body
        super.init()
    }

    deinit { loop.exit() }

    /// Makes the calling thread known as a target for `DeliveryTarget.thread(_:modes:)`.
    public static func prepareCurrentThread() { _ = ThreadLoop.current }

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
        loop.begin()
        body?()
        let (mode, source, observer) = (RunLoop.Mode.default.cfMode, makeIdleRunLoopSource(), outermostStopper())
        CFRunLoopAddSource(CFRunLoopGetCurrent(), source, mode)
        CFRunLoopAddObserver(CFRunLoopGetCurrent(), observer, mode)
        while !isCancelled { CFRunLoopRunInMode(mode, 1.0e10, false) }
        CFRunLoopObserverInvalidate(observer)
        CFRunLoopSourceInvalidate(source)
        loop.exit()
    }

    /// Keeps a cancelled thread's outermost run from sleeping. The block that stops the loop stops only the innermost run, which
    /// may be one that a handler began. Later runs in that handler still sleep.
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
    /// for those that its own handlers post, which are made at once (D5). A thread that was not started never runs.
    ///
    /// *Thread safety*: may be called on any thread. A handler that the thread runs calls it as `Thread.current.cancel()`:
    /// on Linux a thread is not `Sendable`, so a handler cannot capture its own.
    public override func cancel() {
        super.cancel()
        loop.close()
        loop.loop?.perform { CFRunLoopStop(CFRunLoopGetCurrent()) }
    }
}
