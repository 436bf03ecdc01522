import Dispatch
import Foundation
import Synchronization
import Testing
import Tether

extension Races {
    /// Every operation at once: see `Storm`. `TETHER_STORM=100` in the environment makes storms a
    /// hundred times as long, and 0.1 a tenth.
    @Suite struct StormTests {
        private static let steps = extent(20_000, times: "TETHER_STORM")

        /// A storm on several threads, and a body that another thread repeats until the storm has
        /// ended.
        private func storm(
            _ threads: Int, sharingNames: Bool = true, on places: Storm.Places,
            meanwhile: (@Sendable () -> Void)? = nil
        ) {
            let names = (0..<(sharingNames ? 2 : 64)).map { Notification.Name("storm \($0)") }
            let storm = Storm(places: places, names: names)
            let isOver = Flag()
            let other = meanwhile.map { meanwhile in
                JoinableThread { while !isOver.isRaised { meanwhile() } }
            }
            JoinableThread.run(threads) { number in
                storm.act(UInt64(number), steps: StormTests.steps / threads)
            }
            isOver.raise()
            other?.join()
            let wrong = storm.verify()
            #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
        }

        @Test(arguments: [2, 4, 8, 16], [true, false])
        func `R1 R7 O4 threads that do everything at once leave nothing behind`(
            threads: Int, sharingNames: Bool
        ) {
            let serial = DispatchQueue(label: "serial")
            let concurrent = DispatchQueue(label: "two", attributes: .concurrent)
            let operations = OperationQueue.serial()
            storm(
                threads, sharingNames: sharingNames,
                on: Storm.Places(targets: [
                    .postingThread, .dispatchQueue(serial),
                    .dispatchQueue(concurrent, concurrently: true),
                    .operationQueue(operations),
                ]) {
                    serial.settle()
                    concurrent.settle()
                    operations.settle()
                })
        }

        @Test func `R1 R8 D2 no delivery on a queue that is suspended and resumed is late or kept`()
        {
            let queue = DispatchQueue(label: "now and then")
            storm(
                4,
                on: Storm.Places(targets: [.postingThread, .dispatchQueue(queue)]) {
                    queue.settle()
                }
            ) {
                queue.suspend()
                for _ in 0..<50 { sched_yield() }
                queue.resume()
            }
        }

        @Test func `R1 D5 no delivery on a run loop that stops and starts is late or kept`() {
            let (isReady, mayEnd) = (Gate(), Flag())
            let target = Box<DeliveryTarget?>(nil)
            let runner = JoinableThread {
                RunLoopThread.prepareCurrentThread()
                target.set(.currentThread)
                isReady.open()
                while !mayEnd.isRaised {
                    _ = RunLoop.current.run(
                        mode: .default, before: Date(timeIntervalSinceNow: 0.0005))
                }
            }
            isReady.pass()
            let thread = target.value!
            storm(4, on: Storm.Places(targets: [.postingThread, thread]) { settle(thread) })
            mayEnd.raise()
            runner.join()
        }

        @Test func `R1 D5 R8 no delivery on threads that exit is late or kept`() {
            let threads = (0..<6).map { RunLoopThread(name: "storm \($0)") }
            for thread in threads { thread.start() }
            // SAFETY: a thread may be cancelled from any other.
            nonisolated(unsafe) let all = threads
            let next = Counter()
            storm(4, on: Storm.Places(targets: [.postingThread] + threads.map { .thread($0) }) {}) {
                for _ in 0..<200 { sched_yield() }
                if next.count < 6 { unsafe all[next.count].cancel() }
                next.add()
            }
            for thread in threads { thread.cancel() }
        }

        /// Waits until all earlier posts to a target have been delivered.
        private func settle(_ target: DeliveryTarget) {
            for _ in 0..<2 {
                let (center, gate) = (ObserverCenter(), Gate())
                let token = center.observe(.sample, on: target) { _ in gate.open() }
                center.post(name: .sample, object: nil)
                gate.pass()
                withExtendedLifetime(token) {}
            }
        }
    }
}
