import Foundation
import Tether

extension LibraryWorld {
    @inline(never)
    func makeObserver(_ observation: Observation, id: Int) -> NotificationObserver? {
        let capture = LibraryCapture(id: id, player: player)
        guard let owner = observation.owner.flatMap(object) else { return makeObserver(observation, capture) }
        return makeObserver(observation, capture, of: owner)
    }

    private func target(_ observation: Observation) -> DeliveryTarget {
        observation.scheduler.map { schedulers[$0].target } ?? .poster
    }

    private func key(_ observation: Observation) -> (any Hashable)? {
        observation.key.map { LibraryForms.wrap(LibraryWorld.values[$0], form: observation.keyForm) }
    }

    /// The sender where only an object may be one.
    private func typedSender(_ sender: ModelOperation.Sender) -> AnyObject {
        if case .object(let place, _) = sender, let object = object(at: place) { object } else { Omitted.argument }
    }

    private func makeObserver(_ observation: Observation, _ capture: LibraryCapture) -> NotificationObserver {
        let name = observation.name.map { LibraryWorld.names[$0] }
        if observation.usesFoundationsCalls {
            let center = centers[observation.center]
            return center.addObserver(forName: name, object: sender(observation.sender), queue: nil) { notification in
                capture.call(notification, owner: nil)
            }
        }
        return notifying(observation.center).observe(
            name, from: typedSender(observation.sender), on: target(observation), once: observation.once,
            key: key(observation)
        ) { notification in
            capture.call(notification, owner: nil)
        }
    }

    private func makeObserver<Owner: LibraryObject>(
        _ observation: Observation, _ capture: LibraryCapture, of owner: Owner
    ) -> NotificationObserver? {
        let name = observation.name.map { LibraryWorld.names[$0] }
        if observation.usesFoundationsCalls {
            let center = centers[observation.center]
            center.addObserver(
                owner, action: { owner in { notification in capture.call(notification, owner: owner) } }, name: name,
                object: sender(observation.sender))
            return nil
        }
        return notifying(observation.center).observe(
            name, from: typedSender(observation.sender), owner: owner, on: target(observation), once: observation.once,
            key: key(observation)
        ) { owner, notification in
            capture.call(notification, owner: owner)
        }
    }
}
