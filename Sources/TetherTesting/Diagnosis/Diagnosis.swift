internal import Foundation
internal import Tether

/// Explains why the objects and observers left behind by a scope are still there.
///
/// All explanations come from one graph of objects, read within the limit for the search. A finding
/// says if the limit ended the search.
struct Diagnosis {
    /// The registrations of the scope, whose handlers may keep objects.
    let registrations: [WatchedRegistration]
    /// The objects left behind.
    let objects: [LeakTracker.Tracked]
    /// How long the search for holders may take.
    let limit: Duration

    /// A finding for each object, then for each observer without an owner.
    func findings(observers: [WatchedRegistration]) -> [Finding] {
        let objects = objects.compactMap { tracked in
            LeftObject(tracked.object).map { (tracked, $0) }
        }
        let observers = observers.map { observer in
            (observer, token: observer.token.map(LeftObject.init))
        }
        let holders = Holders(
            registrations: registrations, objects: objects,
            targets: objects.map(\.1.heap) + observers.compactMap(\.token?.heap), limit: limit)
        let findings = objects.map { ($0.0, finding($0.0, $0.1, holders)) }
        // An object that ended during the search is not a leak.
        return findings.filter { !$0.0.object.hasEnded }.map(\.1).counted()
            + observers.map { ($0.0, finding($0.0, token: $0.token, holders)) }.filter(\.0.isActive)
            .map(\.1).counted()
    }

    // MARK: Objects

    private func finding(_ tracked: LeakTracker.Tracked, _ object: LeftObject, _ holders: Holders)
        -> Finding
    {
        let reason =
            reason(for: object, tracked, holders)
            ?? Reason(
                words: "it has \(unexplained(object.count, holders, keep: true))",
                picture: unexplained(object.count, of: tracked.lines))
        let what =
            tracked.isOwner
            ? "an owner, observed for at \(tracked.site)," : "tracked at \(tracked.site),"
        return Finding(
            message: "\(tracked.label), \(what) is still alive: \(reason.words)",
            site: reason.site ?? tracked.site,
            picture: reason.picture)
    }

    /// The cause of a leak: in words, with the place of the repair, and as a picture.
    private struct Reason {
        let words: String
        var site: Site?
        let picture: Diagram
    }

    private func reason(for object: LeftObject, _ tracked: LeakTracker.Tracked, _ holders: Holders)
        -> Reason?
    {
        if let (registration, path) = holders.handler(of: object.heap) {
            return Reason(
                words:
                    "it is kept by \(registration.handlerDescription), which \(path.sentence(from: .closure)). "
                    + Diagnosis.remedy(path, isOwner: registration.owner == object.heap.address),
                site: registration.site,
                picture: registration.picture(path, to: object.heap, tracked.lines))
        }
        if let registration = holders.runningHandler(of: object.heap) {
            var picture = LeakPicture(handlerOf: registration)
            picture.hold(tracked.lines, "runs with")
            return Reason(
                words:
                    "it is held by the running handler registered at \(registration.site) (\(registration.subject))",
                site: registration.site, picture: picture.diagram)
        }
        if let (registration, name, path) = holders.notification(of: object.heap) {
            var picture = LeakPicture(handlerOf: registration)
            picture.hold(
                [name.rawValue], "pending on \(registration.pending.target)", .pill, .green)
            return Reason(
                words: "it is kept by a notification, \(name.rawValue), that is pending on "
                    + "\(registration.pending.target) for \(registration.handlerDescription)",
                site: registration.site,
                picture: picture.following(path, from: .object, to: tracked.lines).diagram)
        }
        return holders.object(of: object.heap).map { other, path in
            let root: ReferencePath.Root = other.object === tracked.object ? .itself : .object
            return Reason(
                words: root == .itself
                    ? "it keeps itself: \(path.sentence(from: root)). Make one of these weak."
                    : "it is kept by \(other.label), \(path.sentence(from: root)), and which is still alive",
                picture: LeakPicture(other.lines).following(path, from: root, to: tracked.lines)
                    .diagram)
        }
    }

    private static func remedy(_ path: ReferencePath, isOwner: Bool) -> String {
        if let holder = path.firstHolder {
            return "Capture \(holder) weakly there, or open that way before the test ends."
        }
        return isOwner ? SelfCapture.remedy : "Capture it weakly there."
    }

