internal import Dispatch
internal import Foundation

/// Calls foreign centers about observers that have ended, from a queue where none of their locks can be held (F2).
final class ForeignCleaner: Sendable {
    static let shared = ForeignCleaner()

    /// SAFETY: a reference in `lost` is taken back by the one who runs the removal.
    @safe enum Removal: Sendable {
        /// An observer has ended, and its closure is to be taken off.
        case emptied(ForeignReceiver)
        /// A center let the closure of a live observer go; with a reference to the registration.
        case lost(Unmanaged<Registration>)
    }

    let queue = DispatchQueue(label: "Tether.ForeignCleaner")
    private let removals = Guarded<[Removal]>([])

    /// Leaves a removal to the queue. A burst costs one wake-up.
    func add(_ removal: Removal) {
        let isFirst = removals.withLock { removals in
            removals.append(removal)
            return removals.count == 1
        }
        if isFirst { queue.async { [self] in run() } }
    }

    /// Runs all removals; on the queue.
    func run() {
        let removals = removals.withLock { removals in
            let taken = removals
            removals = []
            return taken
        }
        for removal in removals {
            switch removal {
            case .emptied(let receiver): receiver.takeOff()
            case .lost(let registration): ForeignCleaner.recover(unsafe registration.takeRetainedValue())
            }
        }
    }

    /// Registers a live observer anew where Foundation's center lost it; ends it where the center is another.
    ///
    /// Foundation uses the keys of its tokens again, so that anyone who removes a token of his own twice may remove one
    /// of ours.
    private static func recover(_ registration: Registration) {
        let center = ForeignCenters.shared.center(of: registration.center)
        guard let center = center as? NotificationCenter,
            let subject = registration.center.subject(of: registration),
            let foreign = ForeignReceiver.of(registration)
        else {
            return registration.end()
        }
        let watched = registration.details?.sender
        let sender = watched?.reference.take()
        // A sender that is going posts no more but in its `deinit`, and ends the observer itself.
        if watched != nil, sender == nil { return }
        foreign.reconnect(registration, with: center, name: subject.name, sender: sender)
    }
}
