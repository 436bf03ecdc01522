#if os(Linux)
import CAllocations
import Dispatch
import Foundation
import Synchronization
import Testing
import Tether

/// Many threads that post to one target at once.
@Suite(.ownThread, .enabled(if: counts_allocations(), "A sanitizer has locks of its own."))
struct ContendedTargetTests {
    /// A convoy on a lock of the mailbox shows as a sleep for nearly every post, however fast or busy the machine is.
    @Test func `D7 threads that post to one serial queue do not sleep for each other`() {
        let (center, queue) = (ObserverCenter(), DispatchQueue(label: "contended"))
        let token = center.observe(.sample, on: .dispatchQueue(queue)) { _ in }
        let sleeps = Atomic<Int>(0)
        let ready = Atomic<Int>(0)
        let (threads, posts) = (8, 4000)
        onThreads(
            (0..<threads).map { _ in
                {
                    ready.wrappingAdd(1, ordering: .relaxed)
                    while ready.load(ordering: .relaxed) < threads { sched_yield() }
                    let before = voluntarySwitches()
                    for number in 0..<posts { center.post(.sample, number: number) }
                    sleeps.wrappingAdd(voluntarySwitches() - before, ordering: .relaxed)
                }
            })
        queue.settle()
        let each = Double(sleeps.load(ordering: .relaxed)) / Double(threads * posts)
        #expect(each < 0.05, "\(each) sleeps for each post")
        withExtendedLifetime(token) {}
    }
}

/// How often the calling thread gave up its core to wait for something.
private func voluntarySwitches() -> Int {
    // `RUSAGE_THREAD`, which the C library declares only where it is asked for more than the standard has.
    let thread: Int32 = 1
    var usage = rusage()
    // SAFETY: fills the structure that it is given.
    _ = unsafe getrusage(thread, &usage)
    return usage.ru_nvcsw
}
#endif
