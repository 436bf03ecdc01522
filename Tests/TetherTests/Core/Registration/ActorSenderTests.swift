import Dispatch
import Foundation
import Testing
import Tether

/// Actors as senders: their observers end on any thread that releases the last reference.
@Suite struct ActorSenderTests {
    private let center = ObserverCenter()

    @available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
    enum Kind: CaseIterable {
        case plain, isolatedDeinit, ownExecutor, ownExecutorIsolatedDeinit

        func make(_ center: ObserverCenter) -> any SenderActor {
            switch self {
            case .plain: PlainSender()
            case .isolatedDeinit: IsolatedSender(center)
            case .ownExecutor: QueueSender()
            case .ownExecutorIsolatedDeinit: IsolatedQueueSender(center)
            }
        }

        /// Whether the `deinit` posts.
        var posts: Bool { self == .isolatedDeinit || self == .ownExecutorIsolatedDeinit }
    }

    /// Observes a sender. The end of the handler's capture opens a gate.
    private func observe(_ sender: any SenderActor, _ posts: Log<String>, _ gone: Gate)
        -> NotificationObserver
    {
        let capture = Ending { gone.open() }
        return center.observe(.sample, from: sender) { _ in
            capture.touch()
            posts.add("last word")
        }
    }

    @available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
    @Test(arguments: Kind.allCases)
    func `M5 R8 observers of an actor end when its own job releases the last reference`(
        kind: Kind
    ) async {
        let (posts, gone, mayEnd, hasEnded) = (Log<String>(), Gate(), AsyncGate(), AsyncGate())
        let token: NotificationObserver
        do {
            let sender = kind.make(center)
            token = observe(sender, posts, gone)
            await sender.work(until: mayEnd, then: hasEnded)
        }
        // From here on the job alone holds the actor.
        mayEnd.open()
        await hasEnded.pass()
        await passes(gone)
        #expect(!token.isActive && center.isEmpty)
        // The last posts of a deinit that was postponed may find no observer.
        #expect(posts.entries.count <= (kind.posts ? 1 : 0))
    }

    @available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
    @Test(arguments: Kind.allCases)
    func `M5 R8 observers of an actor end when another thread releases the last reference`(
        kind: Kind
    ) async {
        let (posts, gone) = (Log<String>(), Gate())
        let sender = Box<(any SenderActor)?>(kind.make(center))
        let token = observe(sender.value!, posts, gone)
        sender.drop()
        await passes(gone)
        // The end may still be under way on the thread that released the captures.
        let limit = ContinuousClock.now + .seconds(longestWait)
        while !center.isEmpty, ContinuousClock.now < limit { await Task.yield() }
        #expect(!token.isActive && center.isEmpty)
        // The last posts of a deinit that was postponed may find no observer.
        #expect(posts.entries.count <= (kind.posts ? 1 : 0))
    }

    /// Waits for a gate without blocking a thread of actors.
    private func passes(_ gate: Gate) async {
        await withCheckedContinuation { continuation in
            Thread {
                gate.pass()
                continuation.resume()
            }.start()
        }
    }
}

/// An actor that only its own job retains.
protocol SenderActor: AnyObject, Sendable {
    func work(until mayEnd: AsyncGate, then hasEnded: AsyncGate) async
}

extension SenderActor where Self: Actor {
    func work(until mayEnd: AsyncGate, then hasEnded: AsyncGate) async {
        Task { await Self.hold(self, until: mayEnd, then: hasEnded) }
    }

    private static func hold(
        _ actor: isolated Self, until mayEnd: AsyncGate, then hasEnded: AsyncGate
    ) async {
        await mayEnd.pass()
        actor.preconditionIsolated()
        hasEnded.open()
    }
}

private actor PlainSender: SenderActor {}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
private actor IsolatedSender: SenderActor {
    private let center: ObserverCenter

    init(_ center: ObserverCenter) {
        self.center = center
    }

    isolated deinit { center.post(name: .sample, object: self) }
}

/// Runs an actor's jobs on a queue.
private final class QueueExecutor: SerialExecutor {
    static let shared = QueueExecutor()
    private let queue = DispatchQueue(label: "QueueExecutor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

private actor QueueSender: SenderActor {
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe QueueExecutor.shared.asUnownedSerialExecutor()
    }
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
private actor IsolatedQueueSender: SenderActor {
    private let center: ObserverCenter

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe QueueExecutor.shared.asUnownedSerialExecutor()
    }

    init(_ center: ObserverCenter) {
        self.center = center
    }

    isolated deinit { center.post(name: .sample, object: self) }
}
