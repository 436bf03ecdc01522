import Testing

@testable import Tether

/// Lets an async waiter through for each call of `open()`, also the waiter of a cancelled task. A
/// wait that is too long is a failure.
struct AsyncGate: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func open() { continuation.yield() }

    func pass(sourceLocation: SourceLocation = #_sourceLocation) async {
        let stream = stream
        let isOpen = await inTime { for await _ in stream { return } }
        if !isOpen { Issue.record("A gate stayed closed.", sourceLocation: sourceLocation) }
    }
}

/// Whether an async body ends in time. A late body is cancelled, and not awaited. A cancellation of
/// the caller has no effect.
func inTime(_ body: @escaping @Sendable () async -> Void) async -> Bool {
    let (ends, end) = AsyncStream.makeStream(of: Bool.self)
    let tasks = [
        Task {
            await body()
            end.yield(true)
        },
        Task {
            try? await Task.sleep(for: .seconds(longestWait))
            end.yield(false)
        },
    ]
    defer { for task in tasks { task.cancel() } }
    // In a task of its own, because a cancelled task would not wait.
    return await Task { await ends.first { _ in true } ?? false }.value
}

extension Log {
    /// Whether the log has a number of entries in time.
    func hasLogged(_ count: Int) async -> Bool {
        await inTime {
            while self.entries.count < count, !Task.isCancelled { await Task.yield() }
        }
    }
}

/// Whether someone comes in time to wait for a registration's handlers.
func isWaitedFor(_ registration: RegistrationAddress) async -> Bool {
    await inTime {
        while !HandlerWait.isAwaited(registration), !Task.isCancelled { await Task.yield() }
    }
}
