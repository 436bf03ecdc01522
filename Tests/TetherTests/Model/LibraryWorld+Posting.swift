import Foundation

@testable import Tether

extension LibraryWorld {
    func post(
        center place: Int, name index: Int, sender: ModelOperation.Sender, number: Int, form: ModelOperation.PostForm
    ) {
        if place >= Places.centers { return postForeign(place, index, sender, number) }
        let (center, name, object) = (
            centers[place], LibraryWorld.names[index], self.sender(sender)
        )
        withExtendedLifetime((center, object)) {
            let userInfo = [LibraryPayload.key: LibraryPayload(number: number, player: player) as Any]
            switch form {
            case .call: center.post(name: name, object: object, userInfo: userInfo)
            case .notification: center.post(Notification(name: name, object: object, userInfo: userInfo))
            }
        }
    }

    private func postForeign(_ center: Int, _ name: Int, _ sender: ModelOperation.Sender, _ number: Int) {
        var object: (any LibraryObject)?
        if case .object(let place, _) = sender { object = self.object(at: place) }
        let center = foreign[center - Places.centers]
        withExtendedLifetime((center, object)) {
            center.post(
                LibraryWorld.names[name], object: object,
                userInfo: [LibraryPayload.key: LibraryPayload(number: number, player: player) as Any])
        }
    }

    private func with(_ place: Int, _ sender: ModelOperation.Sender, _ body: (PostingQueue, Any?) -> Void) {
        let (queue, object) = (queues[place], self.sender(sender))
        withExtendedLifetime((queue, object)) { body(queue, object) }
    }

    func enqueue(
        center: Int, name: Int, sender: ModelOperation.Sender, number: Int, style: ModelOperation.Style,
        mask: ModelOperation.Mask
    ) {
        let userInfo: [AnyHashable: Any] = [LibraryPayload.key: number]
        userInfos[number] = userInfo
        with(center, sender) { queue, object in
            queue.enqueue(
                Notification(name: LibraryWorld.names[name], object: object, userInfo: userInfo),
                postingStyle: style.inLibrary, coalesceMask: mask.inLibrary)
        }
    }

    func dequeue(center: Int, name: Int, sender: ModelOperation.Sender, mask: ModelOperation.Mask) {
        with(center, sender) { queue, object in
            queue.dequeueNotifications(
                matching: Notification(name: LibraryWorld.names[name], object: object), coalesceMask: mask.inLibrary)
        }
    }

    func dequeueExactly(center: Int, name: Int, sender: ModelOperation.Sender, number: Int) {
        with(center, sender) { queue, object in
            queue.dequeueNotifications(
                matching: Notification(name: LibraryWorld.names[name], object: object, userInfo: userInfos[number]),
                coalesceMask: .none)
        }
    }

    func flush(_ center: Int) {
        let queue = queues[center]
        withExtendedLifetime(queue) { queue.flush() }
    }

    func renewQueue(_ center: Int) {
        let old = queues[center]
        queues[center] = makeQueue(centers[center])
        letGo(old)
    }

    func renewCenter(_ place: Int) {
        if place >= Places.centers { return renewForeign(place) }
        let center = centers[place]
        centers[place] = mode.makeCenter()
        renewQueue(place)
        letGo(center)
    }
}

extension ModelOperation.Backlog {
    var inLibrary: BufferingPolicy {
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
