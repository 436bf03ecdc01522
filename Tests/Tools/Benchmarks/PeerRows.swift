import Foundation
import Observation
import Tether

extension Benchmark {
    /// Other mechanisms of the platform for reports of changes.
    static let peers = [registrar, stream] + ownedTasks + messages

    private final class Model: Observable, Sendable {
        let registrar = ObservationRegistrar()
        let value = 0
    }

    /// The registrar reports a single change, so the observer registers again for each change.
    private static let registrar = Benchmark(
        "a change told to an observer that registers anew", reference: "Observation", goal: nil
    ) {
        let (center, sink, model) = (ObserverCenter(), Sink(), Model())
        return .timed(
            Subject(count: 5000) {
                for _ in 0..<$0 {
                    let token = center.observe(.measured, once: true) { _ in addOne(sink) }
                    center.post(name: .measured, object: nil)
                    withExtendedLifetime(token) {}
                }
            },
            Subject(count: 5000) {
                for _ in 0..<$0 {
                    withObservationTracking {
                        model.registrar.access(model, keyPath: \.value)
                    } onChange: {
                        addOne(sink)
                    }
                    model.registrar.withMutation(of: model, keyPath: \.value) {}
                }
            })
    }

    private static let stream = Benchmark(
        "1000 values through an async sequence, each", size: "1000", reference: "AsyncStream",
        goal: 0.5,
        clock: .elapsed, hasStableInstructions: false
    ) {
        let center = ObserverCenter()
        let ended = DispatchSemaphore(value: 0)
        func consume<Sequence: AsyncSequence & SendableMetatype>(_ sequence: sending Sequence)
        where Sequence.Failure == Never, Sequence.AsyncIterator: SendableMetatype {
            Task.detached {
                var left = 1000
                var iterator = sequence.makeAsyncIterator()
                while left > 0, await iterator.next(isolation: nil) != nil { left -= 1 }
                ended.signal()
            }
        }
        return .timed(
            Subject(count: 10_000) { count in
                for _ in 0..<max(1, count / 1000) {
                    consume(center.notifications(named: .measured))
                    for _ in 0..<1000 { center.post(name: .measured, object: nil) }
                    ended.wait()
                }
            },
            Subject(count: 10_000) { count in
                for _ in 0..<max(1, count / 1000) {
                    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
                    consume(stream)
                    for value in 0..<1000 { continuation.yield(value) }
                    ended.wait()
                }
            })
    }
}
