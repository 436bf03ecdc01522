/// The short spelling of operations, in which scenarios are written and failing sequences printed.
///
///     make A { post from dying }; observe a of A on serial once { post; cancel a }; post 2
///
/// Operations are separated by semicolons. The actions of a handler and of a `deinit` are in
/// braces. Behind the verb, the words may have any order.
///
/// | Operation | Effect |
/// |---|---|
/// | `observe a n1 from A of B on serial newest-2 once key v1 { … }` | registers an observer with token `a` |
/// | `post n1 from A 3`, `post plain` | posts three times; posts without a payload |
/// | `cancel a`, `finish a`, `release a` | ends an observer; releases its token |
/// | `cancel A`, `release A` | ends an object's observers; releases the object |
/// | `mute a newest`, `unmute a`, also with an object | mutes, and keeps the newest notification |
/// | `bound a newest-1`, `bound a oldest-2`, `bound a unbounded` | bounds pending deliveries |
/// | `move a to serial`, `move A to posting` | switches the target |
/// | `remove n0 from A of B`, `removeObserver a n0`, `removeObserver A` | removes observers |
/// | `run serial`, `run serial oldest`, `run serial repeatedly` | runs jobs of a scheduler |
/// | `drop serial`, `drop serial newest` | releases jobs without running them |
/// | `make A { … }` | makes an object with the actions of its `deinit` |
/// | `enqueue n0 asap by-name`, `dequeue n0 by-both`, `flush` | uses the center's posting queue |
/// | `sequence s0 n0 of A newest-1` | makes an async sequence |
/// | `take s0` | a new task iterates the sequence (S1), and takes one element or waits for it |
/// | `resume s0`, `cancel s0` | runs the tasks whose wait has ended; cancels the oldest task |
/// | `release s0`, `leave s0` | releases the sequence; before, cancels all its tasks |
/// | `renewCenter`, `renewQueue` | releases a center, or its posting queue, and makes another |
///
/// Tokens are `a` to `x`, objects `A` to `D`, names `n0` to `n39`, values `v0` to `v7`, sequences
/// `s0` to `s2`, schedulers `serial`, `batching`, `concurrent`, `immediate` and `loop`. `dying` is
/// the object in whose `deinit` an operation is. The name is `n0` if none is given, and `any` for
/// all; a removal without a name removes all. `in c1` and `in foreign` choose another center.
struct SpelledOperation {
    var verb: Substring
    var token: Int?
    var object: Int?
    var sequence: Int?
    var name: Int?
    var sender = ModelOperation.Sender.nobody
    var owner: Int?
    var scheduler: Int?
    var key: Int?
    var backlog: ModelOperation.Backlog?
    var center = 0
    /// How many times a post is made.
    var count = 1
    /// Words that stand alone, such as `once`.
    var flags: [String] = []
    var actions: [ModelOperation] = []

    /// `nil` for any name.
    fileprivate var registeredName: Int? { flags.contains("any") ? nil : name ?? 0 }
}

// MARK: Words

extension SpelledOperation {
    static let tokens = "abcdefghijklmnopqrstuvwx".map { String($0) }
    static let objects = ["A", "B", "C", "D"]
    private static let centers = ["c0", "c1", "foreign"]
    private static let schedulers = ["serial", "batching", "concurrent", "immediate", "loop"]
    private static let allFlags = [
        "any", "once", "foundation", "unkept", "newest", "oldest", "repeatedly", "posting", "plain",
        "asap", "idle", "now", "by-name", "by-sender", "by-both",
    ]

    private static func word(ofObject place: Int) -> String {
        place == ModelOperation.dying ? "dying" : objects[place]
    }

    var text: String {
        var words = [String(verb)]
        if let token { words.append(SpelledOperation.tokens[token]) }
        if let object { words.append(SpelledOperation.word(ofObject: object)) }
        if let sequence { words.append("s\(sequence)") }
        if let name { words.append("n\(name)") }
        switch sender {
        case .nobody: break
        case .object(let place): words += ["from", SpelledOperation.word(ofObject: place)]
        case .value(let value): words += ["from", "v\(value)"]
        }
        if let owner { words += ["of", SpelledOperation.word(ofObject: owner)] }
        if let scheduler { words.append(SpelledOperation.schedulers[scheduler]) }
        if let key { words += ["key", "v\(key)"] }
        if let backlog { words.append(backlog.description.replacing(" ", with: "-")) }
        if center > 0 { words += ["in", SpelledOperation.centers[center]] }
        words += flags
        if !actions.isEmpty { words.append("{ \(ModelOperation.text(of: actions)) }") }
        return words.joined(separator: " ")
    }

