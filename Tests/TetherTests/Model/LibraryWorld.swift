import Dispatch
import Foundation

@testable import Tether

/// The library as a world of operations.
///
/// The arguments of a call are retained for the call, and released after its return.
final class LibraryWorld: World {
    static let names = (0..<Places.names).map { Notification.Name("model.\($0)") }
    /// Senders and keys; some are equal across types, and so not the same (M4).
    static let values: [any Hashable & Sendable] = [
        1, Int8(1), 1.0, "1", Substring("1"), [1], [1.0],
        "a longer value that is not kept in place",
    ]
    static let targets = [
        "custom LibraryScheduler", "custom LibraryBatchingScheduler", "concurrent LibraryScheduler",
        "custom LibraryImmediateScheduler", LibraryLoop.description,
    ]

    private let player: Player
    /// Never run while their posting queues are in use, which are flushed by hand.
    private var suspended: [DispatchQueue] = []
    private var centers: [any PostingCenter] = []
    private var queues: [PostingQueue] = []
    private let schedulers: [any LibraryTarget]
    private let sequences: [LibraryPlace]
    private var tokens: [NotificationObserver?] = Array(repeating: nil, count: Places.tokens)
    private var objects: [(any LibraryObject)?] = Array(repeating: nil, count: Places.objects)
    /// The objects whose `deinit` is running, which releases them.
    private var dying: [any LibraryObject] = []
    private var descriptions: [Int: String] = [:]

    init(
        player: Player, foreign: any PostingCenter = LibraryForeignCenter(),
        serial: any LibraryTarget = LibraryScheduler(),
        batching: any LibraryTarget = LibraryBatchingScheduler()
    ) {
        self.player = player
        schedulers = [
            serial, batching, LibraryConcurrentScheduler(), LibraryImmediateScheduler(),
            LibraryLoop(),
        ]
        sequences = (0..<Places.sequences).map { _ in LibraryPlace(player: player) }
        for place in 0..<Places.centers {
            centers.append(ObserverCenter())
            suspended.append(.suspended())
            queues.append(PostingQueue(notificationCenter: own(place), queue: suspended[place]))
        }
        centers.append(foreign)
    }

    deinit {
        queues = []
        for queue in suspended { queue.resume() }
    }

    /// A center of Tether.
    private func own(_ place: Int) -> ObserverCenter { centers[place] as! ObserverCenter }

    /// Releases everything, at the end of an aborted run.
    func clear() {
        for place in sequences { place.leave() }
        for token in tokens.indices { release(tokens[token].take()) }
        for place in objects.indices { release(objects[place].take()) }
        for center in centers.indices { renewCenter(center) }
        for scheduler in schedulers { scheduler.drop() }
    }

    /// Releases an object that was removed from its place before, so that its `deinit` may use the
    /// place.
    @inline(never)
    private func release(_ last: consuming AnyObject?) {
        withExtendedLifetime(last) {}
    }

    // MARK: Objects

    func description(ofObject id: Int) -> String { descriptions[id] ?? "" }

    private func make(_ id: Int, at place: Int) {
        let object = LibraryHome(world: self).makeObject(id)
        descriptions[id] =
            "\(type(of: object)) 0x\(String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16))"
        objects[place] = object
    }

    /// Called in an object's `deinit`.
    func ended(_ object: any LibraryObject) {
        dying.append(object)
        player.ended(object.id)
        dying.removeLast()
    }

    private func object(at place: Int) -> (any LibraryObject)? {
        place == ModelOperation.dying ? dying.last : objects[place]
    }

    /// An argument of a call for objects.
    private func argument(_ place: Int?) -> AnyObject { place.flatMap(object) ?? Omitted.argument }

    /// A sender of any type, in a form chosen by the number.
    private func sender(_ sender: ModelOperation.Sender, _ number: Int) -> Any? {
        switch sender {
        case .nobody: number.isMultiple(of: 2) ? nil : Int?.none as Any
        case .object(let place): object(at: place).flatMap { LibraryForms.wrap($0, form: number) }
        case .value(let value): LibraryForms.wrap(LibraryWorld.values[value], form: number)
        }
    }

