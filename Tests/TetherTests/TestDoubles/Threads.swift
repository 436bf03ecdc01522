import Dispatch
import Foundation
import Synchronization
import Testing

/// How long a test waits for another thread, in seconds: less than `TETHER_TEST_LIMIT`, so that the
/// wait fails the test.
let longestWait: Double = {
    let testLimit =
        ProcessInfo.processInfo.environment["TETHER_TEST_LIMIT"].flatMap(Double.init) ?? 0
    return testLimit > 0 ? min(300, testLimit * 3 / 4) : 300
}()

/// Runs each body on a thread of its own and waits for all. False, and a failure, if a body does
/// not return.
@discardableResult
func onThreads(
    _ bodies: [@Sendable () -> Void], sourceLocation: SourceLocation = #_sourceLocation
) -> Bool {
    expectBlockingIsAllowed(sourceLocation: sourceLocation)
    let done = bodies.map { body in
        let done = DispatchSemaphore(value: 0)
        Thread {
            body()
            done.signal()
        }.start()
        return done
    }
    let deadline = DispatchTime.now() + longestWait
    let haveReturned = done.map { $0.wait(timeout: deadline) == .success }.allSatisfy(\.self)
    if !haveReturned { Issue.record("A thread did not return.", sourceLocation: sourceLocation) }
    return haveReturned
}

@discardableResult
func onThreads(
    _ bodies: (@Sendable () -> Void)..., sourceLocation: SourceLocation = #_sourceLocation
) -> Bool {
    onThreads(bodies, sourceLocation: sourceLocation)
}

/// Runs bodies at the same time, each on its thread, and returns when all have returned.
func allAtOnce(
    sourceLocation: SourceLocation = #_sourceLocation, _ bodies: (@Sendable () -> Void)...
) {
    let waiting = Atomic<Int>(bodies.count)
    let end = Gate()
    for body in bodies {
        Thread.detachNewThread {
            // All begin together, so even short bodies meet.
            waiting.wrappingSubtract(1, ordering: .acquiringAndReleasing)
            while waiting.load(ordering: .acquiring) > 0 { sched_yield() }
            body()
            end.open()
        }
    }
    for _ in bodies { end.pass(sourceLocation: sourceLocation) }
}

/// A thread that runs a body, and can be joined.
final class JoinableThread: Sendable {
    private let finished = Latch()

    init(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread { [finished] in
            body()
            finished.open()
        }
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }

    /// Waits until the body has returned.
    func join(sourceLocation: SourceLocation = #_sourceLocation) {
        finished.pass(sourceLocation: sourceLocation)
    }

    /// Runs a body on several threads at a time, and waits for all.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let threads = (0..<count).map { number in JoinableThread { body(number) } }
        for thread in threads { thread.join() }
    }
}

/// A thread of the system, joined at any kind of end.
///
/// SAFETY: `thread` is written before the initialiser returns, and not used by the thread itself;
/// `join` is called once.
@safe final class SystemThread: @unchecked Sendable {
    /// A `pthread_t`. As an out parameter it is optional on some systems.
    private let thread = UnsafeMutableRawPointer.allocate(
        byteCount: MemoryLayout<pthread_t>.size, alignment: MemoryLayout<pthread_t>.alignment)
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
        // SAFETY: the thread consumes the retain of its argument.
        let result = unsafe pthread_create(
            identity(), nil,
            {
                let context: UnsafeMutableRawPointer? = unsafe $0
                unsafe Unmanaged<SystemThread>.fromOpaque(context!).takeRetainedValue().body()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(result == 0)
    }

    private func identity<Identity>() -> UnsafeMutablePointer<Identity> {
        unsafe thread.assumingMemoryBound(to: Identity.self)
    }

    func join() {
        _ = unsafe pthread_join(identity().pointee, nil)
        unsafe thread.deallocate()
    }
}
