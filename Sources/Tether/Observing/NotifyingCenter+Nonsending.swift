public import Foundation

// Async handlers that are named functions of a module with the upcoming feature `NonisolatedNonsendingByDefault`: the
// compiler takes such a function as one that runs where it is called, which converts to no `@isolated(any)`. A closure fits
// both, and the other forms better.

extension NotifyingCenter {
    @_documentation(visibility: internal)
    @_disfavoredOverload
    public func observe<Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        nonsending _: Never? = nil, _ handler: nonisolated(nonsending) @escaping @Sendable (Notification) async -> Void
    ) -> NotificationObserver {
        let called: @Sendable @isolated(any) (Notification) async -> Void = { await handler($0) }
        return observe(name, from: sender, once: once, key: key, fileID: fileID, line: line, called)
    }

    @_documentation(visibility: internal)
    @discardableResult
    @_disfavoredOverload
    public func observe<Owner: AnyObject, Sender: AnyObject>(
        _ name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner,
        once: Bool = false, key: (any Hashable)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        nonsending _: Never? = nil,
        _ handler: nonisolated(nonsending) @escaping @Sendable (Owner, Notification) async -> Void
    ) -> NotificationObserver {
        let called: @Sendable @isolated(any) (Owner, Notification) async -> Void = { await handler($0, $1) }
        return observe(name, from: sender, owner: owner, once: once, key: key, fileID: fileID, line: line, called)
    }
}
