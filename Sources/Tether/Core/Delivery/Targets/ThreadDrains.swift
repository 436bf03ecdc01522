public import Foundation

extension DeliveryTarget {
    /// The calling thread, by its run loop, in the common modes.
    ///
    /// A post from another thread wakes the run loop; one from the thread itself is delivered inline, unless
    /// something is already pending there. Deliveries are held while the loop is not running; those that are pending when
    /// the thread exits, and later ones, are dropped and counted. Where the main queue runs without a run loop, as in a
    /// program whose `main` is async, it delivers what is for the main thread ([D5](doc:Contract#D5)).
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

/// Drains in the run loop of a thread.
struct ThreadDrains: DrainScheduler {
    let source: ThreadSource

    func schedule(_ drain: Drain) { source.schedule(drain) }

    var mayBeCurrent: Bool { true }
    var isCurrent: Bool { source.thread.isCurrent || source.isServedByMainQueue && MainDrains().isCurrent }
}
