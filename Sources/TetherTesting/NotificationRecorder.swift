public import Foundation
public import Tether

// SAFETY: `token` is set once, by `init`; notifications are guarded, and a test that shares them answers for them.

/// An observer that writes down what it is delivered, for a test to look at, or to wait for.
///
/// ```swift
/// let changes = NotificationRecorder(
///     center, .modelDidChange, from: model)
/// model.rename("New")
/// #expect(changes.names == [.modelDidChange])
/// await changes.wait(for: 1)      // for what is asynchronous
/// ```
///
/// It observes as long as it lives, and keeps what it recorded, objects included, until `clear()` or its own end. What an
/// object posts about itself in its `deinit` is recorded without the object, which nothing may keep.
///
/// *Thread safety*: any thread.
public final class NotificationRecorder: @unchecked Sendable {
    /// SAFETY: only touched under the lock; a notification in it is handed from the posting thread to who asks for it.
    private struct State: @unchecked Sendable {
        var notifications: [Notification] = []
        var waiters: [Int: (count: Int, resume: @Sendable () -> Void)] = [:]
        var lastWaiter = 0
    }

    /// The log to which the handler writes, which does not keep the recorder.
    private final class Log: Sendable {
        let state = Guarded(State())

        func add(_ notification: Notification) {
            // SAFETY: handed over to the log.
            nonisolated(unsafe) let notification = notification.withoutEndingObject
            let ready = state.withLock { state in
                unsafe state.notifications.append(notification)
                let ready = state.waiters.filter { $0.value.count <= state.notifications.count }
                for number in ready.keys { state.waiters[number] = nil }
                return ready.values.map(\.resume)
            }
            for resume in ready { resume() }
        }
    }

    private let log = Log()
    private let token: NotificationObserver

    /// Starts to record.
    /// - Parameters:
    ///   - center: The center to observe.
    ///   - name: The name to observe; `nil` for any.
    ///   - sender: The sender to observe. Leave it out for any.
    ///   - target: Where it is delivered to.
    ///   - fileID: The file of the call, which audits and reports name.
    ///   - line: The line of the call.
    public init<Sender: AnyObject>(
        _ center: some NotifyingCenter, _ name: Notification.Name?, from sender: Sender = Omitted.argument,
        on target: DeliveryTarget = .postingThread, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        token = center.observe(name, from: sender, on: target, fileID: fileID, line: line) { [log] notification in
            log.add(notification)
        }
    }

    /// The delivered notifications, in order.
    public var notifications: [Notification] {
        log.state.withLock { state in
            // SAFETY: see above.
            nonisolated(unsafe) let notifications = state.notifications
            return unsafe notifications
        }
    }

    /// The names of what was delivered, in order.
    public var names: [Notification.Name] { notifications.map(\.name) }

    /// How many were delivered.
    public var count: Int { log.state.withLock(\.notifications.count) }

    /// Forgets what was delivered.
    public func clear() {
        let old = log.state.withLock { state in
            // SAFETY: no one else has the old ones; they are moved out of the lock to be released.
            nonisolated(unsafe) let old = state.notifications
            state.notifications = []
            return unsafe old
        }
        withExtendedLifetime(old) {}
    }

    /// Stops recording; what was recorded stays.
    public func stop() { token.cancel() }

    /// Suspends until so many have been delivered in all, or the task is cancelled.
    /// - Parameters:
    ///   - count: How many deliveries, of all since the recorder was made or last cleared.
    ///   - limit: How long to wait at most.
    /// - Returns: Whether they were, within the limit.
    @discardableResult
    public func wait(for count: Int, within limit: Duration = .seconds(10)) async -> Bool {
        let waitGroup = WaitGroup()
        guard let waiter = addWaiter(for: count, in: waitGroup) else { return true }
        await withTaskCancellationHandler {
            await waitGroup.wait(until: .after(limit))
        } onCancel: {
            waitGroup.expire()
        }
        return !removeWaiter(waiter)
    }

    /// Waits on this thread until so many have been delivered in all.
    ///
    /// If it is the main thread, or the recorder is delivered to on a thread's run loop, the run loop of this thread runs
    /// meanwhile, so that deliveries to it come through. In a turn of the main queue, such as a test on the main actor,
    /// deliveries to `.main` cannot come before it returns: make it async, and write `await` there.
    /// - Parameters:
    ///   - count: How many deliveries, of all since the recorder was made or last cleared.
    ///   - limit: How long to wait at most.
    /// - Returns: Whether they were, within the limit.
    @available(*, noasync, message: "Write 'await' before it, which suspends instead of blocking.")
    @discardableResult
    public func wait(for count: Int, within limit: Duration = .seconds(10)) -> Bool {
        let waitGroup = WaitGroup()
        guard let waiter = addWaiter(for: count, in: waitGroup) else { return true }
        let runsLoop = Thread.isMainThread || token.target.usesRunLoop
        waitGroup.wait(until: .after(limit), runningLoop: runsLoop)
        return !removeWaiter(waiter)
    }

    /// How many wait.
    var waiterCount: Int { log.state.withLock(\.waiters.count) }

    /// Adds one to a group that is done when so many have been delivered; `nil` if they have been.
    private func addWaiter(for count: Int, in waitGroup: WaitGroup) -> Int? {
        let done = waitGroup.add()
        return log.state.withLock { state in
            guard state.notifications.count < count else { return nil }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = (count, done)
            return state.lastWaiter
        }
    }

    /// Takes one off that waits no longer; whether it had to, because what it waits for was not delivered.
    private func removeWaiter(_ waiter: Int) -> Bool {
        log.state.withLock { $0.waiters.removeValue(forKey: waiter) } != nil
    }
}
