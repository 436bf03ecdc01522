internal import CoreFoundation
internal import Foundation

/// Rings in the passes of a run loop, in the modes in which something waits.
///
/// It is a run loop observer for each mode, and a source that keeps the loop from ending while something waits: an
/// observer alone does not.
///
/// SAFETY: `modes`, `observers` and `runs` are only touched under the lock of the posting queue that has it, what is after
/// them by the loop's thread; CoreFoundation's run loop functions used here may be called from any thread.
final class RunLoopAlarm: @unchecked Sendable {
    let loop: CFRunLoop
    private let info = RunLoopInfo()
    private let keepAlive: CFRunLoopSource
    private let commonModes: CommonModes
    /// In which something waits.
    private var modes: Set<RunLoop.Mode> = []
    /// For those modes, and those that `runs` has, where the end of a run is to be seen.
    private var observers: [RunLoop.Mode: CFRunLoopObserver] = [:]
    /// Whether the runs that were seen to begin in a mode, each inside the one before, have come to wait. Not all of them have.
    private var runs: [RunLoop.Mode: [Bool]] = [:]
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
    }

    deinit {
        RunLoopAlarm.queues.remove(info)
        runs = [:]
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
        let old = self.modes
        self.modes = modes
        installObservers(anew: anew)
        let gone = old.subtracting(modes)
        for mode in gone { CFRunLoopRemoveSource(loop, keepAlive, mode.cfMode) }
        // The common modes may include one that is still wanted for itself.
        for mode in gone.isEmpty ? modes.subtracting(old) : modes where !isOver {
            CFRunLoopAddSource(loop, keepAlive, mode.cfMode)
        }
    }

    private func installObservers(anew: Bool) {
        let observed = modes.union(runs.keys)
        for mode in observers.keys where anew || !observed.contains(mode) {
            if let observer = observers.removeValue(forKey: mode) { CFRunLoopObserverInvalidate(observer) }
        }
        for mode in observed where observers[mode] == nil && !isOver { observe(mode) }
    }

    /// Whether the loop never runs again; CoreFoundation complains of what is added to it then.
    private var isOver: Bool { loop === CFRunLoopGetMain() && MainLoopExit.hasThreadEnded }

    private func observe(_ mode: RunLoop.Mode) {
        // SAFETY: what the context has is never read through.
        var context = unsafe CFRunLoopObserverContext()
        unsafe context.info = info.pointer
        let activities: CFRunLoopActivity = [.entry, .beforeTimers, .beforeWaiting, .exit]
        let observer: CFRunLoopObserver = unsafe CFRunLoopObserverCreate(
            nil, activities.rawValue, true, 0,
            { observer, activity, info in
                unsafe RunLoopAlarm.queues.object(info)?.ring(at: activity, seenBy: observer.map(ObjectIdentifier.init))
            },
            &context)
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

    /// Follows runs; whether this is a moment at which a loop may be idle: it is about to wait, or a run ends that has had no
    /// time to, as in a program that polls.
    func takesNote(of activity: CFRunLoopActivity, seenBy observer: ObjectIdentifier?) -> Bool {
        let isWaiting = activity == .beforeWaiting
        // Not covered: another thread takes the observer off just then.
        guard let mode = observers.first(where: { ObjectIdentifier($0.value) == observer })?.key else {
            return isWaiting
        }
        var known = runs[mode] ?? []
        var hasWaited = true
        switch activity {
        case .entry: known.append(false)
        case .exit: hasWaited = known.popLast() ?? true
        default: if !known.isEmpty { known[known.count - 1] = true }
        }
        let wasObserved = runs.updateValue(known, forKey: mode) != nil
        if !known.contains(false) {
            runs[mode] = nil
            if wasObserved { installObservers(anew: false) }
        }
        return isWaiting || !hasWaited
    }

    /// Begins a pass of the calling thread's loop.
    func beginPass() { isNewPass = true }

    /// Whether a timer is due in the current mode, so that the calling thread's loop, which is about to wait, will not.
    ///
    /// A timer is due as long as it is firing, too, and what it calls may run the loop. So the loop is given some more passes: a
    /// timer that is due after them as well is firing, and does not count.
    func hasDueTimer() -> Bool {
        guard let mode = CFRunLoopCopyCurrentMode(loop), case let next = CFRunLoopGetNextTimerFireDate(loop, mode),
            next != 0, next <= CFAbsoluteTimeGetCurrent()
        else { return false }
        if next != dueTimer.date { dueTimer = (next, 0) }
        if isNewPass { dueTimer.passes += 1 }
        isNewPass = false
        // One may be spent on being woken, in front of the timer.
        if dueTimer.passes > 3 { return false }
        wake()
        return true
    }
}
