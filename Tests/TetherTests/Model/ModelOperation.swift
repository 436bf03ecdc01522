/// A step of a sequence, for the model and the library alike: a plain value, so that a sequence can
/// be shrunk, printed as source, and replayed.
///
/// Tokens, objects, centers and schedulers are named by their places. An operation on an empty
/// place has no effect, so any part of a sequence is a sequence.
enum ModelOperation: Sendable {
    case observe(Observation)
    case stop(Int)
    /// Begins to finish an observer, which takes no further post, and ends after its pending
    /// deliveries.
    case finish(Int)
    /// Releases a token.
    case drop(Int)
    /// Ends the observers of an object.
    case stopAll(Int)
    case remove(center: Int, name: Int?, sender: Int?, owner: Int?)
    case removeToken(center: Int, token: Int, name: Int?, sender: Sender)
    case removeObject(center: Int, owner: Int, name: Int?, sender: Sender)
    /// `isPlain`: without a payload, so the handlers know no number.
    case post(center: Int, name: Int, sender: Sender, isPlain: Bool = false)
    case enqueue(center: Int, name: Int, sender: Sender, style: Style, mask: Mask)
    case dequeue(center: Int, name: Int, sender: Sender, mask: Mask)
    case flush(Int)
    /// Empties and releases a center's posting queue, and makes another.
    case renewQueue(Int)
    case mute(token: Int, keepingNewest: Bool)
    case unmute(Int)
    case muteAll(object: Int, keepingNewest: Bool)
    case unmuteAll(Int)
    /// Bounds the pending deliveries.
    case bound(token: Int, to: Backlog)
    /// Switches to a scheduler; `nil` for the posting thread.
    case redirect(token: Int, scheduler: Int?)
    /// Switches the observers of an object.
    case redirectAll(object: Int, scheduler: Int?)
    /// Runs the jobs that wait on a scheduler.
    case run(Int)
    /// Runs the oldest job that waits on a scheduler, or on a concurrent one the newest.
    case runOne(scheduler: Int, newest: Bool)
    /// Releases one job of a scheduler, which is not a run loop.
    case cancelOne(scheduler: Int, newest: Bool)
    /// Runs jobs until none waits, or they go on for ever.
    case runAll(Int)
    /// Releases the jobs, or ends the run loop; another one takes its place.
    case cancelJobs(Int)
    /// Makes an async sequence, in place of the present sequence and its tasks.
    case sequence(SequenceObservation)
    /// A task takes an element of a sequence, or waits for it.
    case take(Int)
    /// Runs the tasks of a sequence whose wait has ended.
    case runTasks(Int)
    /// Cancels the oldest task of a sequence, or a task that is about to begin.
    case cancelTask(Int)
    /// Releases a sequence, which its tasks may still retain.
    case dropSequence(Int)
    /// Cancels all tasks of a sequence, and releases it.
    case leaveSequence(Int)
    /// Makes an object with the actions of its `deinit`, in place of the present object.
    case make(object: Int, atEnd: [ModelOperation])
    /// Releases an object.
    case end(Int)
    /// Releases a center and its queue, and makes new ones.
    case renewCenter(Int)

    enum Sender: Sendable, Equatable {
        /// None of a post, any of an observer.
        case nobody
        case object(Int)
        case value(Int)

        var place: Int? { if case .object(let place) = self { place } else { nil } }
    }

    /// The bound of pending deliveries or elements.
    enum Backlog: Sendable, Equatable {
        case unbounded
        case newest(Int)
        case oldest(Int)
    }

    enum Style: Sendable, CaseIterable { case whenIdle, asap, now }
    enum Mask: Sendable, CaseIterable { case none, name, sender, both }

    /// The place of the object in whose `deinit` an operation is.
    static let dying = -1
}

