// The state of a mailbox: a value without a lock, which `Mailbox`
// protects.

extension Mailbox {
    /// Where blocks go.
    enum Destination: Sendable {
        /// No blocks: each post calls the handler.
        case postingThread
        case on(BlockTarget)
        /// The posting thread becomes the target when the observer is idle. Until then posts join
        /// the deliveries on the old target.
        case leaving(BlockTarget)

        init(_ target: BlockTarget?) {
            if let target {
                self = .on(target)
            } else {
                self = .postingThread
            }
        }

        /// The target of blocks; `nil` for the posting thread.
        var target: BlockTarget? {
            switch self {
            case .postingThread: nil
            case .on(let target), .leaving(let target): target
            }
        }

        /// The target as it was set last.
        var lastSetTarget: BlockTarget? {
            switch self {
            case .on(let target): target
            case .postingThread, .leaving: nil
            }
        }

        /// The state until the observer is idle, and the posting thread becomes the target.
        var leavingTarget: Destination {
            switch self {
            case .postingThread: .postingThread
            case .on(let target), .leaving(let target): .leaving(target)
            }
        }

        var isLeaving: Bool {
            if case .leaving = self { true } else { false }
        }

        /// Whether the caller is where the handler runs.
        var isCurrent: Bool {
            switch self {
            case .postingThread: true
            case .on(let target), .leaving(let target): target.isCurrent
            }
        }
    }

    enum Lifetime: Sendable {
        case live
        /// The observer ends when idle, because its sender has been deallocated (M5).
        case endsWhenIdle
        /// The observer takes no further post, and ends when idle (R11).
        case finishing
        case ended
    }

    /// The part of the state that most observers never need.
    struct Extras: Sendable {
        var muting = Muting()
        var drops = DropCounts()
        /// The slots of blocks on the present target that began during a call of the handler.
        var begunMeanwhile = FIFO<DeliverySlot>()
        /// The number of kept notifications that unmutings are delivering on their own threads.
        var unmutingCalls = 0
        /// Objects to release when the observer is idle.
        var idleSignals: [any AnyObject & Sendable] = []
        /// After the end, until the last waiting block has begun or is dropped: this object.
        var selfForBlocks: Mailbox?
        /// After the end, until a running handler returns.
        var registrationForCall: Registration?
    }

    /// Protected by `state`'s lock. Small, because most observers with a target wait for a post,
    /// and have no delivery.
    struct State: ~Copyable, Sendable {
        private var madeQueue = OnDemand<DeliveryQueue>()
        private var madeExtras = OnDemand<Extras>()
        var destination: Destination
        /// The waiting deliveries at the target's place; see `BlockTarget.waiting(in:)`.
        var waitingAtPlace: WaitingCount?
        /// How many deliveries of `queue` are in that count.
        private var countedAtPlace = 0
        var lifetime = Lifetime.live
        /// A copy of the target's. To read the target would touch its reference count's cache line,
        /// which posts write.
        var inlineRule: BlockTarget.InlineRule
        /// Whether the call under way was begun on an earlier target. Then nothing is called inline
        /// until that call returns.
        var isCallElsewhere = false
        /// Whether an async handler's call goes on after its block has returned.
        var isAsyncCallUnderWay = false

        init(on target: BlockTarget?, in center: CenterCore) {
            destination = Destination(target)
            inlineRule = BlockTarget.InlineRule(of: target)
            waitingAtPlace = target?.waiting(in: center)
        }

        /// The pending deliveries, made by `makeQueue`. An access before that traps: see `hasQueue`.
        var queue: DeliveryQueue {
            @inline(__always)
            mutating _modify {
                yield &madeQueue.value
            }
            @inline(__always)
            _read {
                yield madeQueue.value
            }
        }

        /// Makes the queue, unless it is made.
        @inline(__always)
        mutating func makeQueue(of mailbox: Mailbox) {
            unsafe madeQueue.make(
                DeliveryQueue(destination.target?.order ?? .serial, of: .passUnretained(mailbox)))
        }

