internal import Dispatch
internal import Foundation

/// Calls foreign centers about observers that have ended, from a queue where none of their locks can be held (F2).
final class ForeignCleaner: Sendable {
    static let shared = ForeignCleaner()

    enum Removal: Sendable {
        /// An observer has ended, and its closure is to be taken off.
        case emptied(ForeignReceiver)
        /// A center let the closure of an observer go that had not ended.
        case lost(Unretained<Registration>, of: CenterCore)
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
            case .lost(let registration, let core): ForeignCleaner.recover(registration, of: core)
            }
        }
    }

    /// Registers a live observer anew where Foundation's center lost it; ends it where the center is another.
    ///
    /// Foundation uses the keys of its tokens again, so that anyone who removes a token of his own twice may remove one
    /// of ours.
    private static func recover(_ registration: Unretained<Registration>, of core: CenterCore) {
        let found = registration.look { found in
            core.subject(of: found).map { (ForeignReceiver.of(found), $0.name, found.details?.sender) }
        }
        guard let (foreign, name, watched) = found,
            let center = ForeignCenters.shared.center(of: core) as? NotificationCenter
        else {
            registration.withMemory { $0.end() }
            return
        }
        let sender = watched?.reference.take()
        // A sender that is going posts no more but in its `deinit`, and ends the observer itself.
        if watched != nil, sender == nil { return }
        foreign?.connect(registration, with: center, name: name, sender: sender)
    }
}
