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
    /// Observation begins with this call: nothing that is posted after it is missed, also not before the iteration, as
    /// far as the buffer's size goes ([S1](doc:Contract#S1)). A plain notification of the message's name counts if a
    /// message can be made of it (`BridgedAsyncMessage`). See `ObservationSequence` for its end.
    ///
    /// Foundation keeps the newest 10 unless told otherwise; here it is all, unless told otherwise.
    ///
    /// Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - subject: The object that the messages are about. It is matched by identity and not retained: the sequence ends
    ///     when it has ([M5](doc:Contract#M5)). Leave it out for any subject.
    ///   - identifier: Which messages.
    ///   - owner: An object whose life bounds the sequence, without being retained. Leave it out for none.
    ///   - policy: How much is kept until it is taken. A number of less than 1 stops the program.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    public func messages<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for identifier: Identifier, owner: Owner = Omitted.argument, bufferSize policy: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> ObservationSequence<Message> where Identifier.MessageType == Message, Message.Subject: AnyObject {
        messages(about: AnySubject.sender(subject), for: owner, policy, at: fileID, line)
    }

    /// The async messages about any subject that are posted from now on, as Foundation's center has it.
    /// - Parameters:
    ///   - subject: The type of the subjects, any of which is observed.
    ///   - identifier: Which messages: an identifier of theirs, or `.type(…)`.
    ///   - owner: An object whose life bounds the sequence, without being retained. Leave it out for none.
    ///   - policy: How much is kept until it is taken; all of it, if left out. A number of less than 1 stops the
    ///     program.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    public func messages<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage, Owner: AnyObject
    >(
        of subject: Message.Subject.Type, for identifier: Identifier, owner: Owner = Omitted.argument,
        bufferSize policy: BufferingPolicy = .unbounded, fileID: StaticString = #fileID, line: UInt = #line
    ) -> ObservationSequence<Message> where Identifier.MessageType == Message {
        messages(about: Omitted.argument, for: owner, policy, at: fileID, line)
    }

    /// The async messages that are posted from now on, given their type.
    /// - Parameters:
    ///   - subject: The object that the messages are about, matched by identity and not retained
    ///     ([M5](doc:Contract#M5)). Leave it out for any subject.
    ///   - type: Which messages: their type.
    ///   - owner: An object whose life bounds the sequence, without being retained. Leave it out for none.
    ///   - policy: How much is kept until it is taken; all of it, if left out. A number of less than 1 stops the
    ///     program.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    public func messages<Message: NotificationCenter.AsyncMessage, Owner: AnyObject>(
        of subject: @autoclosure () throws(AnySubject) -> Message.Subject = try AnySubject.subject(),
        for type: Message.Type, owner: Owner = Omitted.argument, bufferSize policy: BufferingPolicy = .unbounded,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> ObservationSequence<Message> where Message.Subject: AnyObject {
        messages(about: AnySubject.sender(subject), for: owner, policy, at: fileID, line)
    }

    private func messages<Message: NotificationCenter.AsyncMessage, Owner: AnyObject>(
        about subject: AnyObject, for owner: Owner, _ policy: BufferingPolicy, at file: StaticString, _ line: UInt
    ) -> ObservationSequence<Message> {
        ObservationSequence(
            SequenceSource(
                self, MessageNames.name(of: Message.self), from: .given(subject, call: #function), owner: owner, policy,
                at: RegistrationSite(file: file, line: line),
                prepare: { MessageEnvelope.notification($0, as: Message.self)?.withoutObject })
        ) { MessageEnvelope.message(in: $0) }
    }
}
