public import Foundation

/// A name that a center has looked up once, for posting it often.
///
/// ```swift
/// let changes = center.channel(for: .modelDidChange)
/// changes.post(object: model)
/// ```
///
/// *Delivery*: as `ObserverCenter.post(name:object:userInfo:)`. After the center has gone a post does nothing.
///
/// *Thread safety*: any thread.
public final class Channel: Sendable {
    /// The name that it posts.
    public let name: Notification.Name
    private let core: CenterCore
    private let node: NameNode

    fileprivate init(name: Notification.Name, core: CenterCore) {
        self.name = name
        self.core = core
        node = core.holdNode(name)
    }

    deinit { core.releaseNode(node) }

    /// Posts a notification, which must have the channel's name.
    public func post(_ notification: Notification) {
        guard notification.name == name else {
            // Not covered: ends the process; MisuseTableTests run it apart.
            fatalError(
                "Channel.post(_:): the notification's name is \(notification.name.rawValue), the channel's is "
                    + "\(name.rawValue); post it through the center, or through a channel for its name.")
        }
        core.post(
            name: name, node: node, sender: { notification.object.flatMap(SenderKey.init(any:)) },
            notification: { notification })
    }

    /// Makes a notification of this name and posts it.
    public func post(object: Any? = nil, userInfo: [AnyHashable: Any]? = nil) {
        core.post(
            name: name, node: node, sender: { object.flatMap(SenderKey.init(any:)) },
            notification: { Notification(name: name, object: object, userInfo: userInfo) })
    }
}

extension ObserverCenter {
    /// Looks a name up once, for posting it often.
    public func channel(for name: Notification.Name) -> Channel { Channel(name: name, core: core) }
}
