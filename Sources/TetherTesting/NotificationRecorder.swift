public import Foundation
public import Tether

// SAFETY: `init` alone sets `token`; a lock guards notifications; a test that shares them upholds
// their safety.

/// An observer that records the delivered notifications, for a test to read or to wait for.
///
/// ```swift
/// let changes = NotificationRecorder(
///     center, .modelDidChange, from: model)
/// model.rename("New")
/// #expect(changes.names == [.modelDidChange])
/// await changes.wait(for: 1)      // for what is asynchronous
/// ```
///
/// A recorder observes as long as it is alive. It retains the recorded notifications and their
/// objects until `clear()` or its own end. A post from an object's `deinit` is recorded without the
/// object, which nothing may retain.
///
/// *Thread safety*: any thread.
public final class NotificationRecorder: @unchecked Sendable {
    /// SAFETY: accessed only under the lock; the posting thread passes each notification to the
    /// reading thread.
    private struct State: @unchecked Sendable {
        var notifications: [Notification] = []
        var waiters: [Int: (count: Int, resume: @Sendable () -> Void)] = [:]
        var lastWaiter = 0
    }

    /// The log of the handler, which does not retain the recorder.
    private final class Log: Sendable {
        let state = Locked(State())

        func add(_ notification: Notification) {
            // SAFETY: the handler passes the notification to the log, and keeps no copy.
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

    /// Starts to record the notifications of a name, or of any name if `nil`. Without a sender,
    /// those of any sender are recorded. Audits and reports name the line of the call.
    public init(
        _ center: some NotifyingCenter, _ name: Notification.Name?,
        from sender: AnyObject = Omitted.argument,
        on target: DeliveryTarget = .postingThread, fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        token = center.observe(name, from: sender, on: target, fileID: fileID, line: line) {
            [log] notification in
            log.add(notification)
        }
    }

    /// The delivered notifications, in order.
    public var notifications: [Notification] {
        log.state.withLock { state in
            // SAFETY: read under the lock; a test that shares notifications upholds their safety.
            nonisolated(unsafe) let notifications = state.notifications
            return unsafe notifications
        }
    }

    /// The names of the delivered notifications, in order.
    public var names: [Notification.Name] { notifications.map(\.name) }

    /// The number of delivered notifications.
    public var count: Int { log.state.withLock(\.notifications.count) }

    /// Removes the recorded notifications.
    public func clear() {
        let old = log.state.withLock { state in
            // SAFETY: no other thread has the old notifications; `old` moves them out of the lock
            // for their release.
            nonisolated(unsafe) let old = state.notifications
            state.notifications = []
            return unsafe old
        }
        withExtendedLifetime(old) {}
    }

    /// Ends the recording, and keeps the recorded notifications.
    public func cancel() { token.cancel() }

    /// Suspends until `count` notifications have been delivered since the recorder was made or last
    /// cleared, for `limit` at most. The wait also ends if the task is cancelled.
    /// - Returns: Whether `count` notifications were delivered within the limit.
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

    /// Blocks this thread until `count` notifications have been delivered, since the recorder was
    /// made or last cleared.
    ///
    /// On the main thread, or for a recorder with a run loop target, the run loop of this thread
    /// runs meanwhile, so that deliveries to the thread can run. In a turn of the main queue, such
    /// as a test on the main actor, deliveries to `.main` cannot run before the return; and in as
    /// many tasks as processors at a time, no async handler can: make the test async, and write
    /// `await`. Inside `#expect` the compiler does not ask for the `await`, and takes this form.
    @available(*, noasync, message: "write 'await'")
    @discardableResult
    public func wait(for count: Int, within limit: Duration = .seconds(10)) -> Bool {
        let waitGroup = WaitGroup()
        guard let waiter = addWaiter(for: count, in: waitGroup) else { return true }
        let runsLoop = Thread.isMainThread || token.target.usesRunLoop
        waitGroup.wait(until: .after(limit), runningLoop: runsLoop)
        return !removeWaiter(waiter)
    }

    var waiterCount: Int { log.state.withLock(\.waiters.count) }

    /// Adds a waiter for `count` deliveries to a group, and returns its number; `nil` if all were
    /// delivered.
    private func addWaiter(for count: Int, in waitGroup: WaitGroup) -> Int? {
        let done = waitGroup.add()
        return log.state.withLock { state in
            guard state.notifications.count < count else { return nil }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = (count, done)
            return state.lastWaiter
        }
    }

    /// Removes a waiter. Returns true if the waiter was still waiting, because too few
    /// notifications were delivered.
    private func removeWaiter(_ waiter: Int) -> Bool {
        log.state.withLock { $0.waiters.removeValue(forKey: waiter) } != nil
    }
}
