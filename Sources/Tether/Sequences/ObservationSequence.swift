/// Posts as an async sequence: see `notifications(of:from:owner:bufferSize:)` of every center, and
/// `messages(of:for:owner:bufferSize:)` of `ObserverCenter`.
///
/// *Delivery*: observation begins when the sequence is made, not when it is iterated: what is posted from then on is
/// kept for the iteration, as far as the buffer's size goes ([S1](doc:Contract#S1), [S3](doc:Contract#S3)).
///
/// It is iterated once. Several iterators, or tasks, share one buffer, and each element goes to one of them.
///
/// *The end* ([S2](doc:Contract#S2)): the iteration ends
/// - after what was posted before, when the sender, or the center, has gone;
/// - at once, when the owner has gone, the observer was removed, or the iterating task is cancelled, also if it was
///   before: one cancelled task ends the sequence for all that share it. What is still in the buffer is let go of.
///
/// A sequence that has ended stays so. The observer goes with the sequence and its iterators, and the buffer with it.
///
/// *Thread safety*: a sequence can be iterated on any task. An iterator is not `Sendable`. A notification is handed from
/// the thread that posts it to the task that takes it; as with a queue, the caller answers for what is in it.
public struct ObservationSequence<Element>: AsyncSequence, Sendable {
    /// It never fails.
    public typealias Failure = Never

    let subscription: SequenceSubscription<Element>

    /// Makes an iterator, which takes from the one buffer.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscription: SequenceSubscription<Element>

        /// The next element, as soon as it is there; `nil` at the end.
        public mutating func next() async -> Element? { await subscription.next(isolation: nil) }

        /// The next element, as soon as it is there; `nil` at the end.
        /// - Parameter actor: The actor on which the caller waits; `nil` for none.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Element? {
            await subscription.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension ObservationSequence.Iterator: Sendable {}
