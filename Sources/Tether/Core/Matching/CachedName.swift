internal import Foundation

/// What a cache knows of one string: the name that it is, and that name's node.
///
/// SAFETY: `node` is a reference that this holds until `deinit`.
@safe final class CachedName: @unchecked Sendable {
    let bits: StringBits
    /// What a post of the name alone delivers, made once.
    let bare: Notification
    let node: Unmanaged<NameNode>

    init(name: Notification.Name, node: NameNode) {
        bits = StringBits(name.rawValue)
        bare = Notification(name: name)
        unsafe self.node = .passRetained(node)
    }

    deinit { unsafe node.release() }
}
