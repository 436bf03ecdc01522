internal import COwnerLifetime
internal import Dispatch
internal import Foundation

/// The file of a trace, a whole JSON array after each event, in Chrome's trace event format.
///
/// *Representation*: the file holds `[`, events with commas between them, and `]`. One `pwrite`
/// puts the next event and a new bracket over the old bracket. So a crash at any moment leaves a
/// file that every viewer opens, with all earlier events.
///
/// *Limits*: after the first event that could not be written no event is written. So the file never
/// has an end without a beginning. The standard error reports once that events are missing.
///
/// *Moments*: the moments of all events of a process differ and rise in writing order. So a moment
/// identifies the beginning of a slice. An end whose beginning is in a former trace is found and
/// left out.
///
/// *Threads*: the lock of `TraceLog.state` is held during the system call, so threads that write
/// events take turns. Cost: one or two system calls for each event.
final class TraceWriter {
    private let file: CInt
    private let path: String
    private let limit: Int
    private let process = getpid()
    private let processName = ProcessInfo.processInfo.processName
    /// The moment of the trace's beginning.
    private let firstMoment: UInt64
    /// The threads with a name in the file.
    private var named: Set<UInt64> = []
    /// The names of the open slices with rows of their own, by their beginnings.
    private var rows: [TraceEvent.Moment: String] = [:]
    /// The offset of the text behind the last event.
    private var size = 0
    /// The first error, of the C library: `EWOULDBLOCK` if another process writes a trace to the
    /// file.
    private(set) var failure: CInt = 0
    private(set) var written = 0
    private(set) var notWritten = 0

    private static let end = "\n]\n"

    /// Empties or creates a file, and begins an array, unless there is a `failure`.
    init(path: String, limit: Int, at moment: UInt64) {
        self.path = path
        self.limit = limit
        firstMoment = moment
        file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0 else {
            failure = errno
            return
        }
        let name = TraceEvent(.metadata, "process_name", ["name": processName.json])
        let text = "[\n" + lines(of: name, by: UInt64(process), at: moment)[0]
        // Before the file loses its content.
        guard fits(text) else {
            failure = EFBIG
            return
        }
        guard ftruncate(file, 0) == 0 else {
            failure = errno
            return
        }
        _ = append(text)
    }

    deinit { if file >= 0 { close(file) } }

    /// Writes an event, or counts its lines as not written. Leaves out an end whose beginning is
    /// not in the trace.
    func write(_ event: TraceEvent, at moment: UInt64) {
        let thread = tether_thread_number()
        var lines = lines(of: event, by: thread, at: moment)
        if lines.isEmpty { return }
        let count = lines.count
        if named.insert(thread).inserted {
            let event = TraceEvent(.metadata, "thread_name", ["name": threadName(thread).json])
            lines = self.lines(of: event, by: thread, at: moment) + lines
        }
        if failure == 0, append(lines.map { ",\n" + $0 }.joined()) {
            written += count
        } else {
            if notWritten == 0 { reportLoss() }
            notWritten += count
        }
    }

    /// The calling thread's name in the system, or "thread" and its number.
    ///
    /// `Thread.current.name` may be a subclass's code, and locks are held here (R6). On Linux a
    /// thread begins with the name of the thread that starts it, and the first one has the
    /// process's, cut to 15 bytes.
    private func threadName(_ thread: UInt64) -> String {
        if Thread.isMainThread { return "main" }
        let name = unsafe withUnsafeTemporaryAllocation(
            of: CChar.self, capacity: Int(TETHER_THREAD_NAME_SIZE)
        ) { bytes -> String in
            guard let start = bytes.baseAddress else { return "" }
            unsafe tether_copy_thread_name(start)
            return unsafe String(cString: start)
        }
        let isProcess = name.utf8.elementsEqual(processName.utf8.prefix(15))
        return name.isEmpty || isProcess ? "thread \(thread)" : name
    }

    private func fits(_ text: String) -> Bool {
        size + (text + TraceWriter.end).utf8.count <= limit
    }

