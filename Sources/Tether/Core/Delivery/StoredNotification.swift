internal import Foundation

/// A notification as an object, for deliveries that wait: they are a reference long, and those of posts of a name alone
/// share one.
///
/// SAFETY: a notification is handed from the poster to the target, one at a time; one that is shared is a name alone.
final class StoredNotification: @unchecked Sendable {
    let notification: Notification

    init(_ notification: Notification) { self.notification = notification }
}
