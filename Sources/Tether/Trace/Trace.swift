public import Foundation

/// A record of everything that happens, as it happens, for Perfetto and the browsers' tracing pages.
///
/// ```swift
/// func trace() throws {
///     try Trace.start(to: URL(filePath: "trace.json"))
///     center.post(name: .modelDidChange, object: model)
///     Trace.stop()
/// }
/// ```
///
/// With `TETHER_TRACE=trace.json` in its environment a program does this from its first center to its end, without a change
/// of its code. The article [Watching a program](doc:WatchingAProgram) lists what is in a trace.
///
/// Each event is in the file before the program continues (L5), so a trace has all that happened before a
/// crash. While there is no trace, a post that calls its handlers at once does nothing for it, and any other post loads a
/// flag. While there is one, each event takes some microseconds, and threads take turns. On Apple platforms each event but
/// the arrows is a signpost as well.
///
/// A forked process writes nothing. It can start a trace of its own, unless another thread was writing an event when the
/// process was forked: then that call never returns.
///
/// *Thread safety*: all of it may be called from any thread.
public enum Trace {
    /// The size of a trace.
    public struct Summary: Sendable, Equatable, CustomStringConvertible {
        /// The number of events in the file.
        public let written: Int
        /// The number of events that are missing, because the disk was full or the limit was reached.
        public let notWritten: Int

        /// Both numbers in words.
        public var description: String { "\(written) events, \(notWritten) not written" }
    }

    /// The reason why no trace was started, and the remedy.
    public struct Failure: Error, Equatable, LocalizedError, CustomStringConvertible {
        /// The sentence.
        public let description: String

        /// The sentence.
        public var errorDescription: String? { description }
    }

    private struct State {
        var writer: TraceWriter?
        /// The moment of the last event of any trace.
        private var last: UInt64 = 0

        mutating func nextMoment() -> UInt64 {
            last = max(DispatchTime.now().uptimeNanoseconds, last + 1)
            return last
        }
    }

    /// Under this lock no other lock is taken.
    private static let state = Locked(State())

    /// Whether a trace is written.
    public static var isOn: Bool { Events.areTraced }

    /// Starts a trace of everything that happens on all centers from now on. It replaces the file's content.
    ///
    /// Throws a ``Failure`` if there is a trace already, if another process writes one to the file, or if the file cannot be
    /// written.
    /// - Parameters:
    ///   - file: The URL of the file. Any other URL is a ``Failure``.
    ///   - limit: The largest size of the file in bytes; a quarter of a gigabyte, or more than a million events, if left out.
    ///     Later events are counted, and not written.
    public static func start(to file: URL, limit: Int = 256 << 20) throws {
        let call = "Trace.start(to: \(file.isFileURL ? file.path : "\(file)"))"
        guard file.isFileURL else {
            throw Failure(description: "\(call): it is not the URL of a file; use URL(filePath:).")
        }
        do {
            try start(path: file.path, limit: limit)
        } catch {
            let reason =
                switch error.code {
                case EBUSY: "a trace is being written already; call Trace.stop() first"
                case EWOULDBLOCK: "another process writes a trace there; pass another file"
                case EFBIG: "the limit of \(limit) bytes is too small; pass a higher limit"
                default: "\(unsafe String(cString: strerror(error.code))); pass a file that can be written"
                }
            throw Failure(description: "\(call): \(reason).")
        }
    }

    private static func start(path: String, limit: Int) throws(TraceWriter.Error) {
        _ = endsInForkedProcesses
        try state.withLock { state throws(TraceWriter.Error) in
            if isOn { throw TraceWriter.Error(code: EBUSY) }
            state.writer = try TraceWriter(path: path, limit: limit, at: state.nextMoment())
            Events.setTracer { event in
                guard let event = TraceEvent(event) else { return 0 }
                let moment = Trace.state.withLock { state in
                    let moment = state.nextMoment()
                    state.writer?.write(event, at: moment)
                    return moment
                }
                #if canImport(os)
                event.signpost(at: moment)
                #endif
                return moment
            }
        }
        CenterCore.followTrace()
    }

    /// Ends the trace, and closes its file; `nil` if there is none. A program's end needs no call.
    @discardableResult
    public static func stop() -> Summary? {
        guard isOn else { return nil }
        return state.withLock { state in
            Events.setTracer(nil)
            return state.writer.take().map { Summary(written: $0.written, notWritten: $0.notWritten) }
        }
    }

    /// A forked process has none of the threads that could release the lock, so that it must not write an event.
    private static let endsInForkedProcesses: Void = {
        _ = pthread_atfork(nil, nil) { Events.setTracer(nil) }
    }()

    // MARK: In a scope

    /// Writes a trace of everything that happens while a body runs, on all threads.
    /// - Parameters:
    ///   - file: The URL of the file, as in ``start(to:limit:)``.
    ///   - body: The code to trace. The trace ends when it returns or throws.
    public static func record<Result>(to file: URL, _ body: () throws -> Result) throws -> Result {
        try start(to: file)
        defer { stop() }
        return try body()
    }

    /// Writes a trace of everything that happens while an async body runs, on all threads.
    /// - Parameters:
    ///   - file: The URL of the file, as in ``start(to:limit:)``.
    ///   - isolation: The actor of the caller, on which the body runs; leave it out.
    ///   - body: The code to trace. The trace ends when it returns or throws.
    public static func record<Result>(
        to file: URL, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> sending Result
    ) async throws -> sending Result {
        try start(to: file)
        defer { stop() }
        return try await body()
    }
}
