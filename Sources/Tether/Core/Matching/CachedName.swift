internal import Foundation

/// A cache's entry for one string: the name that it is, and that name's node.
///
/// SAFETY: `node` and `withoutPayload` are references that this holds until `deinit`.
@safe final class CachedName: @unchecked Sendable {
    let bits: StringBits
    /// The notification that a post of the name alone delivers, made once.
    let withoutPayload: Unmanaged<StoredNotification>
    let node: Unmanaged<NameNode>

    init(name: Notification.Name, node: NameNode) {
        bits = StringBits(name.rawValue)
        unsafe withoutPayload = .passRetained(StoredNotification(Notification(name: name)))
        unsafe self.node = .passRetained(node)
    }

    deinit {
        unsafe withoutPayload.release()
        unsafe node.release()
    }
}
