import Foundation
import Tether

/// Typed messages, beside Foundation's.
extension Benchmark {
    static let messages: [Benchmark] =
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            [mainActorMessage, asyncMessage]
        } else {
            []
        }

    private final class Model: Sendable {}

    private struct DidChange: NotificationCenter.MainActorMessage {
        typealias Subject = Model
        let number: Int
    }

    private struct DidSave: NotificationCenter.AsyncMessage {
        typealias Subject = Model
        let number: Int
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private static var mainActorMessage: Benchmark {
        Benchmark("a main-actor message to its observer", goal: 1) {
            let (center, foundation, model, sink) = (
                ObserverCenter(), NotificationCenter(), Model(), Sink()
            )
            let token = center.observe(of: model, for: .type(DidChange.self)) { _ in addOne(sink) }
            let reference = foundation.addObserver(of: model, for: DidChange.self) { _ in
                addOne(sink)
            }
            return .timed(
                Subject(count: 5000, keeping: (token, model)) { count in
                    MainActor.assumeIsolated {
                        for number in 0..<count {
                            center.post(DidChange(number: number), subject: model)
                        }
                    }
                },
                Subject(count: 5000, keeping: (reference, model)) { count in
                    MainActor.assumeIsolated {
                        for number in 0..<count {
                            foundation.post(DidChange(number: number), subject: model)
                        }
                    }
                })
        }
    }

    /// Each round waits for the last message.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private static var asyncMessage: Benchmark {
        Benchmark(
            "an async message to its async observer", goal: 1, clock: .elapsed,
            hasStableInstructions: false
        ) {
            let (center, foundation, model) = (ObserverCenter(), NotificationCenter(), Model())
            let ended = DispatchSemaphore(value: 0)
            let handler: @Sendable (DidSave) async -> Void = {
                if $0.number == 0 { ended.signal() }
            }
            let token = center.observe(of: model, for: .type(DidSave.self), using: handler)
            let reference = foundation.addObserver(of: model, for: DidSave.self, using: handler)
            return .timed(
                Subject(count: 5000, keeping: (token, model)) { count in
                    for number in (0..<count).reversed() {
                        center.post(DidSave(number: number), subject: model)
                    }
                    ended.wait()
                },
                Subject(count: 5000, keeping: (reference, model)) { count in
                    for number in (0..<count).reversed() {
                        foundation.post(DidSave(number: number), subject: model)
                    }
                    ended.wait()
                })
        }
    }
}
