public import Foundation

extension NotifyingCenter {
    /// The notifications that are posted from now on, as an async sequence.
    ///
    /// ```swift
    /// let name = Notification.Name.modelDidChange
    /// for await note in center.notifications(of: name) { … }
    /// ```
    ///
    /// Observation begins with this call: nothing that is posted after it is missed, also not before the iteration, as
    /// far as the buffer's size goes ([S1](doc:Contract#S1)). See `ObservationSequence` for its end. A notification in
    /// the buffer keeps its object, as on any queue.
    ///
    /// Foundation's `notifications(named:object:)` is a method of `ObserverCenter` too. Over Foundation's own center that call
    /// means Foundation's method, which promises none of this.
    ///
    /// Complexity: O(1) amortised. Any thread.
    /// - Parameters:
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe, which is not retained: the sequence ends when it has ([M5](doc:Contract#M5)).
    ///     Leave it out for any.
    ///   - owner: An object whose life bounds the sequence, without being retained. Leave it out for none.
    ///   - policy: How much is kept until it is taken; all of it, if left out. A number of less than 1 stops the program.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    public func notifications<Sender: AnyObject, Owner: AnyObject>(
        of name: Notification.Name?, from sender: Sender = Omitted.argument, owner: Owner = Omitted.argument,
        bufferSize policy: BufferingPolicy = .unbounded, fileID: StaticString = #fileID, line: UInt = #line
    ) -> ObservationSequence<Notification> {
        sequence(
            ObservationRequest(name, from: sender, on: .poster, once: false, key: nil, at: fileID, line), for: owner,
            policy
        ) { $0.withoutEndingObject }
    }

    /// Registers an observer whose deliveries are taken from a sequence, as what they are converted to.
    ///
    /// Where `prepare` is given, each post is asked by it what is delivered, and with `nil` is not: see
    /// `RegistrationHook`.
    func sequence<Element, Owner: AnyObject>(
        _ request: ObservationRequest, for owner: Owner, _ policy: BufferingPolicy,
        prepare: (@Sendable (Notification) -> Notification?)? = nil,
        convert: @escaping @Sendable (Notification) -> Element?
    ) -> ObservationSequence<Element> {
        let buffer = SequenceBuffer<Element>(policy, prepare: prepare)
        var request = request
        request.add(buffer)
        let handler: @Sendable (Notification) -> Void = { [buffer] notification in
            if let element = convert(notification) { buffer.offer(element) }
        }
        let observer =
            Omitted.stands(for: owner)
            ? observe(request, handler) : observe(request, for: owner) { _, notification in handler(notification) }
        return ObservationSequence(subscription: SequenceSubscription(buffer, observer))
    }
}
