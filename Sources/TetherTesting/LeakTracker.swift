internal import Foundation
public import Tether

/// A scope of a test that must leave nothing behind: no observer, no owner that was observed for, no tracked object.
///
/// Most tests need no more than `@Test(.verifiesNoLeaks)`, or `verifyNoLeaks { … }`, which make one:
///
/// ```swift
/// @Test(.verifiesNoLeaks) func `a closed sidebar is gone`() {
///     let sidebar = track(Sidebar(center: .default))
///     sidebar.close()
/// }
/// ```
///
/// A test may tell its scope more:
///
/// | Call | When it is needed |
/// |---|---|
/// | `track(_:)` | for an object that owns no observer, and must go with the test: a model, a view |
/// | `probe(_:)` | to learn whether a closure has been released, where nothing that it captures is an object of yours |
/// | `Probe.touch()` | in that closure, which captures the probe by using it |
/// | `keep(_:)` | for an object that is to outlive the test, such as a cache that all tests share |
/// | `adopt(_:)` | on a queue or a thread to which the test hands work that registers observers |
///
/// A registration belongs to the scope that is `current` where it is made: in the test's own tasks that goes by itself, and
/// in a handler, whichever test's post calls it, it is the scope of the handler's observer.
/// A registration without a scope, on a center that this one uses, is reported as belonging to nobody: a warning,
/// which fails no test.
///
/// *Thread safety*: any thread.
public final class LeakTracker: Sendable {
    /// The scope of the test that is running, in this task or on this thread; in a handler, that of the test whose observer
    /// it is, though another one's post calls it. In an async handler, whose calls have a task of their own, there is none.
    public static var current: LeakTracker? {
        let running = RegistrationWatch.running
        // An observer that nobody made in a scope does as its posting thread.
        for handler in running.handlers.dropFirst(scope?.countOfOuter(in: running) ?? 0).reversed() {
            if let known = Registrations.scope(of: handler) { return known.tracker }
        }
        return scope?.tracker
    }

    @TaskLocal package static var scope: Scope?

    /// A tracker as it becomes current, and the handlers outside of that, which it goes before.
    package struct Scope: Sendable {
        fileprivate let tracker: LeakTracker
        private let thread: ObjectIdentifier
        private let outer: [WatchedRegistration.ID]

        package init(_ tracker: LeakTracker) {
            self.tracker = tracker
            (thread, outer) = RegistrationWatch.running
        }

        /// How many of the handlers that are running are outside of this; none in a task that inherits it, on whatever thread.
        fileprivate func countOfOuter(in running: (thread: ObjectIdentifier, handlers: [WatchedRegistration.ID])) -> Int
        {
            thread == running.thread && running.handlers.starts(with: outer) ? outer.count : 0
        }
    }

    /// An object that is to go, which is not kept.
    struct Tracked: Sendable {
        let object: WatchedObject
        let label: String
        let site: Site
        /// Whether it is here as the owner of an observer, and not because it was given to `track`.
        let isOwner: Bool
    }

    struct State: Sendable {
        var tracked: [Tracked] = []
        /// The objects of which this knows, by their addresses; another one may have that of one that has ended.
        var objects: [UInt: WatchedObject] = [:]
        var registrations: [WatchedRegistration] = []
        /// The centers that were made or used here.
        var centers: Set<RegistrationWatch.CenterNumber> = []
        /// The objects that the test keeps on purpose.
        var kept: [WatchedObject] = []
        /// Owners that were kept by their own handlers when their center went.
        var keptUntilCenterEnded: [KeptOwner] = []
        /// The time that is left to look for such owners.
        var timeForCenters = Duration.seconds(2)
        /// Called when a registration of this scope has ended, or nobody waits any more for what is pending for it.
        var waits: [WatchedRegistration.ID: @Sendable () -> Void] = [:]
        /// Called when a registration of this scope has ended, while someone waits for that.
        var ended: [WatchedRegistration.ID: @Sendable () -> Void] = [:]
    }

    let state = Guarded(State())

    /// Makes a scope of nothing, which becomes the current one with `adopt(_:)`.
    public init() {
        Registrations.listen()
    }

    /// Makes a scope with a limit for the searches that begin when its centers end.
    package convenience init(explanation: Duration) {
        self.init()
        state.withLock { $0.timeForCenters = explanation }
    }

    deinit { Registrations.forget(state.withLock(\.registrations)) }

    // MARK: Being current

