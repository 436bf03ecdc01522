internal import Tether

/// An owner that lives when its center ends, and may live only because of that center: a handler keeps it.
struct KeptOwner: Sendable {
    let owner: WatchedObject
    /// Whether the handler captures it, so that nothing but the observer's end would have let it go.
    let isCaptured: Bool
    let finding: Finding

    /// An owner to which its own handler leads, or that of another owner, which it keeps itself.
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

    /// An owner that went when its handler was let go of, where the search saw no way to it.
    init(_ owner: WatchedObject, of registration: WatchedRegistration) {
        self.init(
            owner, isCaptured: true, of: registration,
            "it was kept by \(registration.handlerDescription), which captures it, or leads to it by a value that "
                + "cannot be looked into or by another handler",
            remedy: SelfCapture.remedy, LeakPicture(handlerOf: registration).diagram)
    }

    /// An owner of which it is not known what leads to it, and why not; it counts if it goes with the center.
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
