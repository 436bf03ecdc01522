import Foundation
import Testing
import Tether

/// The main thread as a target in a program whose main queue runs without a run loop: the child process of an exit test is
/// one.
@Suite struct ThreadWithoutRunLoopTests {
    @Test func `D5 without a main run loop the main queue delivers what is for the main thread, in order`() async {
        await #expect(processExitsWith: .success) {
            let center = ObserverCenter()
            let log = Log<String>()
            let done = Latch()
            let target = await MainActor.run { DeliveryTarget.currentThread }
            let token = center.observe(.sample, on: target) { notification in
                dispatchPrecondition(condition: .onQueue(.main))
                log.add(notification.label)
                if notification.label == "inline" { done.open() }
            }
            let custom = center.observe(.sample, on: .thread(.mainThread, modes: [RunLoop.Mode("custom")])) { _ in
                fatalError("in the custom mode, in which no run loop runs")
            }
            await Task.detached { for label in ["1", "2", "3"] { center.post(.labelled(label)) } }.value
            DispatchQueue.main.async {
                center.post(.labelled("inline"))
                log.add("behind it")
            }
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    done.wait()
                    continuation.resume()
                }
            }
            guard log.entries == ["1", "2", "3", "inline"] || log.entries == ["1", "2", "3", "inline", "behind it"]
            else {
                fatalError("\(log.entries)")
            }
            // What the main queue does not stand for is not lost silently.
            guard center.audit().map(\.pending) == [0, 4] else { fatalError("\(center.audit())") }
            withExtendedLifetime((token, custom)) {}
        }
    }
}