    /// Runs a body with this scope as the current one: what it registers, and its child tasks register, belongs here.
    ///
    /// ```swift
    /// let scope = LeakTracker.current
    /// queue.async {
    ///     scope?.adopt {
    ///         center.observe(nil, owner: sidebar) { sidebar, _ in … }
    ///     }
    /// }
    /// ```
    /// - Parameter body: What to run, on this thread.
    public func adopt<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        // `withValue` rethrows anything.
        let outcome: Swift.Result<Result, Failure> = LeakTracker.$scope.withValue(Scope(self)) {
            do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    // MARK: Tracking

    /// Tracks an object, without keeping it, and returns it. A value in a box that a cast to `AnyObject` made stops the
    /// program with a sentence, because that object would not be the value's.
    /// - Parameters:
    ///   - object: The object, which is not kept.
    ///   - label: What findings call it; its type, if left out.
    ///   - file: The file of the call, which findings name.
    ///   - line: The line of the call.
    @discardableResult
    public func track<Object: AnyObject>(
        _ object: Object, _ label: String? = nil, file: StaticString = #fileID, line: UInt = #line
    ) -> Object {
        ObjectArgument.tracked.check(object, call: "track(_:)")
        let site = Site(file: "\(file)", line: Int(line))
        let tracked = Tracked(
            object: watched(object), label: label ?? "\(type(of: object))", site: site, isOwner: false)
        state.withLock { $0.tracked.append(tracked) }
        return object
    }

    /// Says that the test keeps an object on purpose beyond its scope: it, and what is attached to it, is no leak.
    /// - Parameters:
    ///   - object: The object, which is not kept by this.
    ///   - file: The file of the call; leave it out.
    ///   - line: The line of the call; leave it out.
    @discardableResult
    public func keep<Object: AnyObject>(
        _ object: Object, file: StaticString = #fileID, line: UInt = #line
    ) -> Object {
        let kept = watched(object)
        state.withLock { $0.kept.append(kept) }
        return object
    }

    /// Makes an object to capture, and tracks it: as long as it lives, whatever captured it does.
    /// - Parameters:
    ///   - label: What findings call it.
    ///   - file: The file of the call, which findings name.
    ///   - line: The line of the call.
    public func probe(_ label: String = "a captured value", file: StaticString = #fileID, line: UInt = #line) -> Probe {
        track(Probe(), label, file: file, line: line)
    }

    /// An object that does nothing but live.
    public final class Probe: Sendable {
        fileprivate init() {}

        /// Uses the probe, so that a closure captures it.
        public func touch() {}
    }

    /// Watches for the end of an object that the caller holds. Here, and not when the end is waited for, because then
    /// nobody but the verification may hold it.
    private func watched(_ object: AnyObject) -> WatchedObject {
        let address = HeapObject(object).address
        if let known = state.withLock({ $0.objects[address] }), !known.hasEnded { return known }
        let watched = WatchedObject(object)
        state.withLock { $0.objects[address] = watched }
        return watched
    }

    func add(_ registration: WatchedRegistration, owner: AnyObject?) {
        let site = Site(file: registration.file, line: registration.line)
        let owner = owner.map {
            Tracked(object: watched($0), label: "\(type(of: $0))", site: site, isOwner: true)
        }
        state.withLock { state in
            state.registrations.append(registration)
            state.centers.insert(registration.center)
            if let owner { state.tracked.append(owner) }
        }
    }

    // MARK: Asking

    /// An object, observer or delivery that is left and should have gone.
    public struct Leak: Sendable, CustomStringConvertible {
        /// Its kind and origin, in one line.
        public let description: String
        private let picture: Diagram

        init(_ description: String, _ picture: Diagram) {
            (self.description, self.picture) = (description, picture)
        }

        /// The path that holds it, as a graph for Graphviz: `dot -Tsvg` draws it.
        ///
        /// Boxes are objects, by their types, and handlers, with the line that registered each. An arrow leads from what
        /// holds to what is held, and has the property's name. Red is where the way begins, which is where it is to be
        /// mended; yellow is what is left. What nothing is known of is grey.
        public func dot() -> String { picture.graphviz }

        /// The path that holds it, as a flow chart for Mermaid, which Markdown on many hosts draws; see `dot()`.
        public func mermaid() -> String { picture.mermaid }

        /// The path that holds it, as a picture, for where nothing draws graphs; see `dot()`.
        public func svg() -> String { picture.svg }
    }

    /// The tracked objects that are alive now, and the observers that the given centers have now. It waits for nothing:
    /// ask after what you wait for.
    /// - Parameter centers: The centers whose observers count as left; none, if left out.
    public func leaks(in centers: any NotifyingCenter...) -> [Leak] {
        let objects = state.withLock(\.tracked).filter { !$0.isOwner && !$0.object.hasEnded }.map { tracked in
            Leak(
                "\(tracked.label) is still alive, tracked at \(tracked.site)",
                LeakPicture(tracked.lines, .yellow).diagram)
        }
        let observers = centers.flatMap { $0.audit() }.map { row in
            Leak(
                "still observing: \(row)",
                LeakPicture(["observer of \(describeName(row.name))", "\(row.file):\(row.line)"], .yellow)
                    .diagram)
        }
        return objects + observers
    }
}

/// Tracks an object in the current scope: it fails the test if it outlives that.
///
/// ```swift
/// let sidebar = track(Sidebar())
/// ```
/// - Parameters:
///   - object: The object, which is not kept.
///   - label: What findings call it; its type, if left out.
///   - file: The file of the call, which findings name.
///   - line: The line of the call.
/// - Returns: The object.
@discardableResult
public func track<Object: AnyObject>(
    _ object: Object, _ label: String? = nil, file: StaticString = #fileID, line: UInt = #line
) -> Object {
    guard let scope = LeakTracker.current else {
        fatalError(
            "track(_:): there is no scope in which \(type(of: object)) could be tracked at \(file):\(line); call it in a "
                + "test with .verifiesNoLeaks, in verifyNoLeaks { }, or in a scope's adopt { }.")
    }
    return scope.track(object, label, file: file, line: line)
}
