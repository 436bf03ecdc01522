/// The state that a sequence and its iterators share: while one of them lives, so do the observer and its buffer.
final class SequenceSubscription<Element>: Sendable {
    private let buffer: SequenceBuffer<Element>
    private let observer: NotificationObserver

    init(_ buffer: SequenceBuffer<Element>, _ observer: NotificationObserver) {
        self.buffer = buffer
        self.observer = observer
        // An owner or a sender that was ending has registered nothing (O8, M5).
        if !observer.isActive { buffer.finish(keepingElements: true) }
    }

    deinit { cancel() }

    private func cancel() {
        observer.stop()
        buffer.finish()
    }

    func next(isolation: isolated (any Actor)?) async -> Element? {
        if Task.isCancelled { cancel() }
        let element = await withTaskCancellationHandler {
            await buffer.next(isolation: isolation)
        } onCancel: {
            // A canceller holds a lock of the runtime's, so all that may call the user's code is left to the task.
            buffer.finish(keepingElements: true)
        }
        if Task.isCancelled { cancel() }
        return element
    }
}
