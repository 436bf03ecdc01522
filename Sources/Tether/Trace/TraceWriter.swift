internal import COwnerLifetime
internal import Foundation

/// The file of a trace, a whole JSON array after each event, in Chrome's trace event format.
///
/// *Representation*: the file holds `[`, events with commas between them, and `]`. One `pwrite` puts the next event and
/// a new bracket over the old bracket. So a crash at any moment leaves a file that every viewer opens, with all earlier
/// events.
///
/// *Limits*: after the first event that could not be written no event is written. So the file never has an end without
/// a beginning. The first event of the file counts the missing events. The standard error reports once that events are
/// missing.
///
/// *Moments*: the moments of all events of a process differ and rise in writing order. So a moment identifies the
/// beginning of a slice. An end whose beginning is in a former trace is found and left out.
///
/// *Threads*: `Trace` protects the writer by its lock, and holds the lock during the system call. So threads that write
/// events take turns. Cost: two or three system calls for each event.
final class TraceWriter {
    private let file: CInt
    /// The device and the node of the file. A program that closes all descriptors may open another file under the number.
    private let identity: [UInt64]
    private let path: String
    private let limit: Int
    private let process = getpid()
    private let begun: UInt64
    /// The threads with a name in the file.
    private var named: Set<UInt64> = []
    /// The offset of the text behind the last event.
    private var size = 0
    /// The offset of the number of missing events.
    private var countOffset = 0
    private var failure: CInt = 0
    private(set) var written = 0
    private(set) var notWritten = 0

    private static let end = "\n]\n"

    struct Error: Swift.Error {
        let code: CInt
    }

