import Dispatch
import Foundation
import Testing
import Tether

/// The timers of the page *What ends with an owner*, each run until its owner's end.
///
/// SAFETY: a timer's handler may run once more beside the cancellation. So the tests wait for the
/// cancel handler, which runs last.
@Suite struct TimerRecipeTests {
    /// A class of any thread, with a timer on a global queue.
    private final class Poller: Sendable {
        let ticks = AsyncGate()

        init(ended: AsyncGate) {
            let timer = DispatchSource.makeTimerSource()
            timer.schedule(deadline: .now(), repeating: .milliseconds(1))
            timer.setEventHandler { [weak self] in self?.tick() }
            timer.setCancelHandler { ended.open() }
            timer.activate()
            OwnerLifetime.whenEnded(self) { timer.cancel() }
        }

        func tick() { ticks.open() }
    }

    @Test func `O14 a timer of a queue ends with an object of any thread`() async {
        let ended = AsyncGate()
        let poller = Holder(Poller(ended: ended))
        await poller.object!.ticks.pass()
        poller.release()
        await ended.pass()
    }

    /// A class of the main actor, with a local and a stored timer.
    @MainActor private final class Clock {
        let ticks = AsyncGate()
        private let stored = DispatchSource.makeTimerSource(queue: .main)

        init(ended: AsyncGate) {
            let local = DispatchSource.makeTimerSource(queue: .main)
            for timer in [local, stored] {
                timer.schedule(deadline: .now(), repeating: .milliseconds(1))
                timer.setEventHandler { [weak self] in self?.tick() }
                timer.setCancelHandler { ended.open() }
                timer.activate()
            }
            OwnerLifetime.whenEnded(self) { @MainActor in local.cancel() }
            OwnerLifetime.whenEnded(self) { @MainActor [stored] in stored.cancel() }
        }

        func tick() { ticks.open() }
    }

    @MainActor @Test func `O14 timers of the main queue end with an object of the main actor`()
        async
    {
        let ended = AsyncGate()
        let clock = Holder(Clock(ended: ended))
        await clock.object!.ticks.pass()
        clock.release()
        await ended.pass()
        await ended.pass()
    }

    @Test func `O14 a timer of the main queue ends with an object that another thread releases`()
        async
    {
        let ended = AsyncGate()
        let clock = await Holder(Clock(ended: ended))
        await clock.object!.ticks.pass()
        clock.release()
        await ended.pass()
        await ended.pass()
    }

    /// A timer that pauses. libdispatch stops a program that releases a suspended timer, so the
    /// timer waits for a time that never comes.
    private final class Blinker: Sendable {
        let ticks = AsyncGate()
        let pause: @Sendable () -> Void

        init(ended: AsyncGate) {
            nonisolated(unsafe) let timer = DispatchSource.makeTimerSource()
            pause = { unsafe timer.schedule(deadline: .distantFuture) }
            unsafe timer.schedule(deadline: .now(), repeating: .milliseconds(1))
            unsafe timer.setEventHandler { [weak self] in self?.ticks.open() }
            unsafe timer.setCancelHandler { ended.open() }
            unsafe timer.activate()
            OwnerLifetime.whenEnded(self) { unsafe timer.cancel() }
        }
    }

    @Test func `O14 a timer that pauses in the distant future ends with its owner`() async {
        let ended = AsyncGate()
        let blinker = Holder(Blinker(ended: ended))
        await blinker.object!.ticks.pass()
        blinker.object!.pause()
        blinker.release()
        await ended.pass()
    }

    /// A timer of the main run loop. Only the main thread may invalidate the timer.
    @MainActor private final class Carousel {
        private(set) weak var timer: Timer?

        init() {
            let timer = Timer(timeInterval: 3600, repeats: true) { _ in }
            RunLoop.main.add(timer, forMode: .common)
            self.timer = timer
            OwnerLifetime.whenEnded(self) { @MainActor in timer.invalidate() }
        }
    }

    @MainActor @Test func `O14 a timer of the main run loop ends with an object of the main actor`()
    {
        let carousel = Holder(Carousel())
        let timer = carousel.object!.timer
        #expect(timer?.isValid == true)
        carousel.release()
        #expect(timer?.isValid != true)
    }
}
