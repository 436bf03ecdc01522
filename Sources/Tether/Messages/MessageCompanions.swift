internal import Dispatch
internal import Foundation

/// Asks about each post, on the posting thread, whether it is a message of a type, or makes one.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
final class AsyncMessageCompanion<Message: NotificationCenter.AsyncMessage>: RegistrationCompanion, @unchecked Sendable
{
    override var prepares: Bool { true }

    override func prepare(_ notification: Notification, for registration: Registration) -> Notification? {
        if MessageEnvelope.carries(Message.self, in: notification) { return notification }
        guard let message: Message = MessageBridge.message(notification) else { return nil }
        return MessageEnvelope.notification(notification, carrying: message)
    }
}

/// Asks about each post whether it is a message, for an observer that runs once and must not be used up by others (R7).
///
/// Only the main actor can tell what a plain notification makes, so one that is posted elsewhere is asked about there. What
/// muting does to it is settled when it is posted (D9).
///
/// SAFETY: notifications are handed from the poster to the main actor.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
final class OnceOnMainActorCompanion<Message: NotificationCenter.MainActorMessage>: RegistrationCompanion,
    @unchecked Sendable
{
    private struct State: @unchecked Sendable {
        var notifications: [Notification] = []
        /// The place of the newest one that was posted while muted, and kept.
        var kept: Int?
        var isAsking = false
        /// Whether the sender has gone, so that the registration ends when nothing is left to be asked about.
        var isLast = false
        var hasEnded = false
    }

    private let unasked = Guarded(State())

    override var prepares: Bool { true }

    override func prepare(_ notification: Notification, for registration: Registration) -> Notification? {
        if MessageEnvelope.carries(Message.self, in: notification) { return notification }
        guard MainDrains().isCurrent else {
            switch registration.inbox.load()?.fateOfPost() ?? .delivered {
            case .delivered: askLater(notification.withoutEndingObject)
            case .kept: askLater(notification.withoutEndingObject, keeping: true)
            case .dropped: break
            }
            return nil
        }
        nonisolated(unsafe) var prepared: Notification?
        onMainActor(notification) { notification in
            guard let message: Message = MessageBridge.message(notification) else { return }
            unsafe prepared = MessageEnvelope.notification(notification, carrying: message)
        }
        return unsafe prepared
    }

    private func askLater(_ notification: Notification, keeping: Bool = false) {
        nonisolated(unsafe) let notification = notification
        let (isFirst, displaced) = unasked.withLock { state -> (Bool, Displaced?) in
            guard !state.hasEnded else { return (false, nil) }
            var displaced: Displaced?
            if keeping {
                displaced = state.kept.map { Displaced(notification: state.notifications.remove(at: $0)) }
                state.kept = state.notifications.count
            }
            unsafe state.notifications.append(notification)
            return (displaced == nil && state.notifications.count == 1, displaced)
        }
        withExtendedLifetime(displaced) {}
        if isFirst { DispatchQueue.main.async { [self] in ask() } }
    }

    /// SAFETY: only released.
    private struct Displaced: @unchecked Sendable {
        let notification: Notification
    }

    private func ask() {
        let notifications = unasked.withLock { state in
            state.isAsking = true
            defer { (state.notifications, state.kept) = ([], nil) }
            return state
        }.notifications
        for notification in notifications {
            guard let registration else { return }
            registration.center.deliver(notification, to: registration)
        }
        let isLast = unasked.withLock { state in
            state.isAsking = false
            return state.isLast && state.notifications.isEmpty
        }
        if isLast { registration?.endAfterPending() }
    }

    override func defersEnd() -> Bool {
        unasked.withLock { state in
            guard state.isAsking || !state.notifications.isEmpty else { return false }
            state.isLast = true
            return true
        }
    }

    override func ended(_ registration: Registration) {
        let dropped = unasked.withLock { state in
            defer { state = State(hasEnded: true) }
            return state
        }
        withExtendedLifetime(dropped) {}
    }

    override var counts: (pending: Int, dropped: Int) { (unasked.withLock(\.notifications.count), 0) }
}