    // MARK: Performing

    func perform(_ operation: ModelOperation, number: Int) {
        let uses = operation.uses
        let token = uses.token.flatMap { tokens[$0] }
        let used: [Any?] = [
            uses.objects.map(object), uses.center.map { centers[$0] },
            uses.queue.map { queues[$0] },
        ]
        withExtendedLifetime((used, token)) { perform(operation, number, token) }
    }

    private func remove(
        _ center: any NotifyingCenter, _ name: Int?, from sender: Int?, of owner: Int?
    ) {
        if let name {
            center.removeObservers(
                named: LibraryWorld.names[name], from: argument(sender), owner: argument(owner))
        } else if sender != nil {
            center.removeObservers(from: argument(sender), owner: argument(owner))
        } else if owner != nil {
            center.removeObservers(owner: argument(owner))
        } else {
            center.removeAllObservers()
        }
    }

    private func perform(_ operation: ModelOperation, _ number: Int, _ token: NotificationObserver?)
    {
        switch operation {
        case .observe(let observation): observe(observation, number)
        case .stop: if number.isMultiple(of: 3) { token?.cancelAndWait() } else { token?.cancel() }
        case .finish: token?.live?.beginFinishing()
        case .drop(let token): release(tokens[token].take())
        case .stopAll(let place):
            if let object = object(at: place) { OwnerObservers(of: object).cancel() }
        case .remove(let center, let name, let sender, let owner):
            remove(centers[center], name, from: sender, of: owner)
        case .removeToken(let center, _, let name, let sender):
            remove(token, center, name, sender, number)
        case .removeObject(let center, let owner, let name, let sender):
            remove(object(at: owner), center, name, sender, number)
        case .mute(_, let keepingNewest): token?.mute(keepingNewest: keepingNewest)
        case .unmute: token?.unmute()
        case .muteAll(let place, let keepingNewest):
            if let object = object(at: place) {
                OwnerObservers(of: object).mute(keepingNewest: keepingNewest)
            }
        case .unmuteAll(let place):
            if let object = object(at: place) { OwnerObservers(of: object).unmute() }
        case .bound(_, let backlog): token?.backlog = backlog.inLibrary
        case .redirect(_, let scheduler): token?.target = target(scheduler)
        case .redirectAll(let place, let scheduler):
            if let object = object(at: place) {
                OwnerObservers(of: object).target = target(scheduler)
            }
        case .run(let scheduler): schedulers[scheduler].run()
        case .runOne(let scheduler, let newest): schedulers[scheduler].runOne(newest: newest)
        case .cancelOne(let scheduler, let newest): schedulers[scheduler].cancelOne(newest: newest)
        case .runAll(let scheduler): for _ in 0..<Places.runs { schedulers[scheduler].run() }
        case .cancelJobs(let scheduler): schedulers[scheduler].drop()
        case .make(let place, _): make(number, at: place)
        case .end(let place): release(objects[place].take())
        default: performOnOthers(operation, number)
        }
    }

    private func performOnOthers(_ operation: ModelOperation, _ number: Int) {
        switch operation {
        case .post(let center, let name, let sender, let isPlain):
            post(
                center, LibraryWorld.names[name], sender, number,
                userInfo: isPlain ? nil : payload(number))
        case .enqueue(let queue, let name, let sender, let style, let mask):
            let notification = Notification(
                name: LibraryWorld.names[name], object: self.sender(sender, number),
                userInfo: payload(number))
            // Both is the default.
            if mask == .both, number.isMultiple(of: 2) {
                queues[queue].enqueue(notification, postingStyle: style.inLibrary)
            } else {
                queues[queue].enqueue(
                    notification, postingStyle: style.inLibrary, coalesceMask: mask.inLibrary)
            }
        case .dequeue(let queue, let name, let sender, let mask):
            queues[queue].dequeueNotifications(
                matching: Notification(
                    name: LibraryWorld.names[name], object: self.sender(sender, number)),
                coalesceMask: mask.inLibrary)
        case .flush(let queue): queues[queue].flush()
        case .renewQueue(let queue): renewQueue(queue)
        case .renewCenter(let center): renewCenter(center)
        case .sequence(let asked):
            sequences[asked.place].leave()
            sequences[asked.place].put(makeSequence(asked), id: number)
        case .take(let place): sequences[place].take()
        case .runTasks(let place): sequences[place].run()
        case .cancelTask(let place): sequences[place].cancel()
        case .dropSequence(let place): sequences[place].drop()
        case .leaveSequence(let place): sequences[place].leave()
        default: break
        }
    }

