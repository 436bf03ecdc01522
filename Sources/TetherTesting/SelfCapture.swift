internal import Foundation
internal import Synchronization
public import Tether

extension ObserverCenter {
    /// Whether a registration reports a handler that strongly captures its own owner, before
    /// anything has leaked.
    ///
    /// ```swift
    /// // When a debug build starts.
    /// ObserverCenter.warnsOfSelfCapture = true
    /// ```
    ///
    /// In a test of Swift Testing that links `TetherVerification` the report is an issue at the
    /// line of the registration; elsewhere, a line on the standard error. Each registration with an
    /// owner, on any center, searches the nearest 200 objects that the handler leads to, with a
    /// thousand elements of collections. Each object or element costs some microseconds in system
    /// calls. A handler that captures a large model costs up to ten milliseconds, or a few times
    /// more if the elements are tuples or existentials. The verification of leaks finds more
    /// distant captures. The check is for debug builds, and does nothing in others.
    public static var warnsOfSelfCapture: Bool {
        get { SelfCapture.isReported.load(ordering: .relaxed) }
        set {
            guard SelfCapture.isReported.exchange(newValue, ordering: .relaxed) != newValue else {
                return
            }
            if newValue { Registrations.listen() } else { Registrations.stopListening() }
        }
    }
}

enum SelfCapture {
    static let isReported = Atomic<Bool>(false)
    /// Overrides `isReported` in a task, for tests that run beside tests with captures on purpose.
    @TaskLocal static var isReportedHere: Bool?

    static let remedy = "Use the handler's owner argument, or capture it weakly."

    /// The greatest number of objects to search for one handler.
    static let limit = 200
    /// The greatest number of elements in the collections among these objects.
    static let elementLimit = 1000

    /// Whether a loop's handler or sequence captures the owner, which then lives as long as the
    /// loop. A task may capture its owner until it returns.
    static func isOfLoop(_ registration: WatchedRegistration) -> Bool {
        guard registration.work == .loop, !registration.hasOwnerEnded,
            let owner = registration.owner, let handler = registration.handler
        else { return false }
        let graph = ObjectGraph(limit: limit, elements: elementLimit)
        return graph.path(from: handler, to: HeapObject(address: owner)) != nil
    }

    static func check(
        _ handler: ValueBytes, of owner: AnyObject?, at registration: WatchedRegistration
    ) {
        #if DEBUG
        // A task that returns may capture its owner until then.
        guard registration.work != .task, let owner,
            isReportedHere ?? isReported.load(ordering: .relaxed),
            let path = ObjectGraph(limit: limit, elements: elementLimit).path(
                from: handler, to: HeapObject(owner))
        else { return }
        let finding = Finding(
            message:
                "\(type(of: owner)) will be retained by its own \(registration.kindOfWork): "
                + "\(registration.handlerDescription) \(path.sentence(from: .closure)). "
                + registration.remedy,
            site: registration.site,
            picture: registration.picture(path, to: HeapObject(owner), ["\(type(of: owner))"]))
        finding.report()
        #endif
    }
}
