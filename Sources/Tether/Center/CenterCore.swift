internal import Foundation
internal import Synchronization

/// A center without its public face: the registry under its lock, posting, and the late release of what posts under
/// way may still see.
///
/// Registrations hold their core, the core holds its registrations until they end; the public center ends them all
/// when it goes (R10).
///
/// SAFETY: `name` and `isExact` never change; all else is under the lock or atomic.
final class CenterCore: Sendable {
    /// Whether owners' ends are to be seen as they happen; off only in tests of the sweep.
    let usesExactLifetimes: Bool
    /// The foreign center that this core stands beside, if it does.
    let foreignCenter: ObjectIdentifier?
    /// The queues that post to this center later.
    let ledger = PostingLedger()
    private let state = Guarded(State())
    /// Moves on with every change that leaves something behind; a post notes it when it begins.
    private let era = Atomic<UInt64>(1)
    /// Whether something waits for posts to end.
    private let hasRetired = Atomic<Bool>(false)

    /// SAFETY: only touched under the mutex, which upholds it; what leaves is Sendable.
    private struct State: @unchecked Sendable {
        var registry = Registry()
        var isClosed = false
        /// What was taken out and the era in which it was, until no post that began by then is under way.
        var retired: [(era: UInt64, object: Registry.Leftovers.Element)] = []
    }

    init(usesExactLifetimes: Bool, foreignCenter: ObjectIdentifier? = nil) {
        self.usesExactLifetimes = usesExactLifetimes
        self.foreignCenter = foreignCenter
    }