    /// Empties or creates a file, and begins an array. Throws an error of the C library: `EWOULDBLOCK` if another
    /// process writes a trace there.
    init(path: String, limit: Int, at moment: UInt64) throws(Error) {
        (self.path, self.limit, begun) = (path, limit, moment)
        file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        let error = errno
        identity = TraceWriter.identity(of: file)
        guard file >= 0 else { throw Error(code: error) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0, ftruncate(file, 0) == 0 else { throw Error(code: errno) }
        let name = TraceEvent(.metadata, "process_name", ["name": ProcessInfo.processInfo.processName.json])
        let count = TraceEvent(.instant, "trace begins", ["not written": TraceWriter.padded(0)])
        let lines = [name, count].map { line(of: $0, by: UInt64(process), at: moment) }
        let head = "[\n" + lines.joined(separator: ",\n")
        guard append(head) else { throw Error(code: failure) }
        countOffset = size - "}}".utf8.count - TraceWriter.padded(0).utf8.count
    }

    deinit {
        guard file >= 0, isOwn else { return }
        // A forked process shares the file's lock.
        if getpid() == process { flock(file, LOCK_UN) }
        close(file)
    }

    /// Writes an event, or counts the event as not written. Leaves out an end whose beginning is not in the trace.
    func write(_ event: TraceEvent, at moment: UInt64) {
        if event.phase.isEnd, event.begun < begun { return }
        let thread = tether_thread_number()
        var text = ",\n" + line(of: event, by: thread, at: moment)
        if named.insert(thread).inserted, let name = TraceWriter.threadName {
            let event = TraceEvent(.metadata, "thread_name", ["name": name.json])
            text = ",\n" + line(of: event, by: thread, at: moment) + text
        }
        if failure == 0, append(text) { written += 1 } else { lose() }
    }

    /// Returns whether the text was written behind the last event.
    private func append(_ text: String) -> Bool {
        if size + (text + TraceWriter.end).utf8.count > limit {
            failure = EFBIG
        } else if !isOwn {
            failure = EBADF
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
        errno = ENOSPC
        return text.withUTF8 { unsafe pwrite(file, $0.baseAddress, $0.count, off_t(offset)) == $0.count }
    }

    private func lose() {
        notWritten += 1
        if failure != EBADF { _ = put(TraceWriter.padded(notWritten), at: countOffset) }
        guard notWritten == 1 else { return }
        let reason =
            switch failure {
            case EFBIG: "it has reached its limit; start it with a higher one"
            case EBADF: "the program has closed its file; start it after that"
            default: unsafe String(cString: strerror(failure))
            }
        ProgramEnvironment.print("Tether's trace \(path) lacks all events from now on: \(reason).")
    }

    /// A number of constant width.
    private static func padded(_ number: Int) -> String {
        String(repeating: " ", count: 20 - String(number).count) + String(number)
    }

    private var isOwn: Bool { TraceWriter.identity(of: file) == identity }

    private static func identity(of file: CInt) -> [UInt64] {
        var status = stat()
        return unsafe fstat(file, &status) == 0 ? [.init(truncatingIfNeeded: status.st_dev), .init(status.st_ino)] : []
    }

    // MARK: Text

    private func line(of event: TraceEvent, by thread: UInt64, at moment: UInt64) -> String {
        var text = "{\"ph\":\"\(event.phase.rawValue)\",\"pid\":\(process),\"tid\":\(thread)"
        text += ",\"ts\":\(TraceEvent.microseconds(moment))"
        if event.phase != .end { text += ",\"name\":\(event.name.json)" }
        switch event.phase {
        case .instant: text += ",\"s\":\"t\""
        case .asyncBegin, .flowStart: text += ",\"cat\":\"tether\",\"id\":\"\(moment)\""
        case .asyncEnd, .flowFinish: text += ",\"cat\":\"tether\",\"id\":\"\(event.begun)\",\"bp\":\"e\""
        case .begin, .end, .metadata: break
        }
        if !event.arguments.isEmpty {
            let arguments = event.arguments.map { "\($0.key.json):\($0.value)" }
            text += ",\"args\":{\(arguments.joined(separator: ","))}"
        }
        return text + "}"
    }

    private static var threadName: String? {
        if Thread.isMainThread { return "main" }
        var name = [CChar](repeating: 0, count: 64)
        unsafe tether_thread_name(&name)
        let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text.isEmpty ? nil : text
    }
}

extension String {
    /// The text as a JSON string.
    fileprivate var json: String {
        var escaped = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\\(scalar)"
            case "\0"..<" ": escaped += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped + "\""
    }
}

// MARK: Events

/// An event in Chrome's trace event format.
struct TraceEvent {
    /// The phases of the format, by letter.
    enum Phase: String {
        case begin = "B"
        case end = "E"
        /// The beginning of a slice that may change threads.
        case asyncBegin = "b"
        case asyncEnd = "e"
        case instant = "i"
        case flowStart = "s"
        case flowFinish = "f"
        case metadata = "M"

        var isEnd: Bool { self == .end || self == .asyncEnd || self == .flowFinish }
    }

    let phase: Phase
    var name = ""
    /// The details, as JSON.
    var arguments: KeyValuePairs<String, String> = [:]
    /// The moment of the beginning that belongs to an end, or 0.
    var begun: Event.Moment = 0

    init(_ phase: Phase, _ name: String, _ arguments: KeyValuePairs<String, String> = [:]) {
        (self.phase, self.name, self.arguments) = (phase, name, arguments)
    }

    private init(_ phase: Phase, _ name: String = "", begun: Event.Moment) {
        (self.phase, self.name, self.begun) = (phase, name, begun)
    }

    /// A time in nanoseconds, written in microseconds.
    static func microseconds(_ time: UInt64) -> String { "\(time / 1000)." + String(time % 1000 + 1000).dropFirst() }

    /// An event for a trace; `nil` for an event that no trace has, and at the end of an observer in no center.
    init?(_ event: Event) {
        func observer(_ site: RegistrationSite) -> String { "\(site.file):\(site.line)".json }
        switch event {
        case .post(let name): self.init(.begin, "post \(name.rawValue)")
        case .call(let registration, let name, 0):
            self.init(.begin, name.rawValue, ["observer": observer(registration.site)])
        case .call(let registration, let name, let since):
            let now = DispatchTime.now().uptimeNanoseconds
            // The target now. The target may have been switched while the delivery waited.
            let target = registration.pending?.target.description ?? ""
            let waited = TraceEvent.microseconds(now > since ? now - since : 0)
            self.init(
                .begin, name.rawValue,
                ["observer": observer(registration.site), "on": target.json, "waited µs": waited])
        case .observerEnds(let registration, let cause):
            guard let subject = registration.center.subject(of: registration) else { return nil }
            self.init(
                .begin, "end of observer \(describeName(subject.name))",
                ["observer": observer(registration.site), "because": cause.rawValue.json])
        case .ownerEnds(let record): self.init(.begin, "end of \(record.instance)")
        case .end(let begun): self.init(.end, begun: begun)
        case .asyncCall(let site): self.init(.asyncBegin, "async handler", ["observer": observer(site)])
        case .asyncEnd(let begun): self.init(.asyncEnd, "async handler", begun: begun)
        case .waiting(let site): self.init(.flowStart, "delivery", ["observer": observer(site)])
        case .delivered(let since): self.init(.flowFinish, "delivery", begun: since)
        case .dropped(let name, let reason, let site):
            let because = reason.rawValue.json
            self.init(
                .instant, name.map { "dropped \($0.rawValue)" } ?? "dropped",
                site.map { ["observer": observer($0), "because": because] } ?? ["because": because])
        case .switched(let target, let site):
            self.init(.instant, "target \(target.description)", ["observer": observer(site)])
        case .registered, .ended, .released, .centerMade, .centerEnds, .centerEnded: return nil
        }
    }
}