        var hasQueue: Bool { madeQueue.isMade }

        @inline(__always)
        var hasPending: Bool { madeQueue.isMade && !madeQueue.value.isEmpty }

        /// Whether a block, on this target or an earlier one, has a slot of the queue.
        var hasBlocks: Bool { madeQueue.isMade && madeQueue.value.hasBlocks }

        /// Whether a pending delivery is late; see `DeliveryOrder`.
        var hasLate: Bool { madeQueue.isMade && madeQueue.value.hasLate }

        var pendingCount: Int { madeQueue.isMade ? madeQueue.value.count : 0 }

        /// The rare part, made by the first change. A read before that traps: see `hasExtras`.
        var extras: Extras {
            @inline(__always)
            mutating _modify {
                madeExtras.make(Extras())
                yield &madeExtras.value
            }
            @inline(__always)
            _read {
                yield madeExtras.value
            }
        }

        @inline(__always)
        var hasExtras: Bool { madeExtras.isMade }
        @inline(__always)
        var isMuted: Bool { hasExtras && extras.muting.isMuted }
        var kept: Delivery? { hasExtras ? extras.muting.kept : nil }
        @inline(__always)
        var hasBegunMeanwhile: Bool { hasExtras && !extras.begunMeanwhile.isEmpty }

        /// Whether no delivery is pending, and no unmuting is delivering a kept notification on its
        /// own thread.
        @inline(__always)
        var hasNothingToCall: Bool {
            if hasPending { return false }
            return !hasExtras || extras.unmutingCalls == 0
        }

        /// Counts a change of the queue at the target's place.
        @inline(__always)
        mutating func publishWaitingCount() {
            guard let waitingAtPlace else { return }
            waitingAtPlace.add(pendingCount - countedAtPlace)
            countedAtPlace = pendingCount
        }

        /// Counts the queue no longer at the old target's place; `publishWaitingCount` counts it at
        /// the new one. At the same place the deliveries stay counted, so that no post sees none
        /// meanwhile.
        mutating func moveWaitingCount(to place: WaitingCount?) {
            if place === waitingAtPlace { return }
            waitingAtPlace?.add(-countedAtPlace)
            waitingAtPlace = place
            countedAtPlace = 0
        }

        var hasEnded: Bool {
            if case .ended = lifetime { true } else { false }
        }

        /// Why the observer will end when it is idle, if so.
        var causeOfEndWhenIdle: EndCause? {
            switch lifetime {
            case .endsWhenIdle: .senderEnded
            case .finishing: .finished
            case .live, .ended: nil
            }
        }

        var isFinishing: Bool {
            if case .finishing = lifetime { true } else { false }
        }

        /// After the end of its sender, too, an observer takes no post: with the Objective-C
        /// runtime, a new object may have the sender's address.
        var takesPosts: Bool {
            if case .live = lifetime { true } else { false }
        }

        /// Whether a post on some thread calls the handler.
        @inline(__always)
        var mayBeInline: Bool {
            if case .never = inlineRule { false } else { true }
        }

        /// Whether a post displaces no other notification.
        @inline(__always)
        var decidesAtOnce: Bool {
            if hasExtras, extras.muting.keepsNewest { return false }
            return !madeQueue.isMade || madeQueue.value.bound.limit == .max
        }

        /// Whether the observer, which finishes, ends with the return of an async call. Until then
        /// `cancel()` reaches the call (P4, R11).
        var endsAfterAsyncCall: Bool { isAsyncCallUnderWay && isFinishing }

        /// Whether the observer has work for the moment when it is idle.
        var hasWorkWhenIdle: Bool {
            if causeOfEndWhenIdle != nil || destination.isLeaving { return true }
            return hasExtras && !extras.idleSignals.isEmpty
        }
    }
}