    private var address: UInt { unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    // MARK: Posting

    /// Calls every match in registration order; `notification` is made only if there is one.
    func post(
        name: Notification.Name, node: NameNode? = nil, sender: () -> SenderKey?, notification: () -> Notification
    ) {
        let thread = PostingThread.current
        let frame = unsafe thread.begin(center: address, era: era.load(ordering: .acquiring))
        let matches = state.withLock { $0.registry.matches(name: name, node: node, sender: sender) }
        if matches.count > 0 {
            let notification = notification()
            if matches.count == 1, let only = matches.entries.0 {
                unsafe CenterCore.call(only, with: notification, at: frame)
            } else {
                unsafe CenterCore.callMerged(matches, with: notification, at: frame)
            }
        }
        unsafe thread.end(frame)
        if hasRetired.load(ordering: .relaxed) { reclaim() }
    }

    /// Delivers to one registration that a foreign center calls, as a post of this center.
    func deliver(_ notification: Notification, to registration: Registration) {
        let thread = PostingThread.current
        let frame = unsafe thread.begin(center: address, era: era.load(ordering: .acquiring))
        unsafe PostingThread.announce(registration.address, at: frame)
        registration.receive(notification)
        unsafe thread.end(frame)
        if hasRetired.load(ordering: .relaxed) { reclaim() }
    }

    @inline(__always)
    private static func call(
        _ entry: Registry.Matches.Entry, with notification: Notification, at frame: UnsafeMutablePointer<PostingFrame>
    ) {
        // SAFETY: slots and registrations outlive every post that may see them; see `retire`.
        unsafe entry.slots._withUnsafeGuaranteedRef { slots in
            for index in 0..<entry.used {
                guard let registration = unsafe slots.registration(at: index) else { continue }
                unsafe registration._withUnsafeGuaranteedRef { registration in
                    unsafe PostingThread.announce(registration.address, at: frame)
                    registration.receive(notification)
                }
            }
        }
    }

    private static func callMerged(
        _ matches: Registry.Matches, with notification: Notification, at frame: UnsafeMutablePointer<PostingFrame>
    ) {
        let (a, b, c, d) = matches.entries
        var cursors = [a, b, c, d].compactMap { $0 }.map { Cursor($0) }
        while let next = cursors.indices.min(by: { cursors[$0].id < cursors[$1].id }),
            let registration = unsafe cursors[next].head
        {
            cursors[next].advance()
            unsafe registration._withUnsafeGuaranteedRef { registration in
                unsafe PostingThread.announce(registration.address, at: frame)
                registration.receive(notification)
            }
        }
    }

    /// A position in one bucket's slots.
    ///
    /// SAFETY: as in `call`; lives no longer than the post.
    @safe private struct Cursor {
        private let entry: Registry.Matches.Entry
        private var index = 0
        private(set) var head: Unmanaged<Registration>?
        private(set) var id = UInt64.max

        init(_ entry: Registry.Matches.Entry) {
            self.entry = entry
            advance()
        }

        mutating func advance() {
            unsafe head = nil
            id = .max
            while index < entry.used, unsafe head == nil {
                // SAFETY: as in `call`.
                unsafe head = entry.slots._withUnsafeGuaranteedRef { unsafe $0.registration(at: index) }
                index += 1
            }
            if let head = unsafe head { id = unsafe head._withUnsafeGuaranteedRef { $0.id } }
        }
    }

    // MARK: Adding and removing

    /// Adds a registration, unless it has ended meanwhile; ends it if the center has gone.
    func add(_ registration: Registration, name: Notification.Name?, sender: SenderKey?) {
        let (replaced, isClosed, released) = state.withLock { state -> (Registration?, Bool, Registry.Leftovers) in
            if state.isClosed { return (nil, true, []) }
            if registration.hasEnded { return (nil, false, []) }
            var (replaced, leftovers) = state.registry.add(registration, name: name, sender: sender)
            // In the same step, so that a post which begins sees exactly one of the two (M7).
            if let old = replaced, !old.close() { replaced = nil }
            return (replaced, false, retire(&leftovers, in: &state))
        }
        if isClosed { registration.end() }
        replaced?.finish()
        withExtendedLifetime(released) {}
    }

    /// Takes a registration out; the caller releases what this returns.
    func unlink(_ registration: Registration) -> Registry.Leftovers {
        state.withLock { state in
            var leftovers = state.registry.remove(registration)
            return retire(&leftovers, in: &state)
        }
    }

    /// Ends every registration of a sender that has gone, after what is pending for it.
    ///
    /// Until then it stays where it is: it pins the sender's address, so no post can match it.
    func endAll(from sender: ObjectIdentifier) {
        for registration in registrations(from: .object(sender)) { registration.endAfterPending() }
    }

    /// Ends every registration, and takes no more.
    func close() {
        state.withLock { $0.isClosed = true }
        for registration in registrations() { registration.end() }
    }

    // MARK: Late release

    /// Hands over what has been taken out, and returns what no post under way may still see.
    private func retire(_ leftovers: inout Registry.Leftovers, in state: inout State) -> Registry.Leftovers {
        guard !leftovers.isEmpty else { return [] }
        let now = era.load(ordering: .relaxed)
        state.retired.append(contentsOf: leftovers.map { (now, $0) })
        era.store(now + 1, ordering: .releasing)
        return releasable(in: &state)
    }

    /// Takes out what was retired before the earliest post under way began.
    private func releasable(in state: inout State) -> Registry.Leftovers {
        var earliest = PostingThread.earliestPost(on: address)
        if let post = earliest, post.isElsewhere, !hasRetired.load(ordering: .relaxed) {
            // Either that post's end is seen now, or it will see that something waits for it.
            hasRetired.store(true, ordering: .sequentiallyConsistent)
            PostingThread.fenceOthers()
            earliest = PostingThread.earliestPost(on: address)
        }
        var released: Registry.Leftovers = []
        if let earliest {
            let firstKept = state.retired.firstIndex { $0.era >= earliest.era } ?? state.retired.endIndex
            released = state.retired[..<firstKept].map(\.object)
            state.retired.removeSubrange(..<firstKept)
        } else {
            released = state.retired.map(\.object)
            state.retired = []
        }
        hasRetired.store(!state.retired.isEmpty, ordering: .relaxed)
        return released
    }

    /// Releases what a post that has ended kept.
    @inline(never)
    private func reclaim() {
        let released = state.withLock { releasable(in: &$0) }
        withExtendedLifetime(released) {}
    }

    // MARK: Looking

    /// The live registrations that match what is given, in registration order.
    func registrations(named name: Notification.Name? = nil, from sender: SenderKey? = nil) -> [Registration] {
        state.withLock { $0.registry.registrations(named: name, from: sender) }
    }

    var count: Int { state.withLock { $0.registry.count } }

    /// The name and sender under which a live registration is kept.
    func subject(of registration: Registration) -> (name: Notification.Name?, sender: SenderKey?)? {
        state.withLock { _ in registration.bucket.map { ($0.node.name, $0.sender) } }
    }

    /// Whether nothing is kept: no name, sender, key or registration, nothing that waits for a post (M9).
    var isEmpty: Bool { state.withLock { $0.registry.isEmpty && $0.retired.isEmpty } }

    // MARK: Channels

    func holdNode(_ name: Notification.Name) -> NameNode {
        state.withLock { state in
            let node = state.registry.node(name)
            node.channels += 1
            return node
        }
    }

    func releaseNode(_ node: NameNode) {
        state.withLock { state in
            node.channels -= 1
            state.registry.discardIfUnused(node)
        }
    }
}
