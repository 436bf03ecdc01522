public import Foundation

extension ObserverCenter {
    /// The notifications of a name and a sender that are posted from now on, under the name that Foundation has for them.
    ///
    /// All of them are kept until they are taken ([S1](doc:Contract#S1)): `notifications(of:from:owner:bufferSize:)`
    /// has a bound and an owner.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - object: The sender to observe, as in `addObserver`; `nil` for any.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    public func notifications(
        named name: Notification.Name?, object: Any? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> ObservationSequence<Notification> {
        sequence(
            ObservationRequest(
                name: name,
                sender: SenderFilter(any: object, call: "ObserverCenter.notifications(named:object:)"), target: .poster,
                site: RegistrationSite(file: fileID, line: line)),
            for: Omitted.argument, .unbounded
        ) { $0.withoutEndingObject }
    }
}
