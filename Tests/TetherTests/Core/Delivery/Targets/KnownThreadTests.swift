import Foundation
import Testing
import Tether

/// Threads found by their objects. A new object may have the address of an exited thread's object.
@Suite(.ownThread) struct KnownThreadTests {
    @Test func `D5 X1 a prepared thread is known until its end, as other threads come and go`()
        async
    {
        await #expect(processExitsWith: .success) {
            // Each ends the process if the thread is not known.
            onThreads(
                Array(
                    repeating: {
                        for _ in 0..<3000 {
                            let (isPrepared, mayEnd) = (Gate(), Gate())
                            let thread = Thread {
                                RunLoopThread.prepareCurrentThread()
                                isPrepared.open()
                                mayEnd.pass()
                            }
                            thread.start()
                            isPrepared.pass()
                            _ = DeliveryTarget.thread(thread)
                            mayEnd.open()
                        }
                    }, count: 4))
        }
    }
}