    /// Reads the words behind the verb, in any order.
    fileprivate init(_ verb: Substring, from reader: inout ModelReader) throws {
        self.verb = verb
        center = reader.center
        while let word = reader.word, ![";", "}", "->"].contains(word) {
            if word.first == "{" {
                actions = try reader.actions()
            } else {
                try read(String(reader.take()), from: &reader)
            }
        }
    }

    private mutating func read(_ word: String, from reader: inout ModelReader) throws {
        let number = Int(word.dropFirst())
        switch word {
        case "from" where reader.word?.first == "v": sender = .value(try reader.number(behind: "v"))
        case "from": sender = .object(try reader.place(in: SpelledOperation.objects))
        case "of": owner = try reader.place(in: SpelledOperation.objects)
        case "on", "to": break
        case "in": center = try reader.place(in: SpelledOperation.centers)
        case "key": key = try reader.number(behind: "v")
        case "dying": object = ModelOperation.dying
        case "unbounded": backlog = .unbounded
        case _ where SpelledOperation.allFlags.contains(word): flags.append(word)
        case _ where word.hasPrefix("newest-"): backlog = .newest(try reader.limit(word))
        case _ where word.hasPrefix("oldest-"): backlog = .oldest(try reader.limit(word))
        case _ where word.first == "n" && number != nil: name = number
        case _ where word.first == "s" && number != nil: sequence = number
        default:
            if let times = Int(word) {
                count = times
            } else if let place = SpelledOperation.tokens.firstIndex(of: word) {
                token = place
            } else if let place = SpelledOperation.objects.firstIndex(of: word) {
                object = place
            } else if let place = SpelledOperation.schedulers.firstIndex(of: word) {
                scheduler = place
            } else {
                throw reader.misspelling(word)
            }
        }
    }
}

/// Reads operations.
struct ModelReader {
    struct Misspelling: Error, CustomStringConvertible { let description: String }

    private let words: [Substring]
    private var next = 0
    /// The center of operations that choose none.
    fileprivate let center: Int

    init(_ text: String, center: Int = 0) {
        self.center = center
        var spaced = text
        for sign in ["{", "}", ";"] { spaced = spaced.replacing(sign, with: " \(sign) ") }
        words = spaced.split(whereSeparator: \.isWhitespace)
    }

    /// The next word.
    var word: Substring? { next < words.count ? words[next] : nil }

    func misspelling(_ word: some StringProtocol) -> Misspelling {
        let before = words[max(0, next - 5)..<next].joined(separator: " ")
        return Misspelling(description: "\(word) is not understood in: \(before)")
    }

    /// Takes the next word, or an empty word at the end.
    mutating func take() -> Substring {
        guard let word else { return "" }
        next += 1
        return word
    }

    mutating func skip(_ sign: Substring) throws {
        let word = take()
        if word != sign { throw misspelling(word) }
    }

    /// Reads operations up to a closing brace, an arrow or the end.
    mutating func operations() throws -> [ModelOperation] {
        var operations: [ModelOperation] = []
        while let word, word != "}", word != "->" {
            let spelled = try SpelledOperation(take(), from: &self)
            guard let operation = ModelOperation(spelled) else { throw misspelling(spelled.text) }
            operations += Array(repeating: operation, count: spelled.count)
            if self.word == ";" { try skip(";") }
        }
        return operations
    }

    fileprivate mutating func actions() throws -> [ModelOperation] {
        try skip("{")
        let actions = try operations()
        try skip("}")
        return actions
    }

    fileprivate mutating func place(in words: [String]) throws -> Int {
        let word = take()
        if word == "dying" { return ModelOperation.dying }
        guard let place = words.firstIndex(of: String(word)) else { throw misspelling(word) }
        return place
    }

    fileprivate mutating func number(behind letter: Character) throws -> Int {
        let word = take()
        guard word.first == letter, let number = Int(word.dropFirst()) else {
            throw misspelling(word)
        }
        return number
    }

    fileprivate func limit(_ word: String) throws -> Int {
        guard let limit = Int(word.drop { $0 != "-" }.dropFirst()) else { throw misspelling(word) }
        return limit
    }
}

extension ModelOperation.Style {
    fileprivate var word: String { self == .whenIdle ? "idle" : "\(self)" }
}

extension ModelOperation.Backlog: CustomStringConvertible {
    var description: String {
        switch self {
        case .unbounded: "unbounded"
        case .newest(let limit): "newest \(limit)"
        case .oldest(let limit): "oldest \(limit)"
        }
    }
}

// MARK: From words

extension ModelOperation {
    static func reading(_ text: String) throws -> [ModelOperation] {
        var reader = ModelReader(text)
        return try reader.operations()
    }

