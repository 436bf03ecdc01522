public import Foundation

// As the forms for plain notifications: async handlers that are named functions of a module with the upcoming feature
// `NonisolatedNonsendingByDefault`.

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    @_documentation(visibility: internal)
    @_disfavoredOverload
    public func observe<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, nonsending _: Never? = nil,
        _ handler: nonisolated(nonsending) @escaping @Sendable (Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            AsyncObservationRequest(
                Message.self, of: AnySubject.sender(subject), once: once, key: key, at: fileID, line)
        ) { await handler($0) }
    }

    @_documentation(visibility: internal)
    @discardableResult
    @_disfavoredOverload
    public func observe<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, owner: Owner, once: Bool = false, key: (any Hashable)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, nonsending _: Never? = nil,
        _ handler: nonisolated(nonsending) @escaping @Sendable (Owner, Message) async -> Void
    ) -> NotificationObserver where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeMessages(
            AsyncObservationRequest(
                Message.self, of: AnySubject.sender(subject), once: once, key: key, at: fileID, line),
            for: owner
        ) { await handler($0, $1) }
    }
}
