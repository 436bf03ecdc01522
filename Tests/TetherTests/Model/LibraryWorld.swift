import Dispatch
import Foundation

@testable import Tether

/// The library, as operations are performed on it.
///
/// What is passed to a call is held for it, and let go of where the call has returned.
final class LibraryWorld: World {
    static let names = (0..<Places.names).map { Notification.Name("model.\($0)") }
    /// Senders and keys; some are equal across types, and so not the same (M4).
    static let values: [any Hashable & Sendable] = [
        1, Int8(1), 1.0, "1", Substring("1"), [1], [1.0], "a longer value that is not kept in place",
    ]
    static let targets = [
        "custom LibraryFirstScheduler", "custom LibrarySecondScheduler", LibraryLoop.description,
    ]

    let mode: LifetimeMode
    let player: Player
    /// Never runs while the world is in use: its posting queues are flushed by hand.
    let held: DispatchQueue?
    var centers: [ObserverCenter] = []
    var foreign = (Places.centers..<Places.allCenters).map(LibraryWorld.makeForeign)
    var queues: [PostingQueue] = []
    let schedulers: [any LibraryTarget] = [LibraryFirstScheduler(), LibrarySecondScheduler(), LibraryLoop()]
    let sequences: [LibraryPlace]
    private var tokens: [NotificationObserver?] = Array(repeating: nil, count: Places.tokens)
    private var objects: [(any LibraryObject)?] = Array(repeating: nil, count: Places.objects)
    /// Those whose `deinit` is running, in which they are let go of.
    private var dying: [any LibraryObject] = []
    private var descriptions: [String] = []
    var userInfos: [Int: [AnyHashable: Any]] = [:]

    /// `isOnLoop`: whether posting queues are those of the thread's run loop, which does not run.
    init(mode: LifetimeMode, player: Player, isOnLoop: Bool) {
        self.mode = mode
        self.player = player
        held = isOnLoop && !MainQueue.isCurrent ? nil : DispatchQueue(label: "held")
        held?.suspend()
        sequences = (0..<Places.sequences).map { _ in LibraryPlace(player: player) }
        centers = (0..<Places.centers).map { _ in mode.makeCenter() }
        queues = centers.map(makeQueue)
    }

    deinit {
        queues = []
        held?.resume()
    }

    func makeQueue(_ center: ObserverCenter) -> PostingQueue {
        if let held { PostingQueue(center: center, queue: held) } else { PostingQueue(center: center) }
    }

    /// Lets go of everything, for a run that is given up.
    func clear() {
        for place in sequences { place.leave() }
        for token in tokens.indices { dropToken(token) }
        for place in objects.indices { dropObject(at: place) }
        for center in 0..<Places.allCenters { renewCenter(center) }
        for scheduler in schedulers { scheduler.drop() }
        if mode == .sweep { purge() }
    }

    // MARK: Objects

    func makeObject(_ id: Int, at place: Int) {
        let object = makeObject(id)
        descriptions.append("\(type(of: object)) 0x\(String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16))")
        objects[place] = object
    }

    func description(ofObject id: Int) -> String { descriptions[id] }

    func dropObject(at place: Int) { letGo(objects[place].take()) }

    /// Lets go of what was taken out of its place before, so that its end may look there.
    @inline(never)
    func letGo(_ last: consuming AnyObject?) {
        withExtendedLifetime(last) {}
    }

    /// Called in an object's `deinit`.
    func ended(_ object: any LibraryObject) {
        dying.append(object)
        player.ended(object.id)
        dying.removeLast()
    }

    func object(at place: Int) -> (any LibraryObject)? {
        place == ModelOperation.dying ? dying.last : objects[place]
    }

    func sender(_ sender: ModelOperation.Sender) -> Any? {
        switch sender {
        case .nobody: nil
        case .nothing: Int?.none as Any
        case .object(let place, let form): object(at: place).flatMap { LibraryForms.wrap($0, form: form) }
        case .value(let value, let form): LibraryForms.wrap(LibraryWorld.values[value], form: form)
        }
    }

    func purge() {
        // What ends meanwhile may have had its turn already.
        var live: Int
        repeat {
            live = player.liveObjects
            OwnerLifetime.purge()
        } while live != player.liveObjects
    }

    // MARK: Tokens

    func observe(_ observation: Observation, id: Int) {
        let token = makeObserver(observation, id: id)
        guard let token, observation.keepsToken else { return }
        player.tokenGoes(to: observation.token, of: id)
        let old = tokens[observation.token].take()
        tokens[observation.token] = token
        letGo(old)
    }

    func dropToken(_ token: Int) { letGo(tokens[token].take()) }

