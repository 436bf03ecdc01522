internal import Foundation
internal import Tether

/// Finds out, for what is left of a scope, why it is.
struct Diagnosis {
    /// The live registrations of the scope, whose handlers may keep something.
    let registrations: [WatchedRegistration]
    /// The objects that are left.
    let objects: [LeakTracker.Tracked]

    /// A finding for each object, then for each of the observers that no owner accounts for.
    func findings(observers: [WatchedRegistration]) -> [Finding] {
        objects.compactMap(finding) + observers.map(finding)
    }

    // MARK: Objects

    private func finding(_ tracked: LeakTracker.Tracked) -> Finding? {
        guard let object = tracked.object else { return nil }
        // Ours is one of them.
        let references = strongReferences(to: object) - 1
        let reason = reason(for: object, tracked)
        let what = tracked.isOwner ? "an owner, observed for at \(tracked.site)," : "tracked at \(tracked.site),"
        return Finding(
            message: "\(tracked.label), \(what) is still alive: \(reason?.words ?? unexplained(references))",
            site: reason?.site ?? tracked.site)
    }

    private func unexplained(_ references: Int) -> String {
        let count = references == 1 ? "1 strong reference" : "\(references) strong references"
        guard Memory.isReadable else {
            return
                "it has \(count); what they are cannot be found out, because this process may not read its own memory"
        }
        return "it has \(count), and none of them was found in what this scope's handlers, pending notifications and "
            + "objects hold. Look for it in a global, a task, a thread or a closure of the test's own; if the test keeps "
            + "it on purpose, say so with the scope's keep(_:)"
    }

    private func reason(for object: AnyObject, _ tracked: LeakTracker.Tracked) -> (words: String, site: Site)? {
        let target = HeapObject(object)
        for registration in registrations {
            guard let handler = registration.handler,
                let path = ReferencePath.find(from: ReferencePath.roots(handler), to: target)
            else { continue }
            return (
                "it is kept by \(registration.handlerDescription), which \(path.sentence(from: .closure)). "
                    + Diagnosis.remedy(path, isAttached: registration.isAttached), registration.site
            )
        }
        for registration in registrations {
            for notification in registration.pendingNotifications
            where Diagnosis.holds(notification, target) {
                return (
                    "it is kept by a notification, \(notification.name.rawValue), that is pending on "
                        + "\(registration.pending.target) for \(registration.handlerDescription)", registration.site
                )
            }
        }
        if let cycle = ReferencePath.cycle(through: target) {
            return ("it keeps itself: \(cycle.sentence(from: .itself)). Make one of these weak.", tracked.site)
        }
        for other in objects where other !== tracked {
            guard let holder = other.object,
                let path = ReferencePath.find(from: HeapObject(holder).references, to: target)
            else { continue }
            return (
                "it is kept by \(other.label), \(path.sentence(from: .object)), and which is still alive", tracked.site
            )
        }
        return nil
    }

    private static func holds(_ notification: Notification, _ target: HeapObject) -> Bool {
        ReferencePath.find(from: ReferencePath.roots(of: notification.object), to: target) != nil
            || ReferencePath.find(from: ReferencePath.roots(of: notification.userInfo), to: target) != nil
    }

    private static func remedy(_ path: ReferencePath, isAttached: Bool) -> String {
        if let holder = path.firstHolder {
            return "Capture \(holder) weakly there, or open that way before the test ends."
        }
        return isAttached
            ? "Use the owner that the handler is handed, or capture it weakly there." : "Capture it weakly there."
    }

    // MARK: Observers

    private func finding(_ registration: WatchedRegistration) -> Finding {
        let start = "\(registration.description) is still active: "
        return Finding(message: start + tokenHolder(of: registration), site: registration.site)
    }

    private func tokenHolder(of registration: WatchedRegistration) -> String {
        guard let token = registration.token else { return "its token has gone, and its end has not come yet" }
        let references = strongReferences(to: token) - 1
        let target = HeapObject(token)
        if let handler = registration.handler,
            let path = ReferencePath.find(from: ReferencePath.roots(handler), to: target)
        {
            return "its own handler \(path.sentence(from: .closure, calling: "this observer's token")). Capture "
                + "\(path.firstHolder ?? "it") weakly there, or stop() the observer before the test ends."
        }
        for other in registrations where other !== registration {
            guard let handler = other.handler,
                let path = ReferencePath.find(from: ReferencePath.roots(handler), to: target)
            else { continue }
            return "its token is kept by \(other.handlerDescription), which "
                + path.sentence(from: .closure, calling: "that token")
        }
        for object in objects {
            guard let holder = object.object,
                let path = ReferencePath.find(from: HeapObject(holder).references, to: target)
            else { continue }
            return "its token is kept by \(object.label), \(path.sentence(from: .object, calling: "that token"))"
        }
        let count = references == 1 ? "1 strong reference" : "\(references) strong references"
        return
            "its token has \(count), which nothing of this scope holds. Look for it in a global, or in an object that "
            + "outlives the test; stop() it, or let it go, before the test ends"
    }
}
