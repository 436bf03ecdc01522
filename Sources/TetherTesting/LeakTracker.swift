public import Tether

/// Verifies, in a test, that what should have gone has gone: owners, captured values, observers.
///
/// ```swift
/// let leaks = LeakTracker()
/// do {
///     let sidebar = leaks.track(Sidebar())
///     let probe = leaks.probe("the handler's capture")
///     center.observe(.modelDidChange, owner: sidebar) { _, _ in probe.touch() }
/// }
/// #expect(leaks.leaks(in: center).isEmpty)
/// ```
///
/// It tells at the moment that it is asked, and waits for nothing: ask after what you wait for.
///
/// *Thread safety*: any thread.
public final class LeakTracker: Sendable {
    /// SAFETY: the weak reference is written once; loading it is atomic.
    private final class Tracked: @unchecked Sendable {
        weak var object: AnyObject?
        let label: String
        let file: String
        let line: UInt

        init(_ object: AnyObject, label: String, file: String, line: UInt) {
            self.object = object
            self.label = label
            self.file = file
            self.line = line
        }
    }

    private let tracked = Guarded<[Tracked]>([])

    /// Makes a tracker of nothing.
    public init() {}

    /// Tracks an object, without keeping it, and returns it.
    @discardableResult
    public func track<Object: AnyObject>(
        _ object: Object, _ label: String? = nil, file: StaticString = #fileID, line: UInt = #line
    ) -> Object {
        let tracked = Tracked(object, label: label ?? "\(type(of: object))", file: "\(file)", line: line)
        self.tracked.withLock { $0.append(tracked) }
        return object
    }

    /// Makes an object to capture, and tracks it: as long as it lives, whatever captured it does.
    public func probe(_ label: String = "a captured value", file: StaticString = #fileID, line: UInt = #line) -> Probe {
        track(Probe(), label, file: file, line: line)
    }

    /// An object that does nothing but live.
    public final class Probe: Sendable {
        fileprivate init() {}

        /// Uses the probe, so that a closure captures it.
        public func touch() {}
    }

    /// What is alive that should have gone.
    public struct Leak: Sendable, CustomStringConvertible {
        /// What it is and where it came from, in one line.
        public let description: String
    }

    /// The tracked objects that are alive, and the observers that the given centers have.
    public func leaks(in centers: any NotifyingCenter...) -> [Leak] {
        let objects = tracked.withLock(\.self).filter { $0.object != nil }.map { tracked in
            Leak(description: "\(tracked.label) is still alive, tracked at \(tracked.file):\(tracked.line)")
        }
        let observers = centers.flatMap { $0.audit() }.map { Leak(description: "still observing: \($0)") }
        return objects + observers
    }
}
