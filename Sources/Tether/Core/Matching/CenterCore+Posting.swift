internal import Foundation
internal import Synchronization

/// Posting: matching, mostly without a lock, and calling.
extension CenterCore {
    /// Calls every match in registration order; `notify`, which calls its argument with the notification, is only called
    /// if there is one, and not even then if it is said to have no payload and the cache has it.
    func post(
        name: Notification.Name, isBare: Bool = false, sender: () -> SenderKey?,
        notify: ((Notification) -> Void) -> Void
    ) {
        let epoch = reclamation.epoch.load(ordering: .acquiring)
        unsafe ThreadRecord.withGuard(center: address, epoch: epoch) { epochGuard in
            switch quickMatch(name) {
            case .nothing: break
            case .only(let entry, let cached) where isBare:
                // SAFETY: the entry outlives this post; see `NameCache`.
                unsafe cached._withUnsafeGuaranteedRef { cached in
                    let stored = cached.withoutPayload
                    unsafe CenterCore.call(entry, with: stored.notification, stored: stored, at: epochGuard)
                }
            case .only(let entry, _): notify { unsafe CenterCore.call(entry, with: $0, at: epochGuard) }
            case .unknown:
                let matches = match(name: name, sender: sender)
                if matches.count == 1, let only = matches.entries.0 {
                    notify { unsafe CenterCore.call(only, with: $0, at: epochGuard) }
                } else if matches.count > 1 {
                    notify { unsafe CenterCore.callMerged(matches, with: $0, at: epochGuard) }
                }
            }
        }
        // What was unlinked before this began does not wait for it, however long it waits for another.
        if reclamation.hasGarbage(since: epoch) { reclaim(since: epoch) }
    }

    /// The slots that a post reaches, as far as they can be told without the lock.
    @safe private enum QuickMatch {
        case nothing
        case only(Registry.Matches.Entry, Unmanaged<CachedName>)
        case unknown
    }

    /// Matches a name that is in the cache, where nobody observes a sender of it, or any name.
    @inline(__always)
    private func quickMatch(_ name: Notification.Name) -> QuickMatch {
        let replacement = replacements.load(ordering: .acquiring)
        // SAFETY: cache, nodes and slots outlive every post that may see them; see `Reclamation`.
        guard case .nothing = unsafe anyName._withUnsafeGuaranteedRef({ $0.fastMatch }), replacement & 1 == 0 else {
            return .unknown
        }
        guard let cache = unsafe UnsafeRawPointer(bitPattern: cache.load(ordering: .sequentiallyConsistent)),
            let cached = unsafe Unmanaged<NameCache>.fromOpaque(cache)._withUnsafeGuaranteedRef({
                unsafe $0.find(StringBits(name.rawValue))
            })
        else {
            return .unknown
        }
        let match = unsafe cached._withUnsafeGuaranteedRef { unsafe $0.node._withUnsafeGuaranteedRef { $0.fastMatch } }
        switch match {
        case .nothing: return .nothing
        case .more: return .unknown
        case .only(let slots):
            let entry = unsafe Registry.Matches.Entry(slots)
            // Not covered: the unknown, where a keyed observer is being replaced just now.
            return replacements.load(ordering: .acquiring) == replacement ? unsafe .only(entry, cached) : .unknown
        }
    }

    /// The slots that a post reaches, told under the lock.
    @inline(never)
    private func match(name: Notification.Name, sender: () -> SenderKey?) -> Registry.Matches {
        let begun = TraceEvent.isOn ? TraceEvent.write(.begin, "post ", name.rawValue) : 0
        let (found, released) = state.withLock { state -> (Registry.Matches, Registry.Unlinked) in
            // Hidden by a trace that has been stopped, or that the process wrote from which this one was forked off.
            if cache.load(ordering: .relaxed) == 0, !TraceEvent.isOn { publishCache(of: state.registry) }
            // What is displaced is kept until the posts that are under way have ended: only so much of it, if one lasts (M9).
            let matches = state.registry.matches(name: name, mayDisplace: state.garbage.count < 64, sender: sender)
            return (matches, retireUnlinked(in: &state))
        }
        withExtendedLifetime(released) {}
        var matches = found
        if begun > 0 { matches.trace(from: begun) }
        return matches
    }

