internal import Dispatch
internal import Foundation

/// A target as one observer uses it: with the mailbox that its deliveries pass through.
struct Route: Sendable {
    static let poster = Route(target: .poster, mailbox: nil)

    let target: DeliveryTarget
    /// `nil` for the poster.
    let mailbox: Mailbox?

    /// Whether a post made on the target is delivered inline whatever is pending (T3).
    private let isAtOnce: Bool

    var isPoster: Bool { mailbox == nil }

    /// Whether a post made here and now is delivered inline whatever is pending (T3).
    var isInlineAtOnce: Bool { isAtOnce && mailbox?.isCurrent == true }

    init(target: DeliveryTarget, mailbox: Mailbox?) {
        self.target = target
        self.mailbox = mailbox
        isAtOnce = if case .mainAtOnce = target.kind { true } else { false }
    }

    /// Finds the target's mailbox, or makes it; a concurrent target gets one for this observer alone (D4).
    init(to target: DeliveryTarget) {
        let mailbox: Mailbox? =
            switch target.kind {
            case .poster: nil
            case .main, .mainAtOnce: MainDrains.mailbox
            case .task(let drains): Mailbox(scheduler: drains)
            case .operationQueue(let queue) where queue.maxConcurrentOperationCount != 1:
                Mailbox(scheduler: OperationDrains(queue: queue, isSerial: false))
            case .operationQueue(let queue):
                Route.queueMailboxes.object(of: ObjectIdentifier(queue)) {
                    Mailbox(scheduler: OperationDrains(queue: queue, isSerial: true), whenUnused: $0)
                }
            case .dispatchQueue(let queue, concurrently: true):
                Mailbox(scheduler: DispatchDrains(queue: queue, isSerial: false))
            case .dispatchQueue(let queue, concurrently: false): DispatchDrains.mailbox(of: queue)
            case .custom(let scheduler):
                Route.schedulerMailboxes.object(of: ObjectIdentifier(scheduler)) {
                    Mailbox(scheduler: CustomDrains(scheduler: scheduler), whenUnused: $0)
                }
            case .thread(let loop, let modes): loop.mailbox(for: modes)
            case .actor(let actor):
                Route.actorMailboxes.object(of: actor.identity) {
                    Mailbox(scheduler: ActorDrains(reference: actor), whenUnused: $0)
                }
            }
        self.init(target: target, mailbox: mailbox)
    }

    /// This, by the mailbox of a route to the same queue: a concurrent queue has one for each observer, and a target that is
    /// set once more changes nothing (D6).
    func reusingMailbox(of other: Route) -> Route {
        guard let known = other.mailbox, let mailbox, mailbox.sharesQueue(with: known) else { return self }
        return Route(target: target, mailbox: known)
    }

    // Apart, because one object may be of several kinds.
    private static let queueMailboxes = SharedObjects<ObjectIdentifier, Mailbox>()
    private static let schedulerMailboxes = SharedObjects<ObjectIdentifier, Mailbox>()
    private static let actorMailboxes = SharedObjects<ObjectIdentifier, Mailbox>()
}
