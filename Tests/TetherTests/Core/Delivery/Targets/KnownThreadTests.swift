import Foundation
import Testing
import Tether

/// Threads that are found by their objects, of which one may have the address of another that has exited.
@Suite(.ownThread) struct KnownThreadTests {
    @Test func `D5 X1 a thread that has prepared itself is known as long as it runs, while others come and go`() async {
        await #expect(processExitsWith: .success) {
            // Each ends the process if the thread is not known.
            onThreads(
                Array(
                    repeating: {
                        for _ in 0..<3000 {
                            let (isPrepared, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                            let thread = Thread {
                                RunLoopThread.prepareCurrentThread()
                                isPrepared.signal()
                                mayEnd.wait()
                            }
                            thread.start()
                            isPrepared.wait()
                            _ = DeliveryTarget.thread(thread)
                            mayEnd.signal()
                        }
                    }, count: 4))
        }
    }
}
