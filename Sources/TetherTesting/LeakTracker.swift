internal import Foundation
public import Tether

/// A scope of a test that must leave nothing behind: no observer, no owner of an observer, no
/// tracked object.
///
/// Most tests need no more than `@Test(.verifiesNoLeaks)`, or `verifyNoLeaks { … }`, which make a
/// scope:
///
/// ```swift
/// @Test(.verifiesNoLeaks) func `a closed sidebar is gone`() {
///     let sidebar = track(Sidebar(center: .default))
///     sidebar.close()
/// }
/// ```
///
/// A test may use more of its scope:
///
/// - `track(_:)` verifies the end of an object that owns no observer, such as a model or a view.
/// - `probe(_:)` verifies the release of a closure that captures no object of yours.
/// - `Probe.touch()`, called in such a closure, captures the probe.
/// - `keep(_:)` excludes an object that is to outlive the test, such as a cache shared by all
///   tests.
/// - `adopt(_:)` makes the scope current on a queue or thread where work of the test registers
///   observers.
///
/// A registration belongs to the scope that is `current` at the call. The test's own tasks inherit
/// the scope. A handler runs in the scope of its observer, whichever test posts. A registration
/// without a scope, on a center that the scope uses, is reported with a warning, which fails no
/// test.
///
/// *Thread safety*: any thread.
public final class LeakTracker: Sendable {
    /// The scope of the running test, in this task or on this thread; in a handler, of the test
    /// that registered the observer, even if another test posts. An async handler has none, because
    /// its task is detached, and inherits nothing from the test.
    public static var current: LeakTracker? {
        let running = RegistrationWatch.running
        // The handler of an observer without a scope runs in the scope of its posting thread.
        for handler in running.handlers.dropFirst(scope?.countOfOuter(in: running) ?? 0).reversed()
        {
            if let known = Registrations.scope(of: handler) { return known.tracker }
        }
        return scope?.tracker
    }

    @TaskLocal package static var scope: Scope?

    /// A current tracker, which takes precedence over the handlers that ran when the tracker became
    /// current.
    package struct Scope: Sendable {
        fileprivate let tracker: LeakTracker
        private let thread: ObjectIdentifier
        private let outer: [WatchedRegistration.ID]

        package init(_ tracker: LeakTracker) {
            self.tracker = tracker
            (thread, outer) = RegistrationWatch.running
        }

        /// The number of running handlers outside of this scope; 0 in a task that inherits the
        /// scope, on any thread.
        fileprivate func countOfOuter(
            in running: (thread: ObjectIdentifier, handlers: [WatchedRegistration.ID])
        ) -> Int {
            thread == running.thread && running.handlers.starts(with: outer) ? outer.count : 0
        }
    }

    /// An object that must end with the scope. The tracker does not retain the object.
    struct Tracked: Sendable {
        let object: WatchedObject
        let label: String
        let site: Site
        /// The observer or work whose owner the object is, in words; `nil` if `track` was called.
        let owned: String?
        var isOwner: Bool { owned != nil }
    }

    struct State: Sendable {
        /// Whether the verdict was given. A later registration or tracked object is ignored.
        var isClosed = false
        var tracked: [Tracked] = []
        /// The known objects by address. A new object may have the address of an ended object.
        var objects: [UInt: WatchedObject] = [:]
        var registrations: [WatchedRegistration] = []
        /// The centers made or used in the scope.
        var centers: Set<RegistrationWatch.CenterNumber> = []
        var kept: [WatchedObject] = []
        var keptUntilCenterEnded: [KeptOwner] = []
        /// The findings about tokens that their own handlers kept until the center ended.
        var keptTokens: [Finding] = []
        /// The time left for the searches at the ends of centers.
        var timeForCenters = Duration.seconds(2)
        /// Each ends a wait for pending deliveries; called when the registration or the
        /// verification ends.
        var waits: [WatchedRegistration.ID: @Sendable () -> Void] = [:]
        /// Each reports the end of a registration to a waiting verification.
        var ended: [WatchedRegistration.ID: @Sendable () -> Void] = [:]
    }

    let state = Locked(State())

    /// Makes an empty scope, which `adopt(_:)` makes current.
    public init() {
        Registrations.listen()
    }

    package convenience init(holderSearch: Duration) {
        self.init()
        state.withLock { $0.timeForCenters = holderSearch }
    }

    deinit { close() }

    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Ends the scope. The last scope ends the listening.
    package func close() {
        let old = state.withLock { state in
            let old = state
            state = State(isClosed: true)
            return old
        }
        if old.isClosed { return }
        Registrations.forget(old.registrations)
        Registrations.stopListening()
    }

