internal import CoreFoundation
internal import Foundation

/// Rings in the passes of a run loop, in the modes in which something waits.
///
/// It is a run loop observer for each mode, and a source that keeps the loop from ending while something waits: an
/// observer alone does not.
///
/// SAFETY: `observers` is only touched under the lock of the posting queue that has it, what is after it by the loop's
/// thread; CoreFoundation's run loop functions used here may be called from any thread.
final class RunLoopAlarm: @unchecked Sendable {
    let loop: CFRunLoop
    private let info = RunLoopInfo()
    private let keepAlive: CFRunLoopSource
    private let commonModes: CommonModes
    private let runs: RunLoopRuns
    private var observers: [RunLoop.Mode: CFRunLoopObserver] = [:]
    /// Whether a pass has begun since a due timer was counted.
    private var isNewPass = false
    /// The timer that was due last when the loop was about to wait, by its date, and how often it was.
    private var dueTimer: (date: CFAbsoluteTime, passes: Int) = (0, 0)

    private static let queues = RunLoopTable<PostingQueue>()

    init(loop: CFRunLoop) {
        self.loop = loop
        // SAFETY: what the context has is never read through.
        var context = unsafe CFRunLoopSourceContext()
        unsafe context.info = info.pointer
        // Not covered: the source is never signalled.
        unsafe context.perform = { _ in }
        keepAlive = unsafe CFRunLoopSourceCreate(nil, 0, &context)
        commonModes = .of(loop)
        runs = RunLoopRuns(of: loop)
    }

    deinit {
        RunLoopAlarm.queues.remove(info)
        install(in: [])
        CFRunLoopSourceInvalidate(keepAlive)
        CFRunLoopWakeUp(loop)
    }

    /// Sets what is rung.
    func connect(_ queue: PostingQueue) { RunLoopAlarm.queues.insert(queue, for: info) }

    /// Rings in these modes from now on, and in no others. The loop is not woken.
    ///
    /// A run loop does not call an observer that it is calling already: installed anew, the alarm rings in a run that is
    /// nested in a handler, too.
    func install(in modes: Set<RunLoop.Mode>, anew: Bool = false) {
        let old = Set(observers.keys)
        for mode in old where anew || !modes.contains(mode) {
            if let observer = observers.removeValue(forKey: mode) { CFRunLoopObserverInvalidate(observer) }
        }
        let gone = old.subtracting(modes)
        for mode in gone { CFRunLoopRemoveSource(loop, keepAlive, mode.cfMode) }
        let added = isOver ? [] : modes
        for mode in added where observers[mode] == nil { observe(mode) }
        // The common modes may include one that is still wanted for itself.
        for mode in gone.isEmpty ? added.subtracting(old) : added { CFRunLoopAddSource(loop, keepAlive, mode.cfMode) }
        runs.follow(added)
    }

    /// Whether the loop never runs again; CoreFoundation complains of what is added to it then.
    private var isOver: Bool { loop === CFRunLoopGetMain() && MainLoopExit.hasThreadEnded }

    private func observe(_ mode: RunLoop.Mode) {
        // SAFETY: what the context has is never read through.
        var context = unsafe CFRunLoopObserverContext()
        unsafe context.info = info.pointer
        let activities: CFRunLoopActivity = [.beforeTimers, .beforeWaiting, .exit]
        let observer: CFRunLoopObserver = unsafe CFRunLoopObserverCreate(
            nil, activities.rawValue, true, 0,
            { _, activity, info in unsafe RunLoopAlarm.queues.object(info)?.ring(at: activity) }, &context)
        observers[mode] = observer
        CFRunLoopAddObserver(loop, observer, mode.cfMode)
    }

    /// Gives the loop another pass.
    func wake() { CFRunLoopWakeUp(loop) }

    /// Says whether what waits for some modes may be posted in the current mode of the calling thread's loop, which is
    /// this alarm's; `nil` where it is not running.
    func openModes() -> ((Set<RunLoop.Mode>) -> Bool)? {
        guard let current = RunLoop.current.currentMode else { return nil }
        let isCommon = commonModes.contains(current)
        return { modes in modes.contains(current) || (isCommon && modes.contains(.common)) }
    }

    /// Whether the calling thread's loop is idle at an activity, with modes that are open: it is about to wait, or a run ends
    /// that has had no time to, as in a program that polls. One that is about to wait, and busy with a timer, is woken.
    func isIdle(at activity: CFRunLoopActivity, isOpen: (Set<RunLoop.Mode>) -> Bool) -> Bool {
        if activity == .exit { return runs.modesWithoutWait.contains { isOpen([$0]) } }
        return activity == .beforeWaiting && !hasDueTimer()
    }

    /// Begins a pass of the calling thread's loop.
    func beginPass() { isNewPass = true }

    /// Whether a timer is due in the current mode, so that the calling thread's loop, which is about to wait, will not.
    ///
    /// A timer is due as long as it is firing, too, and what it calls may run the loop. So the loop is given some more passes: a
    /// timer that is due after them as well is firing, and does not count.
    private func hasDueTimer() -> Bool {
        guard let date = loop.dateOfDueTimer else { return false }
        if date != dueTimer.date { dueTimer = (date, 0) }
        if isNewPass { dueTimer.passes += 1 }
        isNewPass = false
        // One may be spent on being woken, in front of the timer.
        if dueTimer.passes > 3 {
            runs.ignoreTimer(dueAt: date)
            return false
        }
        wake()
        return true
    }
}