    // MARK: Observers

    private func finding(
        _ registration: WatchedRegistration, token: LeftObject?, _ holders: Holders
    ) -> Finding {
        if registration.isSequence {
            return Finding(
                message:
                    "\(registration.description) is still open: a task iterates it, or holds it, or an object does. "
                    + "Cancel the task, let the sequence go, or have it end with an owner (owner:), before the test ends.",
                site: registration.site,
                picture: LeakPicture([
                    "sequence of \(registration.subject)", "\(registration.site)",
                ]).diagram)
        }
        let reason =
            token.map { tokenHolder($0, of: registration, holders) }
            ?? Reason(
                words: "its token has gone, and its end has not come yet",
                picture: LeakPicture(handlerOf: registration).diagram)
        return Finding(
            message: "\(registration.description) is still active: \(reason.words)",
            site: registration.site,
            picture: reason.picture)
    }

    private func tokenHolder(
        _ token: LeftObject, of registration: WatchedRegistration, _ holders: Holders
    ) -> Reason {
        if let (holder, path) = holders.handler(of: token.heap) {
            var picture = LeakPicture(handlerOf: holder)
                .following(path, from: .closure, to: registration.tokenLines)
            guard holder === registration else {
                return Reason(
                    words: "its token is kept by \(holder.handlerDescription), which "
                        + path.sentence(from: .closure, calling: "that token"),
                    picture: picture.diagram)
            }
            picture.close("keeps, while it lives")
            return Reason(
                words:
                    "its own handler \(path.sentence(from: .closure, calling: "this observer's token")). Capture "
                    + "\(path.firstHolder ?? "it") weakly there, or cancel() the observer before the test ends.",
                picture: picture.diagram)
        }
        if let (object, path) = holders.object(of: token.heap) {
            return Reason(
                words:
                    "its token is kept by \(object.label), \(path.sentence(from: .object, calling: "that token"))",
                picture: LeakPicture(object.lines).following(
                    path, from: .object, to: registration.tokenLines
                ).diagram)
        }
        return Reason(
            words: "its token has \(unexplained(token.count, holders, keep: false))",
            picture: unexplained(token.count, of: registration.tokenLines))
    }

    // MARK: Without an explanation

    /// Some of the sequences whose loops may hold an object.
    private var loops: String {
        let sequences = registrations.lazy.filter { $0.isSequence && $0.isActive }.prefix(3).map(
            \.description)
        return sequences.isEmpty
            ? "" : ", such as the loop over \(sequences.joined(separator: ", or that over "))"
    }

    private func references(_ count: Int) -> String {
        count == 1 ? "1 strong reference" : "\(count) strong references"
    }

    private func unexplained(_ count: Int, of lines: [String]) -> Diagram {
        var picture = LeakPicture([references(count), "not found"], .grey)
        picture.hold(lines, "")
        return picture.diagram
    }

    private func unexplained(_ count: Int, _ holders: Holders, keep: Bool) -> String {
        let references = references(count)
        guard Memory.isReadable else {
            return
                "\(references); what they are cannot be found out, because this process may not read its own memory"
        }
        if holders.graph.isExhausted {
            return
                "\(references); what they are is untold, because the search for holders reached its limit, "
                + "\(limit), after \(holders.graph.count) objects. Set a longer one (holderSearch:), or look for it in what "
                + "the handlers capture"
        }
        if holders.graph.isCut {
            return
                "\(references); what they are is untold, because only the first \(Container.limit) places, or the "
                + "first megabyte, of a large collection are looked into. Look for it in the rest of such an array, set or "
                + "dictionary, or in what the handlers capture"
        }
        return keep
            ? "\(references), and none of them was found in what this scope's handlers, pending notifications and "
                + "objects hold. Look for it in a local variable outside of what is verified, in a global, a task, a "
                + "thread or a closure of the test's own\(loops), or in a value that a handler captures and that cannot be "
                + "looked into, such as a Mutex, an any Error or a task; if the test keeps it on purpose, say so with the "
                + "scope's keep(_:)"
            : "\(references), which nothing of this scope holds. Look for it in a local variable outside of what is "
                + "verified, in a global, or in an object that outlives the test; cancel() it, or let it go, before the "
                + "test ends"
    }
}