    /// Runs a body here with this scope as current: registrations by the body and its child tasks
    /// belong to the scope.
    ///
    /// ```swift
    /// let scope = LeakTracker.current
    /// queue.async {
    ///     scope?.adopt {
    ///         center.observe(nil, owner: sidebar) { sidebar, _ in … }
    ///     }
    /// }
    /// ```
    @discardableResult
    public func adopt<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        // `withValue` rethrows anything.
        let outcome: Swift.Result<Result, Failure> = LeakTracker.$scope.withValue(Scope(self)) {
            do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    // MARK: Tracking

    /// Tracks an object without retaining it, and returns the object. Findings name the object by
    /// `label`, or else by its type, and the line of the call. A box made by a cast of a value to
    /// `AnyObject` stops the program with a message, because each cast makes another box.
    @discardableResult
    public func track<Object: AnyObject>(
        _ object: Object, _ label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> Object {
        ObjectArgument.tracked.check(object, at: CallSite(fileID, line, call: "track(_:)"))
        if isClosed { return object }
        let site = Site(file: "\(fileID)", line: Int(line))
        let tracked = Tracked(
            object: watched(object), label: label ?? "\(type(of: object))", site: site,
            owned: nil)
        state.withLock { $0.tracked.append(tracked) }
        return object
    }

    /// Excludes an object kept on purpose beyond the scope, without retaining it. Neither the
    /// object nor its observers are leaks, and its tasks and loops may go on. A delivery that is
    /// pending for one of its observers is waited for, because of what the notification holds.
    @discardableResult
    public func keep<Object: AnyObject>(
        _ object: Object, fileID: StaticString = #fileID, line: UInt = #line
    ) -> Object {
        if isClosed { return object }
        let kept = watched(object)
        state.withLock { $0.kept.append(kept) }
        return object
    }

    /// Makes and tracks an object to capture, named `label` in findings. The probe is alive as long
    /// as a closure with the capture is alive.
    public func probe(
        _ label: String = "a captured value", fileID: StaticString = #fileID, line: UInt = #line
    ) -> Probe {
        track(Probe(), label, fileID: fileID, line: line)
    }

    /// An object with no other purpose than to be captured.
    public final class Probe: Sendable {
        fileprivate init() {}

        /// Does nothing. A closure that calls the method captures the probe.
        public func touch() {}
    }

    /// Watches for the end of an object that the caller holds. The watch begins here, and not with
    /// the wait, because then the verification alone might hold the object.
    private func watched(_ object: AnyObject) -> WatchedObject {
        let address = HeapObject(object).address
        if let known = state.withLock({ $0.objects[address] }), !known.hasEnded { return known }
        let watched = WatchedObject(object)
        // Released without the lock: the end of a watched object takes other locks.
        let old = state.withLock { $0.objects.updateValue(watched, forKey: address) }
        withExtendedLifetime(old) {}
        return watched
    }

    func add(_ center: RegistrationWatch.CenterNumber) {
        state.withLock { if !$0.isClosed { $0.centers.insert(center) } }
    }

    func add(_ registration: WatchedRegistration, owner: AnyObject?) {
        let owner = owner.map {
            Tracked(
                object: watched($0), label: "\(type(of: $0))", site: registration.site,
                owned: registration.ownedDescription)
        }
        state.withLock { state in
            state.registrations.append(registration)
            if registration.work == nil { state.centers.insert(registration.center) }
            if let owner { state.tracked.append(owner) }
        }
    }

    // MARK: Asking

    /// An object, observer or delivery left behind by mistake.
    public struct Leak: Sendable, CustomStringConvertible {
        /// The kind and origin of the leak, in one line.
        public let description: String
        private let picture: Diagram

        init(_ description: String, _ picture: Diagram) {
            self.description = printable(description)
            self.picture = picture
        }

        /// The path of holders, as a graph for Graphviz: draw with `dot -Tsvg`.
        ///
        /// Boxes are objects, named by type, and handlers, with the line of each registration. An
        /// arrow leads from a holder to a held object, and names the property. Red is the first
        /// holder, the place of the repair. Yellow is the object left behind. Grey is an unknown
        /// holder.
        public func dot() -> String { picture.graphviz }

        /// The path of holders, as a flow chart for Mermaid, which Markdown on many hosts draws;
        /// see `dot()`.
        public func mermaid() -> String { picture.mermaid }

        /// The path of holders, as an SVG picture, with the repair above the first holder; see
        /// `dot()`.
        public func svg() -> String { picture.svg }
    }

    /// The tracked objects alive now, and the current observers of the given centers, if any. The
    /// call does not wait for deliveries or releases.
    public func leaks(in centers: any NotifyingCenter...) -> [Leak] {
        let objects = state.withLock(\.tracked).filter { !$0.isOwner && !$0.object.hasEnded }.map {
            tracked in
            Leak(
                "\(tracked.label) is still alive, tracked at \(tracked.site)",
                LeakPicture(tracked.lines, .yellow).diagram)
        }
        let observers = centers.flatMap { $0.audit() }.map { row in
            Leak(
                "still observing: \(row)",
                LeakPicture(
                    ["observer of \(describeName(row.name))", "\(row.file):\(row.line)"], .yellow
                )
                .diagram)
        }
        return objects + observers
    }
}

/// Tracks an object in the current scope, and returns the object. The test fails if the object
/// outlives the scope. See ``LeakTracker/track(_:_:fileID:line:)``.
@discardableResult
public func track<Object: AnyObject>(
    _ object: Object, _ label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Object {
    guard let scope = LeakTracker.current else {
        fatalError(
            "track(_:): \(type(of: object)) is tracked without a scope at \(fileID):\(line); call track(_:) in a "
                + "test with .verifiesNoLeaks, in verifyNoLeaks { }, or in a scope's adopt { }.")
    }
    return scope.track(object, label, fileID: fileID, line: line)
}
