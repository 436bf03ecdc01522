internal import Foundation
internal import Synchronization
public import Tether

extension ObserverCenter {
    /// Whether a handler that strongly captures its own owner is reported when it is registered, before anything has
    /// leaked.
    ///
    /// ```swift
    /// // When a debug build starts.
    /// ObserverCenter.warnsOfSelfCapture = true
    /// ```
    ///
    /// In a test of Swift Testing that links `TetherVerification` the report is an issue at the line of the registration;
    /// elsewhere it is a line on the standard error. It looks into every handler that is registered with an owner, on all
    /// centers: the nearest 200 objects that the handler leads to, and a thousand elements of collections, each of which costs
    /// some microseconds in system calls. That is up to ten milliseconds for a handler that captures a large model, and a few
    /// times that where its elements are tuples or existentials; what is farther away is left to the verification of leaks. It is
    /// for debug builds, and does nothing in others.
    public static var warnsOfSelfCapture: Bool {
        get { SelfCapture.isReported.load(ordering: .relaxed) }
        set {
            Registrations.listen()
            SelfCapture.isReported.store(newValue, ordering: .relaxed)
        }
    }
}

/// Handlers that capture their own owner.
enum SelfCapture {
    static let isReported = Atomic<Bool>(false)
    /// Goes before `isReported`, for tests of it beside others that capture owners on purpose.
    @TaskLocal static var isReportedHere: Bool?

    /// The advice about a self-capture.
    static let remedy = "Use the owner that the handler is handed, or capture it weakly there."

    /// How many objects are looked into for one handler.
    static let limit = 200
    /// How many elements of the collections among them.
    static let elementLimit = 1000

    /// Looks into a handler, if that was asked for.
    static func check(
        _ handler: ValueBytes, of owner: AnyObject?, at registration: WatchedRegistration
    ) {
        #if DEBUG
        guard let owner, isReportedHere ?? isReported.load(ordering: .relaxed),
            let path = ObjectGraph(limit: limit, elements: elementLimit).path(from: handler, to: HeapObject(owner))
        else { return }
        let finding = Finding(
            message: "\(type(of: owner)) will be kept by its own handler registered at \(registration.site) "
                + "(\(registration.subject)), which \(path.sentence(from: .closure)). \(remedy)",
            site: registration.site, picture: registration.picture(path, to: HeapObject(owner), ["\(type(of: owner))"]))
        finding.tell()
        #endif
    }
}
