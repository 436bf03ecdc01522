public import Foundation

/// A record of all events, written at once, for Perfetto and the browsers' tracing pages.
///
/// With `TETHER_TRACE=trace.json` in the environment a program writes a trace from the first center
/// to the program's end, without a change of code. The article [Watching a
/// program](doc:WatchingAProgram) lists the events.
///
/// Each event is in the file before the program continues, so a trace has all events before a
/// crash. An event takes some microseconds, and threads take turns. Without a trace, posts that
/// call handlers at once do nothing more.
///
/// *Thread safety*: any thread may call every function.
public enum Trace {
    /// The size of a trace.
    public struct Summary: Sendable, Equatable, CustomStringConvertible {
        /// The number of lines of events in the file: one for each event, or two.
        public let written: Int
        /// The number of lines that are missing, because the disk was full or the limit was
        /// reached.
        public let notWritten: Int
        /// Both numbers in words.
        public var description: String { "\(written) lines written, \(notWritten) not written" }
    }

    /// The reason why no trace was started, and the remedy.
    public struct Failure: Error, Equatable, LocalizedError, CustomStringConvertible {
        /// The sentence.
        public let description: String
        /// The sentence.
        public var errorDescription: String? { description }
    }

    /// Whether a trace is written.
    public static var isOn: Bool { Events.areTraced }

    /// Starts a trace of all later events on all centers. The trace replaces the file's content.
    ///
    /// Throws a ``Failure`` if a trace is running, if another process writes a trace to the file,
    /// or if the file cannot be written. A program that closes all descriptors calls ``stop()``
    /// before.
    /// - Parameters:
    ///   - file: The URL of the file; any other URL is a ``Failure``.
    ///   - limit: The largest size of the file in bytes, by default a quarter of a gigabyte, or
    ///     more than a million events; later events are counted, and not written.
    public static func start(to file: URL, limit: Int = 256 << 20) throws {
        func failure(_ reason: String) -> Failure {
            Failure(
                description:
                    "Trace.start(to: \(file.isFileURL ? file.path : "\(file)")): \(reason).")
        }
        guard file.isFileURL else {
            throw failure("it is not the URL of a file; use URL(filePath:)")
        }
        _ = endsInForkedProcesses
        Events.setTraceReceiver(TraceLog.write)
        try TraceLog.state.withLock { trace in
            if isOn { throw failure("a trace is being written already; call Trace.stop() first") }
            let writer = TraceWriter(path: file.path, limit: limit, at: trace.nextMoment())
            switch writer.failure {
            case 0: trace.writer = writer
            case EWOULDBLOCK:
                throw failure("another process writes a trace there; pass another file")
            case EFBIG:
                throw failure("the limit of \(limit) bytes is too small; pass a higher limit")
            case let code:
                throw failure(
                    "\(unsafe String(cString: strerror(code))); pass a file that can be written")
            }
            Events.subscribe(.trace)
        }
        CenterCore.hideCaches()
    }

    /// Ends the trace, and closes the file; `nil` without a trace. A program's end needs no call.
    @discardableResult
    public static func stop() -> Summary? {
        guard isOn else { return nil }
        return TraceLog.state.withLock { trace in
            Events.unsubscribe(.trace)
            return trace.writer.take().map {
                Summary(written: $0.written, notWritten: $0.notWritten)
            }
        }
    }

    /// A forked process must not write an event: the thread that holds the lock may not exist
    /// there.
    private static let endsInForkedProcesses: Void = {
        _ = pthread_atfork(nil, nil) { Events.unsubscribe(.trace) }
    }()

    /// Writes a trace of all events during a body, on all threads. See ``start(to:limit:)``.
    public static func record<Result>(to file: URL, _ body: () throws -> Result) throws -> Result {
        try start(to: file)
        defer { stop() }
        return try body()
    }

    /// Writes a trace of all events during an async body, on all threads. See ``start(to:limit:)``.
    /// Omit `isolation`.
    public static func record<Result>(
        to file: URL, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> sending Result
    ) async throws -> sending Result {
        try start(to: file)
        defer { stop() }
        return try await body()
    }
}
