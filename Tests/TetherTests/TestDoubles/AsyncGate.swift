import Testing

@testable import Tether

/// Lets one async waiter through for each time that it is opened, also one whose task is cancelled;
/// a wait that is too long is a failure.
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

/// Whether something async ends in time. If not it is cancelled, and not waited for. The caller's
/// cancellation changes nothing.
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
    // In a task of its own, because a cancelled one would not wait.
    return await Task { await ends.first { _ in true } ?? false }.value
}

/// Whether someone comes in time to wait for a registration's handlers.
func isWaitedFor(_ registration: UInt) async -> Bool {
    await inTime {
        while !HandlerWait.isAwaited(registration), !Task.isCancelled { await Task.yield() }
    }
}