    /// Returns whether the text was written behind the last event.
    private func append(_ text: String) -> Bool {
        if !fits(text) {
            failure = EFBIG
        } else if put(text + TraceWriter.end, at: size) {
            size += text.utf8.count
        } else {
            failure = errno
            // The old end has a disk block already.
            _ = put(TraceWriter.end, at: size)
            ftruncate(file, off_t(size + TraceWriter.end.utf8.count))
        }
        return failure == 0
    }

    private func put(_ text: String, at offset: Int) -> Bool {
        var text = text
        // A short write sets no error.
        errno = ENOSPC
        return text.withUTF8 {
            unsafe pwrite(file, $0.baseAddress, $0.count, off_t(offset)) == $0.count
        }
    }

    private func reportLoss() {
        var reason = unsafe String(cString: strerror(failure))
        if failure == EFBIG { reason = "it has reached its limit; start it with a higher one" }
        printError("Tether's trace \(path) lacks all events from now on: \(reason).")
    }

    /// The lines of an event, without the ends of slices whose beginnings are not in the trace.
    private func lines(of event: TraceEvent, by thread: UInt64, at moment: UInt64) -> [String] {
        let beginning = event.begun ?? moment
        let forms = event.phase.forms
        if forms.contains(.sliceBegin) { rows[moment] = event.name }
        let row = rows[beginning] ?? ""
        if forms.contains(.sliceEnd) { rows[beginning] = nil }
        var texts: [String] = []
        for (index, form) in forms.enumerated() {
            guard beginning >= firstMoment || form == .mark else { continue }
            var text = "{\"ph\":\"\(form.rawValue)\",\"pid\":\(process),\"tid\":\(thread)"
            text += ",\"ts\":\(TraceEvent.microseconds(moment))"
            switch form {
            case .end: break
            case .begin, .metadata: text += ",\"name\":\(event.name.json)"
            case .mark: text += ",\"name\":\(event.name.json),\"s\":\"t\""
            case .sliceBegin, .sliceEnd:
                text += ",\"name\":\(row.json),\"cat\":\"tether\",\"id\":\"\(beginning)\""
            case .arrowBegin, .arrowEnd:
                text += ",\"name\":\"delivery\",\"cat\":\"tether\",\"id\":\"\(beginning)\""
            }
            if index == 0, !event.arguments.isEmpty {
                let arguments = event.arguments.map { "\($0.key.json):\($0.value)" }
                text += ",\"args\":{\(arguments.joined(separator: ","))}"
            }
            texts.append(text + "}")
        }
        return texts
    }
}

extension TraceEvent.Phase {
    /// The form of a line of the file, with the letter of its phase in the format.
    fileprivate enum Form: Character {
        case begin = "B"
        case end = "E"
        case sliceBegin = "b"
        case sliceEnd = "e"
        case arrowBegin = "s"
        case arrowEnd = "f"
        case mark = "i"
        case metadata = "M"
    }

    /// The forms of an event's lines. The first line has the event's arguments.
    fileprivate var forms: [Form] {
        switch self {
        case .begin: [.begin]
        case .end: [.end]
        case .asyncBegin: [.sliceBegin]
        case .asyncEnd: [.sliceEnd]
        case .waitBegin: [.sliceBegin, .arrowBegin]
        case .waitEnd: [.sliceEnd, .arrowEnd]
        case .instant: [.mark]
        case .drop: [.mark, .sliceEnd]
        case .metadata: [.metadata]
        }
    }
}

/// The running trace, which takes the events from `Events`.
enum TraceLog {
    struct State {
        var writer: TraceWriter?
        /// The moment of the last event of all traces.
        private var last: TraceEvent.Moment = 0

        mutating func nextMoment() -> TraceEvent.Moment {
            last = max(DispatchTime.now().uptimeNanoseconds, last + 1)
            return last
        }
    }

    static let state = Locked(State())

    /// Writes an event, if a trace shows it. Returns its moment.
    @Sendable static func write(_ event: ObserverEvent) -> TraceEvent.Moment? {
        guard let event = TraceEvent(event) else { return nil }
        let moment = state.withLock { state in
            let moment = state.nextMoment()
            state.writer?.write(event, at: moment)
            return moment
        }
        event.emitSignpost(at: moment)
        return moment
    }
}
