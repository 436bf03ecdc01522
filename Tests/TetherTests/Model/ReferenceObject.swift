/// The model of an object that is an owner, a sender, or both (M5, O1-O11).
final class ReferenceObject: Counted {
    let id: Int
    private unowned let world: ReferenceWorld
    /// Its live observers, in order of attachment.
    var attached: [ReferenceObserver] = []
    /// The centers with observers of it as a sender, in the order in which they got the first one.
    private var watching: [ReferenceCenter] = []
    /// Its `deinit` has begun.
    private(set) var isEnding = false
    /// Its `deinit` has run.
    private var isOver = false
    /// By the sweep, an end is seen as it happens only of what was asked to be.
    private var isSeen = false

    init(id: Int, world: ReferenceWorld) {
        self.id = id
        self.world = world
    }

    /// Whether it has gone and left nothing.
    var isCollected: Bool { isOver && attached.isEmpty && watching.isEmpty }

    private var isExact: Bool { world.isExact || isSeen }

    // O3: its observers end first. M5: those of it as a sender last, so that it can post in its `deinit`.
    override func ended() {
        isEnding = true
        let isSeen = isExact
        if isSeen { endAttached() }
        world.dying.append(self)
        world.player.ended(id)
        world.dying.removeLast()
        isOver = true
        if isSeen { endWatching() }
    }

    /// O10: ends what belongs to it, as far as it has gone.
    func collect() {
        guard isEnding else { return }
        endAttached()
        if isOver { endWatching() }
    }

    private func endAttached() {
        while let first = attached.first { first.end() }
    }

    private func endWatching() {
        for center in watching { center.endAll(from: self) }
    }

    // MARK: Its observers

    func detach(_ observer: ReferenceObserver) {
        attached.removeAll { $0 === observer }
        forgetIfUnused()
    }

    func watch(for center: ReferenceCenter) {
        if !watching.contains(where: { $0 === center }) { watching.append(center) }
    }

    func unwatch(for center: ReferenceCenter) {
        if !center.observers.contains(where: { $0.sender == .object(self) }) { watching.removeAll { $0 === center } }
        forgetIfUnused()
    }

    /// Its end is to be seen as it happens.
    func see() { if !isEnding { isSeen = true } }

    func forgetIfUnused() {
        if attached.isEmpty, watching.isEmpty { isSeen = false }
    }

    // MARK: Muting (D9)

    func muteAll(keepingNewest: Bool) {
        guard !isEnding else { return }
        for observer in attached { observer.muteWithOwner(keepingNewest: keepingNewest) }
    }

    /// What several kept is delivered in posting order, when all are unmuted.
    func unmuteAll() {
        guard !isEnding else { return }
        var releases = attached.filter { $0.ownerMutings > 0 }.sorted { ($0.kept?.place ?? 0) < ($1.kept?.place ?? 0) }
            .map { $0.unmuteWithOwner() }
        for index in releases.indices { releases[index].schedule() }
        for release in releases { release.run() }
        for release in releases { release.letGo() }
    }
}

/// The model of a sender, of a post or an observer.
enum ReferenceSender: Equatable {
    /// None, or any.
    case nobody
    case object(ReferenceObject)
    case value(Int)

    /// M4: objects by identity, values by equality within their type.
    static func == (one: ReferenceSender, other: ReferenceSender) -> Bool {
        switch (one, other) {
        case (.nobody, .nobody): true
        case (.object(let one), .object(let other)): one === other
        case (.value(let one), .value(let other)): one == other
        default: false
        }
    }

    var object: ReferenceObject? { if case .object(let object) = self { object } else { nil } }

    /// As a handler sees it.
    var posted: History.PostedSender {
        switch self {
        case .nobody: .nobody
        case .object(let object): .object(object.id)
        case .value(let value): .value(value)
        }
    }

    /// X3: what is kept for later is kept without an object whose end has begun.
    var kept: ReferenceSender { object?.isEnding == true ? .nobody : self }
}

/// The model of a notification; it holds its object, unless that is being deinitialised.
final class ReferenceNotification: Counted {
    let name: Int
    let sender: ReferenceSender
    let number: Int
    private let held: ReferenceObject?
    private let whenReleased: () -> Void

    init(name: Int, sender: ReferenceSender, number: Int, whenReleased: @escaping () -> Void = {}) {
        self.name = name
        self.sender = sender
        self.number = number
        self.whenReleased = whenReleased
        held = sender.object?.isEnding == false ? sender.object : nil
        held?.hold()
    }

    override func ended() {
        whenReleased()
        held?.letGo()
    }
}
