internal import COwnerLifetime
public import Foundation

/// A record of what happens, as it happens, for Perfetto and the browsers' tracing pages.
///
/// ```swift
/// func trace() throws {
///     try Trace.start(writingTo: URL(filePath: "trace.json"))
///     center.post(name: .modelDidChange, object: model)
///     Trace.stop()
/// }
/// ```
///
/// With `TETHER_TRACE=trace.json` in its environment a program does this from its first line to its end, without a change
/// of its code. The article [Watching a program](doc:WatchingAProgram) says what there is to see.
///
/// A trace is in its file as soon as it happens, whatever becomes of the process ([L5](doc:Contract#L5)). While none is
/// written, a post that calls handlers where it is made pays nothing, any other a look at a number; while one is, each event
/// takes a part of a microsecond, and posts to one center take turns. On Apple platforms each event is a signpost as well,
/// but for the arrow from where a delivery begins to wait to the handler's call. A process that was forked off writes
/// nothing.
///
/// *Thread safety*: all of it may be called from any thread.
public enum Trace {
    /// What became of a trace.
    public struct Summary: Sendable, Equatable, CustomStringConvertible {
        /// How many events are in the file.
        public let written: Int
        /// How many are not, because the disk was full or the limit was reached; the file tells that, too.
        public let notWritten: Int

        /// Both numbers in words.
        public var description: String { "\(written) events, \(notWritten) not written" }
    }

    /// Why no trace was started, in a sentence that says what to do about it.
    public struct Failure: Error, Equatable, LocalizedError, CustomStringConvertible {
        /// The sentence.
        public let description: String

        /// The sentence.
        public var errorDescription: String? { description }
    }

    /// Whether a trace is written.
    public static var isOn: Bool { TraceEvent.isOn }

    /// Starts a trace, of everything that happens on all centers from now on, in place of what is in the file.
    ///
    /// The file may take `limit` bytes, a quarter of a gigabyte if that is left out, which is more than a million events;
    /// what happens after that is counted, and not written. Throws a ``Failure`` if there is a trace already, if another
    /// process writes one to the file, or if the file cannot be written.
    /// - Parameters:
    ///   - file: The URL of the file. Any other URL is a ``Failure``. The file is mapped into memory: another program may read
    ///     or remove it meanwhile, but whoever shortens it ends this process (`SIGBUS`).
    ///   - limit: How many bytes the file may take, 65,536 or more. Fewer are a ``Failure``.
    public static func start(writingTo file: URL, limit: Int = 256 << 20) throws {
        guard file.isFileURL else {
            throw Failure(
                description: "Trace.start(writingTo: \(file)): it is not the URL of a file; make one by URL(filePath:)."
            )
        }
        let error = unsafe file.withUnsafeFileSystemRepresentation { path in
            // Not covered: no path, which every URL of a file has.
            unsafe path.map { unsafe tether_trace_start($0, max(0, limit)) } ?? ENOENT
        }
        guard error == 0 else {
            let reason =
                switch error {
                case EBUSY: "a trace is being written already; call Trace.stop() first"
                case EWOULDBLOCK:
                    "another process, or copy of Tether, writes a trace there; give each a file of its own"
                case EFBIG: "it may take \(limit) bytes, or less by the system's limit; let it take 65536 or more"
                case ENOMEM: "there is no room for \(limit) bytes in the address space; pass a lower limit"
                default: "\(unsafe String(cString: strerror(error))); pass a file on a disk that can be written"
                }
            throw Failure(description: "Trace.start(writingTo: \(file.path)): \(reason).")
        }
        CenterCore.followTrace()
    }

    /// Ends the trace, and completes its file; `nil` if there is none.
    ///
    /// What is not in the file is told on the standard error, too. A program's end does this by itself.
    @discardableResult
    public static func stop() -> Summary? {
        var result = tether_trace_result()
        guard unsafe tether_trace_stop(&result) else { return nil }
        return Summary(written: Int(result.written), notWritten: Int(result.not_written))
    }

    /// Writes a trace of what happens while a body runs, on all threads.
    /// - Parameters:
    ///   - file: The URL of the file, as in ``start(writingTo:limit:)``.
    ///   - body: What to run. The trace ends when it returns or throws.
    public static func recording<Result>(to file: URL, _ body: () throws -> Result) throws -> Result {
        try start(writingTo: file)
        defer { stop() }
        return try body()
    }

    /// Writes a trace of what happens while an async body runs, on all threads.
    /// - Parameters:
    ///   - file: The URL of the file, as in ``start(writingTo:limit:)``.
    ///   - isolation: The actor of the caller, on which the body runs; leave it out.
    ///   - body: What to run. The trace ends when it returns or throws.
    public static func recording<Result>(
        to file: URL, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> sending Result
    ) async throws -> sending Result {
        try start(writingTo: file)
        defer { stop() }
        return try await body()
    }
}
