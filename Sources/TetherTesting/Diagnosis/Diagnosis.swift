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
    /// The tasks, loops and closures of each owner, by the owner's address.
    private let work: [UInt: [WatchedRegistration]]
    private let sequences: [WatchedRegistration]
    private let memory: MemorySearch

    init(
        registrations: [WatchedRegistration], objects: [LeakTracker.Tracked], limit: Duration
    ) {
        self.registrations = registrations
        self.objects = objects
        self.limit = limit
        memory = MemorySearch(limit: limit)
        var work: [UInt: [WatchedRegistration]] = [:]
        for registration in registrations where registration.work != nil {
            guard let owner = registration.owner else { continue }
            work[owner, default: []].append(registration)
        }
        self.work = work
        sequences = registrations.filter(\.isSequence)
    }

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
            ?? reasonInMemory(for: object, tracked)
            ?? Reason(
                words: "it has "
                    + unexplained(.object, object.count, holders, suspects: suspects(object)),
                picture: Diagnosis.unexplained(object.count, of: tracked.lines))
        return Finding(
            message: "\(tracked.subject(besides: reason.site)) is still alive: \(reason.words)",
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
                    "\(registration.handlerDescription) \(path.sentence(from: .closure)). "
                    + Diagnosis.remedy(path, in: registration, to: object),
                site: registration.site,
                picture: registration.picture(path, to: object.heap, tracked.lines))
        }
        if let registration = holders.runningHandler(of: object.heap) {
            var picture = LeakPicture(handlerOf: registration)
            picture.hold(tracked.lines, "runs with")
            return Reason(
                words:
                    "the running handler registered at \(registration.site) (\(registration.subject)) retains it",
                site: registration.site, picture: picture.diagram)
        }
        if let (registration, name, path) = holders.notification(of: object.heap) {
            var picture = LeakPicture(handlerOf: registration)
            picture.hold(
                [name.rawValue], "pending on \(registration.pending.target)", .pill, .green)
            return Reason(
                words:
                    "the notification \(name.rawValue), pending on \(registration.pending.target) "
                    + "for \(registration.handlerDescription), retains it",
                site: registration.site,
                picture: picture.following(path, from: .object, to: tracked.lines).diagram)
        }
        return holders.object(of: object.heap).map { other, path in
            let root: ReferencePath.Root = other.object === tracked.object ? .itself : .object
            return Reason(
                words: root.isItself
                    ? "it retains itself: \(path.sentence(from: root)). Make one of these weak."
                    : "it is retained by \(other.label), \(path.sentence(from: root)), and which is still alive",
                picture: LeakPicture(other.lines).following(path, from: root, to: tracked.lines)
                    .diagram)
        }
    }

    /// The holder outside of the scope, found in the memory of the process.
    private func reasonInMemory(for object: LeftObject, _ tracked: LeakTracker.Tracked) -> Reason? {
        guard let found = memory.explanation(of: object, in: tracked.lines) else { return nil }
        let suspects = suspects(object)
        // A known task of the owner says more than the remedy for any task.
        let remedy = found.isTask && !suspects.isEmpty ? "" : found.remedy
        let places = found.isTask ? [suspects, loops] : [suspects]
        let known = places.filter { !$0.isEmpty }.joined(separator: ", and at ")
        let look = known.isEmpty ? "" : "Look at \(known)."
        let words = [found.words, remedy, look].filter { !$0.isEmpty }
        return Reason(words: words.joined(separator: " "), picture: found.picture)
    }

    private static func remedy(
        _ path: ReferencePath, in registration: WatchedRegistration, to object: LeftObject
    ) -> String {
        if let holder = path.firstHolder {
            return "Capture \(holder) weakly there, or break that path before the test ends."
        }
        let isOwner = registration.owner == object.heap.address
        return isOwner ? registration.remedy : "Capture it weakly there."
    }

    // MARK: Observers

    private func finding(
        _ registration: WatchedRegistration, token: LeftObject?, _ holders: Holders
    ) -> Finding {
        if registration.isSequence {
            return Finding(
                message:
                    "\(registration.description) is still open: a task iterates it, or a task or an object retains it. "
                    + "Cancel the task, release the sequence, or give it an owner (owner:), before the test ends.",
                site: registration.site,
                picture: LeakPicture([
                    "sequence of \(registration.subject)", "\(registration.site)",
                ]).diagram)
        }
        let reason =
            token.map { tokenHolder($0, of: registration, holders) }
            ?? Reason(
                words: "its token was deallocated, and the observer is still ending",
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
                    words: "\(holder.handlerDescription) "
                        + path.sentence(from: .closure, calling: "its token"),
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
                    "its token is retained by \(object.label), \(path.sentence(from: .object, calling: "that token"))",
                picture: LeakPicture(object.lines).following(
                    path, from: .object, to: registration.tokenLines
                ).diagram)
        }
        if let found = memory.explanation(
            of: token, calling: "its token", in: registration.tokenLines)
        {
            let remedy = "Release it, or call `cancel()`, before the test ends."
            return Reason(words: "\(found.words) \(remedy)", picture: found.picture)
        }
        return Reason(
            words: "its token has \(unexplained(.token, token.count, holders))",
            picture: Diagnosis.unexplained(token.count, of: registration.tokenLines))
    }

    // MARK: Without an explanation

    /// Some of the sequences whose loops may hold an object.
    private var loops: String {
        let active = sequences.lazy.filter(\.isActive).prefix(3).map(\.description)
        return active.isEmpty ? "" : "the loop over \(active.joined(separator: ", or that over "))"
    }

    /// Some of the running tasks of an owner, whose local variables may hold the owner.
    private func suspects(_ owner: LeftObject) -> String {
        let running = work[owner.heap.address, default: []].lazy.filter(\.isRunning)
        return running.prefix(3).map { work in
            let question =
                work.work == .loop
                ? "or does its sequence capture the owner?"
                : "a `guard let self` before its loop, or a call of a method that loops?"
            return "\(work.handlerDescription), which still runs (\(question))"
        }.joined(separator: ", or ")
    }

    static func references(_ count: Int) -> String {
        count == 1 ? "1 strong reference" : "\(count) strong references"
    }

    static let unbalanced =
        "an unbalanced retain, such as `Unmanaged.passRetained`, or the context of a C callback"

    static func unexplained(_ count: Int, of lines: [String]) -> Diagram {
        var picture = LeakPicture([references(count), "not found"], .grey)
        picture.hold(lines, "")
        return picture.diagram
    }

    private enum Subject { case object, token }

    private func unexplained(
        _ subject: Subject, _ count: Int, _ holders: Holders, suspects: String = ""
    ) -> String {
        let references = Diagnosis.references(count)
        guard Memory.isReadable else {
            return "\(references). Their holders are unknown, because this process may not read "
                + "its own memory."
        }
        if holders.graph.isExhausted || memory.isOver {
            return "\(references). Their holders are unknown: the search reached its limit of "
                + "\(limit), after \(holders.graph.count) objects. Raise `holderSearch:`."
        }
        if holders.graph.isCut {
            return "\(references). Their holders are unknown: the search reads only the first "
                + "\(Container.limit) places, or the first megabyte, of a large collection. "
                + "Look in the rest of such an array, set or dictionary."
        }
        switch subject {
        case .object:
            return
                "\(references). No handler, notification or object of this scope holds it. Look for: "
                + "\(suspects.isEmpty ? "" : "\(suspects), ")a local variable outside the body, a global, a task, a thread, a closure of the "
                + "test's own\(loops.isEmpty ? "" : ", such as \(loops)"), a capture that cannot be inspected (Mutex, any Error). "
                + "If it is kept on purpose, call `keep(_:)`."
        case .token:
            return
                "\(references). Nothing in this scope holds it. Look for: a local variable outside "
                + "the body, a global, an object that outlives the test. Release it, or call "
                + "`cancel()`, before the test ends."
        }
    }
}

extension LeakTracker.Tracked {
    /// The object as the subject of a sentence. The place of an owner's registration is left out if
    /// the sentence names it anyway, as the place of the repair.
    func subject(besides repair: Site?) -> String {
        guard let owned else { return "\(label), tracked at \(site)," }
        if repair?.description == site.description { return label }
        return "\(label), the owner of \(owned),"
    }
}