    /// Delivers to one registration that a foreign center calls, as a post of this center.
    func deliver(_ notification: Notification, to registration: Unretained<Registration>) {
        // Not covered: nil, which no registration that a center has is.
        guard let address = unsafe registration.rawAddress else { return }
        defer { withExtendedLifetime(registration) {} }
        let epoch = reclamation.epoch.load(ordering: .acquiring)
        unsafe ThreadRecord.withGuard(center: self.address, epoch: epoch) { epochGuard in
            // SAFETY: the memory is kept until the return; one that has gone is found ended there; see `Registration`.
            unsafe Unmanaged<Registration>.fromOpaque(address)._withUnsafeGuaranteedRef { registration in
                unsafe epochGuard.pointee.setHazardPointer(registration.address)
                if TraceEvent.isOn {
                    let begun = TraceEvent.write(.begin, "post ", notification.name.rawValue)
                    registration.receiveSpecially(notification)
                    TraceEvent.end(begun)
                } else {
                    registration.receive(notification)
                }
            }
        }
        // Unlike a post's, this registration may have been retired before this began.
        if reclamation.hasGarbage(since: 1) { reclaim(since: 1) }
    }

    @inline(__always)
    private static func call(
        _ entry: Registry.Matches.Entry, with notification: Notification, stored: StoredNotification? = nil,
        at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        // SAFETY: slots and the memory of registrations outlive every post that may see them, see `Reclamation`; what is done with
        // a registration that has gone, see there.
        unsafe entry.slots._withUnsafeGuaranteedRef { slots in
            if slots.hasRouted.load(ordering: .acquiring) {
                return unsafe callInTwoParts(notification, stored: stored, isTraced: false, at: epochGuard) { body in
                    unsafe slots.forEach(ofFirst: entry.used, body)
                }
            }
            var previous: UInt = 0
            unsafe slots.forEach(ofFirst: entry.used) { registration in
                unsafe registration._withUnsafeGuaranteedRef { registration in
                    let address = registration.address
                    unsafe epochGuard.pointee.setHazardPointer(address, after: previous)
                    previous = address
                    registration.receive(notification, stored: stored)
                }
            }
        }
    }

    private static func callMerged(
        _ matches: Registry.Matches, with notification: Notification, at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        let isTraced = matches.begun > 0
        unsafe callInTwoParts(notification, stored: nil, isTraced: isTraced, at: epochGuard) { body in
            let (a, b, c, d) = matches.entries
            var cursors = [a, b, c, d].compactMap { $0 }.map { Cursor($0) }
            while let next = cursors.indices.min(by: { cursors[$0].id < cursors[$1].id }),
                let registration = unsafe cursors[next].head
            {
                cursors[next].advance()
                unsafe body(registration)
            }
        }
        if isTraced { TraceEvent.end(matches.begun) }
    }

    /// Goes through a post's registrations in registration order. Those with pending deliveries take the notification first.
    /// Then the blocks are submitted, and then the handlers of the posting thread are called (M3).
    @inline(never)
    private static func callInTwoParts(
        _ notification: Notification, stored: StoredNotification?, isTraced: Bool,
        at epochGuard: UnsafeMutablePointer<EpochGuard>,
        _ forEach: ((Unmanaged<Registration>) -> Void) -> Void
    ) {
        var post = Post(stored: stored)
        var previous: UInt = 0
        // SAFETY: as in `call`.
        unsafe forEach { unmanaged in
            unsafe unmanaged._withUnsafeGuaranteedRef { registration in
                guard registration.isRouted else { return unsafe post.calls.append(unmanaged) }
                let address = registration.address
                unsafe epochGuard.pointee.setHazardPointer(address, after: previous)
                previous = address
                if !registration.hasEnded { registration.receiveRouted(notification, in: &post, mayCall: false) }
            }
        }
        // A scheduler of the user's may wait for a handler of these.
        if previous != 0 { unsafe epochGuard.pointee.setHazardPointer(0, after: previous) }
        post.submit()
        previous = 0
        for index in unsafe post.calls.indices {
            let unmanaged = unsafe post.calls[index]
            unsafe unmanaged._withUnsafeGuaranteedRef { registration in
                let address = registration.address
                unsafe epochGuard.pointee.setHazardPointer(address, after: previous)
                previous = address
                if isTraced {
                    registration.receiveSpecially(notification, stored: stored)
                } else {
                    registration.receive(notification, stored: stored)
                }
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
}