/// The registration of an observer.
struct Observation: Sendable {
    /// The place for the token.
    var token = 0
    var center = 0
    /// `nil` for any name.
    var name: Int?
    var sender = ModelOperation.Sender.nobody
    /// An object's place.
    var owner: Int?
    /// `nil` for the posting thread.
    var scheduler: Int?
    var once = false
    var key: Int?
    /// The bound of the pending deliveries from the first post on.
    var backlog = ModelOperation.Backlog.unbounded
    /// With the calls of Foundation's shape, which take senders of any type, but no target, `once`,
    /// key or bound.
    var isFoundations = false
    /// Whether the token of an observer with an owner is kept.
    var keepsToken = true
    /// The handler's actions.
    var actions: [ModelOperation] = []

    /// Without the options that the center or the call does not have.
    var valid: Observation {
        var valid = self
        if center == Places.foreign {
            valid.isFoundations = false
            if case .value = sender { valid.sender = .nobody }
        } else if case .value = sender {
            valid.isFoundations = true
        }
        if valid.isFoundations {
            valid.scheduler = nil
            valid.once = false
            valid.key = nil
            valid.backlog = .unbounded
        }
        valid.keepsToken = owner == nil || keepsToken && !valid.isFoundations
        return valid
    }
}

/// How an async sequence is made.
struct SequenceObservation: Sendable {
    /// The place for the sequence.
    var place = 0
    var center = 0
    /// `nil` for any name.
    var name: Int?
    /// An object's place; `nil` for any sender.
    var sender: Int?
    /// An object's place.
    var owner: Int?
    var buffer = ModelOperation.Backlog.unbounded

    /// The registered observer.
    var observation: Observation {
        Observation(
            center: center, name: name, sender: sender.map { .object($0) } ?? .nobody, owner: owner)
    }
}

/// How many places there are of everything.
enum Places {
    static let tokens = 24
    static let objects = 4
    /// Tether's own centers, with a posting queue each.
    static let centers = 2
    static let foreign = 2
    /// The schedulers, and a run loop.
    static let kinds: [ReferenceTarget.Kind] = [.serial, .batching, .concurrent, .immediate, .loop]
    static let schedulers = kinds.count
    static let batching = 1
    static let concurrent = 2
    static let immediate = 3
    static let loop = 4
    /// How many times an operation runs all jobs of a scheduler.
    static let runs = 20
    static let sequences = 3
    static let names = 40
    static let values = 8
}

extension ModelOperation {
    /// The places of an operation's arguments, which are retained for the call.
    struct Uses {
        var objects: [Int] = []
        var center: Int?
        var queue: Int?
        var token: Int?
    }

    var uses: Uses {
        func uses(_ objects: Int?..., center: Int? = nil, queue: Int? = nil, token: Int? = nil)
            -> Uses
        {
            Uses(objects: objects.compactMap(\.self), center: center, queue: queue, token: token)
        }
        return switch self {
        case .observe(let asked): uses(asked.sender.place, asked.owner, center: asked.center)
        case .sequence(let asked): uses(asked.sender, asked.owner, center: asked.center)
        case .stop(let token), .finish(let token), .mute(let token, _), .unmute(let token),
            .bound(let token, _),
            .redirect(let token, _):
            uses(token: token)
        case .stopAll(let object), .muteAll(let object, _), .unmuteAll(let object),
            .redirectAll(let object, _):
            uses(object)
        case .remove(let center, _, let sender, let owner): uses(sender, owner, center: center)
        case .removeToken(let center, let token, _, let sender):
            uses(sender.place, center: center, token: token)
        case .removeObject(let center, let owner, _, let sender):
            uses(sender.place, owner, center: center)
        case .post(let center, _, let sender, _): uses(sender.place, center: center)
        case .enqueue(let queue, _, let sender, _, _), .dequeue(let queue, _, let sender, _):
            uses(sender.place, queue: queue)
        case .flush(let queue): uses(queue: queue)
        default: uses()
        }
    }
}