    func isActive(_ token: Int) -> Bool { tokens[token]?.isActive ?? false }

    private func with(_ token: Int, _ body: (NotificationObserver) -> Void) {
        guard let token = tokens[token] else { return }
        withExtendedLifetime(token) { body(token) }
    }

    func stop(_ token: Int) { with(token) { $0.stop() } }
    func mute(token: Int, keepingNewest: Bool) { with(token) { $0.mute(keepingNewest: keepingNewest) } }
    func unmute(_ token: Int) { with(token) { $0.unmute() } }

    func bound(token: Int, to backlog: ModelOperation.Backlog) { with(token) { $0.backlog = backlog.inLibrary } }

    func redirect(token: Int, scheduler: Int?) {
        with(token) { $0.target = scheduler.map { schedulers[$0].target } ?? .poster }
    }

    // MARK: Many observers

    private func with(_ objects: AnyObject?..., body: () -> Void) {
        withExtendedLifetime(objects) { body() }
    }

    func stopAll(_ place: Int) {
        guard let object = object(at: place) else { return }
        with(object) { OwnerObservers(of: object).stop() }
    }

    func remove(center: Int, name: Int?, sender: Int?, owner: Int?) {
        let (sender, owner, center) = (sender.flatMap(object), owner.flatMap(object), notifying(center))
        with(sender, owner, center) {
            center.removeObservers(
                named: name.map { LibraryWorld.names[$0] }, from: sender as AnyObject? ?? Omitted.argument,
                owner: owner as AnyObject? ?? Omitted.argument)
        }
    }

    func removeToken(center: Int, token: Int, form: Int, name: Int?, sender: ModelOperation.Sender) {
        remove(tokens[token], form: form, from: centers[center], name: name, sender: self.sender(sender))
    }

    func removeObject(center: Int, owner: Int, form: Int, name: Int?, sender: ModelOperation.Sender) {
        remove(object(at: owner), form: form, from: centers[center], name: name, sender: self.sender(sender))
    }

    private func remove(
        _ observer: (any Wrappable)?, form: Int, from center: ObserverCenter, name: Int?, sender: Any?
    ) {
        guard let observer = observer.flatMap({ LibraryForms.wrap($0, form: form) }) else { return }
        with(center) {
            withExtendedLifetime((observer, sender)) {
                center.removeObserver(observer, name: name.map { LibraryWorld.names[$0] }, object: sender)
            }
        }
    }

    func muteAll(object place: Int, keepingNewest: Bool) {
        guard let object = object(at: place) else { return }
        with(object) { OwnerObservers(of: object).mute(keepingNewest: keepingNewest) }
    }

    func unmuteAll(_ place: Int) {
        guard let object = object(at: place) else { return }
        with(object) { OwnerObservers(of: object).unmute() }
    }

    // MARK: Schedulers

    func run(_ scheduler: Int) { schedulers[scheduler].run() }
    func runAll(_ scheduler: Int) { schedulers[scheduler].runAll() }
    func dropJobs(_ scheduler: Int) { schedulers[scheduler].drop() }

    // A thread tells by itself.
    func threadBegins() {}
    func threadEnds() {}

    // MARK: Looking

    func picture(ofCenter center: Int) -> CenterPicture {
        let audit = notifying(center).audit()
        return CenterPicture(
            rows: audit.map { row in
                CenterPicture.Row(
                    name: row.name?.rawValue, sender: row.sender, owner: row.owner, target: row.target,
                    pending: row.pending, dropped: row.dropped, muted: row.muteCount, isOnce: row.isOnce, key: row.key)
            },
            posts: CenterPicture.Posts(
                asap: audit.waitingPosts.reduce(0) { $0 + $1.asap },
                whenIdle: audit.waitingPosts.reduce(0) { $0 + $1.whenIdle }, dropped: audit.droppedPosts),
            closures: center < Places.centers ? nil : foreign[center - Places.centers].closures)
    }

    /// Whether a center keeps nothing (M9).
    func isEmpty(_ center: Int) -> Bool {
        if center < Places.centers { return centers[center].core.isEmpty }
        return ForeignCenters.shared.knownCore(of: notifying(center))?.isEmpty ?? true
    }

    func picture(ofToken token: Int) -> TokenPicture {
        guard let token = tokens[token] else { return TokenPicture() }
        return TokenPicture(
            isActive: token.isActive, isMuted: token.isMuted, target: token.target.description,
            backlog: token.backlog.description)
    }

    func attachedCount(to object: Int) -> Int {
        objects[object].map { OwnerObservers(of: $0).count } ?? 0
    }
}