    private func remove(
        _ observer: (any Wrappable)?, _ center: Int, _ name: Int?, _ sender: ModelOperation.Sender,
        _ number: Int
    ) {
        guard let own = centers[center] as? ObserverCenter,
            let observer = observer.flatMap({ LibraryForms.wrap($0, form: number) })
        else { return }
        let sender = self.sender(sender, number)
        own.removeObserver(observer, name: name.map { LibraryWorld.names[$0] }, object: sender)
        withExtendedLifetime((observer, sender)) {}
    }

    private func payload(_ number: Int) -> [AnyHashable: Any] {
        [LibraryPayload.key: LibraryPayload(number: number, player: player)]
    }

    private func post(
        _ place: Int, _ name: Notification.Name, _ sender: ModelOperation.Sender, _ number: Int,
        userInfo: [AnyHashable: Any]?
    ) {
        let object = self.sender(sender, number)
        withExtendedLifetime(object) {
            if number.isMultiple(of: 3), let own = centers[place] as? ObserverCenter {
                own.post(Notification(name: name, object: object, userInfo: userInfo))
            } else {
                centers[place].post(name: name, object: object, userInfo: userInfo)
            }
        }
    }

    private func renewQueue(_ queue: Int) {
        let (old, turns) = (queues[queue], suspended[queue])
        suspended[queue] = .suspended()
        queues[queue] = PostingQueue(notificationCenter: own(queue), queue: suspended[queue])
        for name in LibraryWorld.names {
            old.dequeueNotifications(matching: Notification(name: name), coalesceMask: .onName)
        }
        // Two turns, which retain the queue, and post nothing.
        turns.resume()
        for _ in 0..<2 { turns.sync {} }
        release(old)
    }

    private func renewCenter(_ place: Int) {
        let old = centers[place]
        if place == Places.foreign {
            centers[place] = LibraryForeignCenter()
        } else {
            centers[place] = ObserverCenter()
            renewQueue(place)
        }
        release(old)
    }

    private func makeSequence(_ asked: SequenceObservation) -> NotificationSequence<Notification> {
        centers[asked.center].notifications(
            named: asked.name.map { LibraryWorld.names[$0] }, from: argument(asked.sender),
            owner: argument(asked.owner),
            buffering: asked.buffer.inLibrary)
    }

    // MARK: Observing

    private func observe(_ observation: Observation, _ number: Int) {
        let token = makeObserver(observation, number)
        guard let token, observation.keepsToken else { return }
        player.tokenGoes(to: observation.token, of: number)
        let old = tokens[observation.token].take()
        tokens[observation.token] = token
        release(old)
    }

    private func target(_ scheduler: Int?) -> DeliveryTarget {
        scheduler.map { schedulers[$0].target } ?? .postingThread
    }

