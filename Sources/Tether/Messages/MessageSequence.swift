public import Foundation

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ObserverCenter {
    /// The async messages that are posted from now on, as an async sequence.
    ///
    /// ```swift
    /// let ends = center.messages(of: download, for: .didEnd)
    /// for await message in ends { … }
    /// ```
    ///
    /// Observation begins with this call: nothing that is posted after it is missed, also not before the iteration,
    /// within the buffer's policy (S1). A plain notification of the message's name counts if a
    /// message can be made of it (`BridgedAsyncMessage`). See `NotificationSequence` for the end.
    ///
    /// Foundation keeps the newest 10 if no size is given; here it is all.
    ///
    /// Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - subject: The subject of the messages. An object is matched by identity and not retained: the sequence ends
    ///     when it has (M5). Leave it out for any subject.
    ///   - identifier: Which messages: an identifier of theirs, or `.type(…)`.
    ///   - owner: An object whose life bounds the sequence, without being retained. Leave it out for none.
    ///   - policy: How much is kept until it is taken. A number of less than 1 stops the program.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    public func messages<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, owner: Owner = Omitted.argument, buffering policy: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> NotificationSequence<Message> where Identifier.MessageType == Message {
        // The hook is used for its conversion alone: the buffer is the registration's hook.
        let hook = AsyncMessageHook<Message>()
        return NotificationSequence(
            SequenceSource(
                self, MessageKind.of(Message.self).name, from: AnySubject.filter(subject), owner: owner, policy,
                at: RegistrationSite(file: fileID, line: line), prepare: { hook.prepare($0) }, call: #function)
        ) { MessageEnvelope.message(in: $0) }
    }
}