    /// `nil` for an unknown verb, or if a needed word is missing.
    fileprivate init?(_ spelled: SpelledOperation) {
        let operation =
            ModelOperation.ofToken(spelled) ?? .ofObject(spelled) ?? .ofSequence(spelled)
            ?? .ofScheduler(spelled) ?? .ofCenter(spelled)
        guard let operation else { return nil }
        self = operation
    }

    private static func ofToken(_ spelled: SpelledOperation) -> ModelOperation? {
        guard let token = spelled.token else { return nil }
        switch spelled.verb {
        case "observe":
            return .observe(
                Observation(
                    token: token, center: spelled.center, name: spelled.registeredName,
                    sender: spelled.sender, owner: spelled.owner, scheduler: spelled.scheduler,
                    once: spelled.flags.contains("once"), key: spelled.key,
                    backlog: spelled.backlog ?? .unbounded,
                    isFoundations: spelled.flags.contains("foundation"),
                    keepsToken: !spelled.flags.contains("unkept"), actions: spelled.actions))
        case "cancel": return .stop(token)
        case "finish": return .finish(token)
        case "release": return .drop(token)
        case "mute": return .mute(token: token, keepingNewest: spelled.flags.contains("newest"))
        case "unmute": return .unmute(token)
        case "bound": return spelled.backlog.map { .bound(token: token, to: $0) }
        case "move": return .redirect(token: token, scheduler: spelled.scheduler)
        case "removeObserver":
            return .removeToken(
                center: spelled.center, token: token, name: spelled.name, sender: spelled.sender)
        default: return nil
        }
    }

    private static func ofObject(_ spelled: SpelledOperation) -> ModelOperation? {
        guard let object = spelled.object else { return nil }
        switch spelled.verb {
        case "make": return .make(object: object, atEnd: spelled.actions)
        case "cancel": return .stopAll(object)
        case "release": return .end(object)
        case "mute":
            return .muteAll(object: object, keepingNewest: spelled.flags.contains("newest"))
        case "unmute": return .unmuteAll(object)
        case "move": return .redirectAll(object: object, scheduler: spelled.scheduler)
        case "removeObserver":
            return .removeObject(
                center: spelled.center, owner: object, name: spelled.name, sender: spelled.sender)
        default: return nil
        }
    }

    private static func ofSequence(_ spelled: SpelledOperation) -> ModelOperation? {
        guard let sequence = spelled.sequence else { return nil }
        switch spelled.verb {
        case "sequence":
            return .sequence(
                SequenceObservation(
                    place: sequence, center: spelled.center, name: spelled.registeredName,
                    sender: spelled.sender.place, owner: spelled.owner,
                    buffer: spelled.backlog ?? .unbounded))
        case "take": return .take(sequence)
        case "resume": return .runTasks(sequence)
        case "cancel": return .cancelTask(sequence)
        case "release": return .dropSequence(sequence)
        case "leave": return .leaveSequence(sequence)
        default: return nil
        }
    }

    private static func ofScheduler(_ spelled: SpelledOperation) -> ModelOperation? {
        guard let scheduler = spelled.scheduler else { return nil }
        switch (spelled.verb, spelled.flags.first) {
        case ("run", nil): return .run(scheduler)
        case ("run", "repeatedly"): return .runAll(scheduler)
        case ("run", let age): return .runOne(scheduler: scheduler, newest: age == "newest")
        case ("drop", nil): return .cancelJobs(scheduler)
        case ("drop", let age): return .cancelOne(scheduler: scheduler, newest: age == "newest")
        default: return nil
        }
    }

    private static func ofCenter(_ spelled: SpelledOperation) -> ModelOperation? {
        let center = spelled.center
        let name = spelled.name ?? 0
        let sender = spelled.sender
        let mask = Mask.allCases.first { spelled.flags.contains("by-\($0)") } ?? .none
        switch spelled.verb {
        case "post":
            let isPlain = spelled.flags.contains("plain")
            return .post(center: center, name: name, sender: sender, isPlain: isPlain)
        case "remove":
            return .remove(
                center: center, name: spelled.name, sender: sender.place, owner: spelled.owner)
        case "enqueue":
            return Style.allCases.first { spelled.flags.contains($0.word) }.map { style in
                .enqueue(center: center, name: name, sender: sender, style: style, mask: mask)
            }
        case "dequeue": return .dequeue(center: center, name: name, sender: sender, mask: mask)
        case "flush": return .flush(center)
        case "renewQueue": return .renewQueue(center)
        case "renewCenter": return .renewCenter(center)
        default: return nil
        }
    }
}

// MARK: As words

extension ModelOperation: CustomStringConvertible {
    var description: String { spelled.text }

    static func text(of operations: [ModelOperation]) -> String {
        operations.map(\.description).joined(separator: "; ")
    }