    @inline(never)
    private func makeObserver(_ asked: Observation, _ number: Int) -> NotificationObserver? {
        let capture = LibraryCapture(id: number, player: player)
        let owner = asked.owner.flatMap(object)
        let name = asked.name.map { LibraryWorld.names[$0] }
        if asked.isFoundations {
            let sender = sender(asked.sender, number)
            if let owner {
                observe(own(asked.center), name, sender, of: owner, capture)
                return nil
            }
            return own(asked.center).addObserver(forName: name, object: sender, queue: nil) {
                capture.call($0)
            }
        }
        let key = asked.key.map { LibraryForms.wrap(LibraryWorld.values[$0], form: number) }
        let (center, sender) = (centers[asked.center], argument(asked.sender.place))
        if let owner {
            return observe(center, name, sender, of: owner, asked, key, capture)
        }
        return center.observe(
            name, from: sender, on: target(asked.scheduler), once: asked.once, key: key,
            backlog: asked.backlog.inLibrary
        ) {
            capture.call($0)
        }
    }

    private func observe<Owner: LibraryObject>(
        _ center: ObserverCenter, _ name: Notification.Name?, _ sender: Any?, of owner: Owner,
        _ capture: LibraryCapture
    ) {
        let request = ObservationRequest(
            name: name, sender: SenderFilter(any: sender, at: CallSite(#fileID, #line)),
            target: .postingThread,
            site: CallSite(#fileID, #line))
        _ = center.observe(request, for: owner) { capture.call($1, owner: $0) }
    }

    private func observe<Owner: LibraryObject>(
        _ center: any NotifyingCenter, _ name: Notification.Name?, _ sender: AnyObject,
        of owner: Owner,
        _ asked: Observation, _ key: (any Hashable)?, _ capture: LibraryCapture
    ) -> NotificationObserver {
        center.observe(
            name, from: sender, owner: owner, on: target(asked.scheduler), once: asked.once,
            key: key, backlog: asked.backlog.inLibrary
        ) { owner, notification in
            capture.call(notification, owner: owner)
        }
    }

    // MARK: Looking

    func isActive(_ token: Int) -> Bool { tokens[token]?.isActive ?? false }

    func picture() -> Picture {
        let audits = centers.map { $0.audit() }
        return Picture(
            rows: audits.map { audit in
                audit.map { row in
                    Picture.Row(
                        name: row.name?.rawValue, sender: row.sender, owner: row.owner,
                        target: row.target,
                        pending: row.pending, dropped: row.dropped, muted: row.muteCount,
                        isOnce: row.isOnce,
                        key: row.key)
                }
            },
            centers: zip(centers, audits).map { center, audit in
                let closures = (center as? LibraryForeignCenter)?.closures ?? (0, 0)
                return Picture.Center(
                    asap: audit.waitingPosts.reduce(0) { $0 + $1.asap },
                    whenIdle: audit.waitingPosts.reduce(0) { $0 + $1.whenIdle },
                    closures: closures.0, strangers: closures.1)
            },
            tokens: tokens.map { token in
                token.map { token in
                    Picture.Token(
                        isMuted: token.isMuted, target: token.target.description,
                        backlog: token.backlog.description, dropped: token.droppedCount)
                }
            },
            attached: objects.map { $0.map { OwnerObservers(of: $0).count } ?? 0 },
            blocks: schedulers.map(\.count))
    }

    /// Whether a center keeps nothing (M9).
    func isEmpty(_ center: Int) -> Bool {
        (centers[center] as? ObserverCenter)?.isEmpty
            ?? ForeignCenters.shared.knownCore(of: centers[center])?.isEmpty ?? true
    }
}

extension ModelOperation.Backlog {
    fileprivate var inLibrary: BufferingPolicy {
        switch self {
        case .unbounded: .unbounded
        case .newest(let count): .newest(count)
        case .oldest(let count): .oldest(count)
        }
    }
}

extension ModelOperation.Style {
    fileprivate var inLibrary: PostingQueue.PostingStyle {
        switch self {
        case .asap: .asap
        case .whenIdle: .whenIdle
        case .now: .now
        }
    }
}

extension ModelOperation.Mask {
    fileprivate var inLibrary: PostingQueue.NotificationCoalescing {
        switch self {
        case .none: .none
        case .name: .onName
        case .sender: .onSender
        case .both: [.onName, .onSender]
        }
    }
}
