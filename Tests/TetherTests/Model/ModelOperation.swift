/// One step of a sequence, for the model and the library alike: a plain value, so that a sequence can be shrunk,
/// printed as source, and replayed.
///
/// Tokens, objects, centers and schedulers are named by their places. An operation on a place where there is nothing
/// does nothing, so that any part of a sequence is a sequence.
enum ModelOperation: Sendable {
    case observe(Observation)
    case stop(Int)
    /// Lets go of a token.
    case drop(Int)
    /// Ends the observers of an object.
    case stopAll(Int)
    case remove(center: Int, name: Int?, sender: Int?, owner: Int?)
    case removeToken(center: Int, token: Int, form: Int, name: Int?, sender: Sender)
    case removeObject(center: Int, owner: Int, form: Int, name: Int?, sender: Sender)
    case post(center: Int, name: Int, sender: Sender, form: PostForm)
    case enqueue(center: Int, name: Int, sender: Sender, style: Style, mask: Mask)
    case dequeue(center: Int, name: Int, sender: Sender, mask: Mask)
    /// Takes out of a queue what was enqueued so many enqueueings ago.
    case dequeueExactly(center: Int, ago: Int)
    case flush(Int)
    /// Lets go of a center's posting queue and makes another one.
    case renewQueue(Int)
    case mute(token: Int, keepingNewest: Bool)
    case unmute(Int)
    case muteAll(object: Int, keepingNewest: Bool)
    case unmuteAll(Int)
    /// Bounds what may wait.
    case bound(token: Int, to: Backlog)
    /// Switches to a scheduler; `nil` for the poster.
    case redirect(token: Int, scheduler: Int?)
    /// Runs the jobs that wait on a scheduler.
    case run(Int)
    /// Runs jobs until none waits.
    case runAll(Int)
    /// Lets go of jobs, or ends the run loop; another one takes its place.
    case dropJobs(Int)
    /// Makes an async sequence, in place of the one that is there and of its tasks.
    case sequence(SequenceObservation)
    /// Has a task take an element of a sequence, or wait for one.
    case take(Int)
    /// Runs the tasks of a sequence that have got what they waited for.
    case runTasks(Int)
    /// Cancels the oldest task of a sequence, or one that is about to begin.
    case cancelTask(Int)
    /// Lets go of a sequence, which its tasks may still hold.
    case dropSequence(Int)
    /// Cancels all tasks of a sequence, and lets go of it.
    case leaveSequence(Int)
    /// Makes an object, in place of the one that is there, with what it does in its `deinit`.
    case make(object: Int, atEnd: [ModelOperation])
    /// Lets go of an object.
    case end(Int)
    /// Lets go of a center and its queue, and makes others.
    case renewCenter(Int)
    case purge
    /// Performs operations on a thread of its own, and waits for it.
    case onThread([ModelOperation])
    /// In a handler that runs on such a thread, ends it.
    case exit

    enum Sender: Sendable, Equatable {
        /// None of a post, any of an observer.
        case nobody
        /// Nobody, by an optional without content in an `Any`.
        case nothing
        /// What is at a place, in a form in which it gets into an `Any`; 0 for as it is.
        case object(Int, form: Int = 0)
        case value(Int, form: Int = 0)
    }

    /// How much is kept of what waits.
    enum Backlog: Sendable, Equatable {
        case unbounded
        case newest(Int)
        case oldest(Int)
    }

    enum PostForm: Sendable, CaseIterable { case call, notification }
    enum Style: Sendable, CaseIterable { case whenIdle, asap, now }
    enum Mask: Sendable, CaseIterable { case none, name, sender, both }

    /// The place of the object in whose `deinit` an operation is.
    static let dying = -1
}

/// How an observer is registered.
struct Observation: Sendable {
    /// Where its token goes.
    var token = 0
    var center = 0
    /// `nil` for any name.
    var name: Int?
    var sender = ModelOperation.Sender.nobody
    /// An object's place.
    var owner: Int?
    /// `nil` for the poster.
    var scheduler: Int?
    var once = false
    var key: Int?
    /// How the key comes: 0 for as it is.
    var keyForm = 0
    /// By the calls that Foundation's center has, too: those that take value senders.
    var isFoundations = false
    /// Whether the token of an observer with an owner is kept.
    var keepsToken = true
    /// What the handler does.
    var actions: [ModelOperation] = []

    /// Registered by the calls of Foundation's center: no target, not once, no key.
    var usesFoundationsCalls: Bool {
        switch sender {
        case .nobody: isFoundations
        case .object(_, let form): isFoundations || form > 0
        case .nothing, .value: true
        }
    }
}

/// How many places there are of everything.
enum Places {
    static let tokens = 24
    static let objects = 4
    /// Tether's own.
    static let centers = 2
    /// With a foreign one, and Foundation's.
    static let allCenters = 4
    static let foundation = 3
    /// Two schedulers, and a run loop.
    static let schedulers = 3
    static let sequences = 3
    static let names = 40
    static let values = 8
    static let forms = Wrapping.all.count
    static let valueForms = 5
}

// MARK: As source

extension ModelOperation: CustomStringConvertible {
    /// The operation as it is written in a test.
    var description: String { ModelOperation.source(of: self) }

    private static func name(of value: Any) -> String {
        switch value as? ModelOperation {
        case nil: ".\(value)"
        case .exit: ".exit"
        default: ".purge"
        }
    }

    private static func source(of value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { source(of: $0.value) } ?? "nil"
        case .collection: return "[" + mirror.children.map { source(of: $0.value) }.joined(separator: ", ") + "]"
        case .struct:
            // Only what is not as it is by itself.
            let form: Any = value is SequenceObservation ? SequenceObservation() : Observation()
            let usual = Mirror(reflecting: form).children.map { source(of: $0.value) }
            let fields = zip(mirror.children, usual).compactMap { field, usual -> String? in
                let text = source(of: field.value)
                return text == usual ? nil : "\(field.label ?? ""): \(text)"
            }
            return "\(type(of: form))(\(fields.joined(separator: ", ")))"
        case .enum:
            // An operation's own description would come back here.
            guard let payload = mirror.children.first else { return name(of: value) }
            let parts = Mirror(reflecting: payload.value)
            guard parts.displayStyle == .tuple else { return ".\(payload.label ?? "")(\(source(of: payload.value)))" }
            let arguments = parts.children.map { part in
                let label = part.label.flatMap { $0.hasPrefix(".") ? nil : $0 + ": " } ?? ""
                return label + source(of: part.value)
            }
            return ".\(payload.label ?? "")(\(arguments.joined(separator: ", ")))"
        default: return "\(value)"
        }
    }
}
