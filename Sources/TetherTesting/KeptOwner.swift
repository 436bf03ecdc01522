internal import Tether

/// An owner alive at the end of its center, and perhaps kept alive by a handler of the center alone.
struct KeptOwner: Sendable {
    let owner: WatchedObject
    /// Whether the owner's own handler captures the owner. Nothing but the observer's end can then release the owner.
    let isCaptured: Bool
    let finding: Finding

    /// An owner reached by its own handler, or by `holder`, the handler of an owner that this owner keeps in turn.
    init(
        _ owner: WatchedObject, of registration: WatchedRegistration, heldBy holder: WatchedRegistration? = nil,
        by path: ReferencePath
    ) {
        let tracked = LeakTracker.Tracked(
            object: owner, label: "\(owner.type)", site: registration.site, isOwner: true)
        let handler = holder ?? registration
        let circle = holder == nil ? "" : ", and whose owner it keeps by its own"
        self.init(
            owner, isCaptured: holder == nil && path.isCapture, of: registration,
            "it was kept by \(handler.handlerDescription), which \(path.sentence(from: .closure))\(circle)",
            remedy: holder == nil ? SelfCapture.remedy : "Capture it weakly there.",
            handler.picture(path, to: HeapObject(address: owner.address), tracked.lines))
    }

    /// An owner that ended with the release of its handler, though the search found no path.
    init(_ owner: WatchedObject, of registration: WatchedRegistration) {
        self.init(
            owner, isCaptured: true, of: registration,
            "it was kept by \(registration.handlerDescription), which captures it, or leads to it by a value that "
                + "cannot be looked into or by another handler",
            remedy: SelfCapture.remedy, LeakPicture(handlerOf: registration).diagram)
    }

    /// An owner with an unknown holder, and the reason. The owner is reported only if it ends with the center.
    init(_ owner: WatchedObject, of registration: WatchedRegistration, untold reason: String) {
        self.init(
            owner, isCaptured: false, of: registration,
            "something kept it that a handler of the center captures, or that such a capture leads to; what it is is "
                + "untold, because \(reason)", remedy: SelfCapture.remedy,
            LeakPicture(handlerOf: registration).diagram)
    }

    private init(
        _ owner: WatchedObject, isCaptured: Bool, of registration: WatchedRegistration, _ keeping: String,
        remedy: String, _ picture: Diagram
    ) {
        self.owner = owner
        self.isCaptured = isCaptured
        finding = Finding(
            message: "\(owner.type), an owner, observed for at \(registration.site), went only because its center did: "
                + "until then \(keeping). With a center that stays, such as ObserverCenter.default, it leaks. "
                + remedy,
            site: registration.site, picture: picture)
    }
}
