import Dispatch
import Tether

/// Keeps tasks from returning until a test ends them, also after their cancellation.
final class Work: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    /// Returns after `end()`, also in a cancelled task.
    func wait() async {
        let stream = stream
        await Task { for await _ in stream {} }.value
    }

    /// Returns after `end()` or a cancellation.
    func waitUnlessCancelled() async { for await _ in stream {} }

    /// Blocks the thread until `end()`. Not for a thread of Swift's tasks.
    func block() {
        let ended = DispatchSemaphore(value: 0)
        Task {
            await waitUnlessCancelled()
            ended.signal()
        }
        ended.wait()
    }

    func end() { continuation.finish() }
}

/// A mistake in a task or a loop of an owner, which a leak check must name.
enum FaultyTask: CaseIterable, Sendable {
    case capturesItsOwner
    case ignoresItsCancellation
    case holdsItsOwnerBeforeItsLoop

    /// The owner of planted tasks and loops.
    final class Sidebar: Sendable {
        func touch() {}
    }

    /// Starts the task of a new owner. `begun` ends when the task has made its mistake, and until
    /// then the caller keeps the owner. The task returns after the end of `work`.
    func plant(_ work: Work, begun: Work) -> Sidebar {
        let sidebar = Sidebar()
        switch self {
        case .capturesItsOwner:
            Task(owner: sidebar, fileID: FaultyTask.file, line: FaultyTask.line) {
                begun.end()
                await work.wait()
                sidebar.touch()
            }
        case .ignoresItsCancellation:
            Task(owner: sidebar, fileID: FaultyTask.file, line: FaultyTask.line) {
                begun.end()
                await work.wait()
            }
        case .holdsItsOwnerBeforeItsLoop:
            Task(owner: sidebar, fileID: FaultyTask.file, line: FaultyTask.line) { [weak sidebar] in
                guard let sidebar else { return }
                begun.end()
                await work.wait()
                sidebar.touch()
            }
        }
        return sidebar
    }

    // The line of a real file, which a failure opens.
    static let file: StaticString = #fileID
    static let path: StaticString = #filePath
    static let line: UInt = #line

    private var site: String { "\(FaultyTask.file):\(FaultyTask.line)" }

    /// Whether a sentence of a leak check names the mistake with its line.
    func isNamed(by message: String) -> Bool {
        switch self {
        case .capturesItsOwner:
            return message
                == "Sidebar is still alive: the task started at \(site) captures it. Capture it weakly "
                + "there, and take it for one step at a time."
        case .ignoresItsCancellation:
            return message
                == "the task started at \(site) was cancelled when Sidebar ended, and still runs. "
                + "Ask Task.isCancelled in it, and end whatever it waits for."
        case .holdsItsOwnerBeforeItsLoop:
            let subject = "Sidebar, the owner of the task started at \(site), is still alive: "
            let place =
                "the task started at \(site), which still runs (a `guard let self` before its loop, or a "
                + "call of a method that loops?)"
            return message.hasPrefix(subject) && message.contains(place)
        }
    }
}
