/// The model of an object that is an owner, a sender, or both (M5, O1-O11).
final class ReferenceObject: Counted {
    let id: Int
    private unowned let world: ReferenceWorld
    /// Its live observers as an owner, in order of attachment.
    var attached: [ReferenceObserver] = []
    /// Those of it as a sender.
    var observers: [ReferenceObserver] = []
    /// Whether its `deinit` has begun.
    private(set) var isEnding = false

    init(id: Int, world: ReferenceWorld) {
        self.id = id
        self.world = world
    }

    // O3: its observers end first, or with the Objective-C runtime's signal after the `deinit`. M5:
    // those of it as a sender last, so that it can post in its `deinit`.
    override func deallocated() {
        isEnding = true
        if !endsFollowDeinit { endObservers() }
        world.dying.append(self)
        world.player.ended(id)
        world.dying.removeLast()
        if endsFollowDeinit { endObservers() }
        for observer in observers { observer.senderEnded() }
    }

    private func endObservers() {
        for observer in attached { observer.end() }
    }

    // MARK: Muting (D9)

    /// Mutes the observers that it has now.
    func muteAll(keepingNewest: Bool) {
        if isEnding { return }
        for observer in attached { observer.mute(byOwner: true, keepingNewest: keepingNewest) }
    }

    /// Notifications that several observers kept are delivered in posting order, when all are
    /// unmuted.
    func unmuteAll() {
        if isEnding { return }
        let muted = attached.filter { $0.ownerMutings > 0 }
        let keeping = world.keeping.filter { observer in muted.contains { $0 === observer } }
        let others = muted.filter { observer in !keeping.contains { $0 === observer } }
        ReferenceObserver.unmute(keeping + others, byOwner: true)
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
}

/// The model of a notification, which retains its object, unless that is being deinitialised.
final class ReferenceNotification: Counted {
    let name: Int
    let sender: ReferenceSender
    let payload: Payload
    private let retained: ReferenceObject?

    /// The part of a notification that reports its release.
    final class Payload: Counted {
        let number: Int?
        private let player: Player

        init(number: Int?, player: Player) {
            self.number = number
            self.player = player
        }

        override func deallocated() { player.payloadReleased(number) }
    }

    init(name: Int, sender: ReferenceSender, payload: Payload) {
        self.name = name
        self.sender = sender
        self.payload = payload
        retained = sender.object?.isEnding == false ? sender.object : nil
        super.init()
        payload.retain()
        retained?.retain()
    }

    override func deallocated() {
        payload.release()
        retained?.release()
    }

    /// X3: a notification waits without an object whose end has begun.
    func retainedForLater() -> ReferenceNotification {
        guard sender.object?.isEnding == true else {
            retain()
            return self
        }
        return ReferenceNotification(name: name, sender: .nobody, payload: payload)
    }
}
