public import Foundation

/// The subject of a message where it was left out, which means any subject.
///
/// Which is not the same as `nil`: passing an optional does not compile, so that one which is `nil` never widens to any
/// ([M5](doc:Contract#M5)).
public struct AnySubject: Error {
    /// Stands for a subject that was left out.
    public static func subject<Subject>() throws(AnySubject) -> Subject { throw AnySubject() }

    /// A subject as a sender, or what stands for any.
    static func sender<Subject: AnyObject>(
        _ subject: () throws(AnySubject) -> Subject, call: StaticString = #function
    ) -> AnyObject {
        do {
            let subject = try subject()
            // Here, because an `AnyObject` no longer tells an instance of a C++ class.
            ObjectArgument.sender.check(subject, call: call)
            return subject
        } catch { return Omitted.argument }
    }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.MessageIdentifier {
    /// Main-actor messages of a type, which need not have an identifier of their own.
    ///
    /// ```swift
    /// center.observe(
    ///     of: model, for: .type(ModelDidChange.self), owner: self
    /// ) { sidebar, message in sidebar.show(message) }
    /// ```
    /// - Parameter type: The type of the messages.
    public static func type<Message: NotificationCenter.MainActorMessage>(_ type: Message.Type) -> Self
    where Self == NotificationCenter.BaseMessageIdentifier<Message> { Self() }

    /// Async messages of a type, which need not have an identifier of their own.
    /// - Parameter type: The type of the messages.
    public static func type<Message: NotificationCenter.AsyncMessage>(_ type: Message.Type) -> Self
    where Self == NotificationCenter.BaseMessageIdentifier<Message> { Self() }
}