    private var spelled: SpelledOperation {
        typealias Spelled = SpelledOperation
        return switch self {
        case .observe(let asked): asked.spelled
        case .stop(let token): Spelled(verb: "cancel", token: token)
        case .finish(let token): Spelled(verb: "finish", token: token)
        case .drop(let token): Spelled(verb: "release", token: token)
        case .stopAll(let object): Spelled(verb: "cancel", object: object)
        case .remove(let center, let name, let sender, let owner):
            Spelled(
                verb: "remove", name: name,
                sender: sender.map { .object($0) } ?? .nobody, owner: owner, center: center)
        case .removeToken(let center, let token, let name, let sender):
            Spelled(
                verb: "removeObserver", token: token, name: name, sender: sender, center: center)
        case .removeObject(let center, let owner, let name, let sender):
            Spelled(
                verb: "removeObserver", object: owner, name: name, sender: sender, center: center)
        case .post(let center, let name, let sender, let isPlain):
            Spelled(
                verb: "post", name: name, sender: sender, center: center,
                flags: isPlain ? ["plain"] : [])
        case .enqueue(let center, let name, let sender, let style, let mask):
            Spelled(
                verb: "enqueue", name: name, sender: sender, center: center,
                flags: [style.word] + mask.flags)
        case .dequeue(let center, let name, let sender, let mask):
            Spelled(verb: "dequeue", name: name, sender: sender, center: center, flags: mask.flags)
        case .flush(let center): Spelled(verb: "flush", center: center)
        case .renewQueue(let center): Spelled(verb: "renewQueue", center: center)
        case .mute(let token, let newest):
            Spelled(verb: "mute", token: token, flags: newest ? ["newest"] : [])
        case .unmute(let token): Spelled(verb: "unmute", token: token)
        case .muteAll(let object, let newest):
            Spelled(verb: "mute", object: object, flags: newest ? ["newest"] : [])
        case .unmuteAll(let object): Spelled(verb: "unmute", object: object)
        case .bound(let token, let backlog):
            Spelled(verb: "bound", token: token, backlog: backlog)
        case .redirect(let token, let scheduler):
            Spelled(
                verb: "move", token: token, scheduler: scheduler,
                flags: scheduler == nil ? ["posting"] : [])
        case .redirectAll(let object, let scheduler):
            Spelled(
                verb: "move", object: object, scheduler: scheduler,
                flags: scheduler == nil ? ["posting"] : [])
        case .run(let scheduler): Spelled(verb: "run", scheduler: scheduler)
        case .runOne(let scheduler, let newest):
            Spelled(verb: "run", scheduler: scheduler, flags: [newest ? "newest" : "oldest"])
        case .cancelOne(let scheduler, let newest):
            Spelled(verb: "drop", scheduler: scheduler, flags: [newest ? "newest" : "oldest"])
        case .runAll(let scheduler):
            Spelled(verb: "run", scheduler: scheduler, flags: ["repeatedly"])
        case .cancelJobs(let scheduler): Spelled(verb: "drop", scheduler: scheduler)
        case .sequence(let asked): asked.spelled
        case .take(let place): Spelled(verb: "take", sequence: place)
        case .runTasks(let place): Spelled(verb: "resume", sequence: place)
        case .cancelTask(let place): Spelled(verb: "cancel", sequence: place)
        case .dropSequence(let place): Spelled(verb: "release", sequence: place)
        case .leaveSequence(let place): Spelled(verb: "leave", sequence: place)
        case .make(let object, let atEnd):
            Spelled(verb: "make", object: object, actions: atEnd)
        case .end(let object): Spelled(verb: "release", object: object)
        case .renewCenter(let center): Spelled(verb: "renewCenter", center: center)
        }
    }
}

extension ModelOperation.Mask {
    fileprivate var flags: [String] { self == .none ? [] : ["by-\(self)"] }
}

extension Observation {
    fileprivate var spelled: SpelledOperation {
        var flags: [String] = []
        if name == nil { flags.append("any") }
        if once { flags.append("once") }
        if isFoundations { flags.append("foundation") }
        if !keepsToken { flags.append("unkept") }
        return SpelledOperation(
            verb: "observe", token: token, name: name, sender: sender, owner: owner,
            scheduler: scheduler, key: key, backlog: backlog == .unbounded ? nil : backlog,
            center: center, flags: flags, actions: actions)
    }
}

extension SequenceObservation {
    fileprivate var spelled: SpelledOperation {
        SpelledOperation(
            verb: "sequence", sequence: place, name: name,
            sender: sender.map { .object($0) } ?? .nobody, owner: owner, backlog: buffer,
            center: center, flags: name == nil ? ["any"] : [])
    }
}
