internal import Foundation
internal import Synchronization

// A post: from a name and a sender to `Registration.receive` of each match, in registration order.
//
// `QuickMatching` finds the matches of a cached name without a lock: one bucket, or, if there are
// observers of any name, a pair. `match` finds all others under the center's lock.
//
// If a match is routed, which means that it has a mailbox, when the post begins, the post asks the
// routed observers before it calls any, as `Post` says. One match alone is asked by `receiveAlone`.
// Otherwise the post calls the matches one after the other. Several buckets, and posts in a trace,
// always take the first way.

extension CenterCore {
    /// Calls every match in registration order. `withNotification` calls its argument with the
    /// notification. `withNotification` is not called if nothing matches, nor if the notification
    /// has no payload and `quickMatching` finds the match: then the cache's notification is delivered.
    func post(
        name: Notification.Name, hasNoPayload: Bool = false, sender: () -> SenderKey?,
        withNotification: ((Notification) -> Void) -> Void
    ) {
        let epoch = reclamation.epoch.load(ordering: .acquiring)
        unsafe ThreadRecord.withGuard(epoch: epoch) { epochGuard in
            switch quickMatching.match(name) {
            case .nothing: break
            case .one(let bucket, let cached) where hasNoPayload:
                // SAFETY: the entry outlives the post; see `NameCache`.
                unsafe cached._withUnsafeGuaranteedRef { cached in
                    let stored = cached.withoutPayload
                    unsafe CenterCore.call(
                        bucket, with: stored.notification, stored: stored, at: epochGuard)
                }
            case .one(let bucket, _):
                withNotification { unsafe CenterCore.call(bucket, with: $0, at: epochGuard) }
            case .pair(let pair, let cached) where hasNoPayload:
                // SAFETY: as above.
                unsafe cached._withUnsafeGuaranteedRef { cached in
                    let stored = cached.withoutPayload
                    unsafe CenterCore.call(
                        pair, with: stored.notification, stored: stored, at: epochGuard)
                }
            case .pair(let pair, _):
                withNotification { unsafe CenterCore.call(pair, with: $0, at: epochGuard) }
            case .unknown:
                unsafe matchWithLockAndCall(
                    name: name, sender: sender, withNotification: withNotification, at: epochGuard)
            }
        }
        // Garbage of earlier epochs does not wait for the post.
        if reclamation.hasGarbage(since: epoch) { reclaim(since: epoch) }
    }

    /// Matches under the center's lock, and calls after the lock's release.
    @inline(never)
    private func matchWithLockAndCall(
        name: Notification.Name, sender: () -> SenderKey?,
        withNotification: ((Notification) -> Void) -> Void,
        at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        switch match(name: name, sender: sender) {
        case .nothing: break
        case .one(let bucket):
            withNotification { unsafe CenterCore.call(bucket, with: $0, at: epochGuard) }
        case .pair(let pair):
            withNotification { unsafe CenterCore.call(pair, with: $0, at: epochGuard) }
        case .several(let buckets):
            withNotification { notification in
                unsafe CenterCore.askAndCall(
                    notification, stored: nil, isTraced: false, at: epochGuard
                ) { body in
                    unsafe buckets.forEachRegistration(body)
                }
            }
        case .traced(let buckets, let begun):
            withNotification { notification in
                unsafe CenterCore.askAndCall(
                    notification, stored: nil, isTraced: true, at: epochGuard
                ) { body in
                    unsafe buckets.forEachRegistration(body)
                }
            }
            Events.end(begun)
        }
    }

    private enum Match {
        case nothing
        case one(MatchedBucket)
        case pair(MatchedPair)
        case several(MatchedBuckets)
        /// The calls are reported to a trace, and the moment is that of the post's beginning.
        case traced(MatchedBuckets, since: ObserverEvent.Moment)

        init(_ buckets: MatchedBuckets) {
            guard let first = buckets.entries.0 else {
                self = .nothing
                return
            }
            switch buckets.count {
            case 1: self = .one(first)
            case 2: self = .pair(MatchedPair(first, buckets.entries.1))
            default: self = .several(buckets)
            }
        }
    }

    private func match(name: Notification.Name, sender: () -> SenderKey?) -> Match {
        let begun = Events.report(.post(name))
        let (matches, released) = state.withLock { state -> (MatchedBuckets, Registry.Unlinked) in
            // A displaced entry is garbage until posts under way end. The limit bounds a long
            // post's garbage (M9).
            let matches = state.registry.matches(
                name: name, admitsEighthMiss: state.garbage.count < 64, sender: sender)
            // The cache is not published: this post has made it, or a trace hid it, and has ended
            // since. A fork ends the trace in the new process.
            if quickMatching.cache.load(ordering: .relaxed) == 0, !Events.areTraced {
                quickMatching.publishOrHideCache(of: state.registry)
            }
            return (matches, retireUnlinked(in: &state))
        }
        withExtendedLifetime(released) {}
        guard let begun else { return Match(matches) }
        if matches.count > 0 { return .traced(matches, since: begun) }
        Events.end(begun)
        return .nothing
    }

    /// Delivers a foreign center's notification to one registration, which is retained meanwhile.
    static func deliver(_ notification: Notification, to registration: Unowned<Registration>) {
        guard let registration = registration.retained else { return }
        unsafe ThreadRecord.withGuard(epoch: EpochGuard.noEpoch) { epochGuard in
            unsafe epochGuard.pointee.setHazardPointer(registration.address)
            if Events.areTraced {
                let begun = Events.report(.post(notification.name))
                registration.receiveAlone(notification, stored: nil)
                Events.end(begun)
            } else if registration.isRouted {
                registration.receiveAlone(notification, stored: nil)
            } else {
                registration.receive(notification)
            }
        }
    }

    // MARK: Calls

    @inline(__always)
    private static func call(
        _ bucket: MatchedBucket, with notification: Notification,
        stored: StoredNotification? = nil, at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        if bucket.hasRouted {
            return unsafe callRouted(bucket, with: notification, stored: stored, at: epochGuard)
        }
        var previous = RegistrationAddress.none
        unsafe bucket.forEachRegistration { registration in
            unsafe pass(notification, to: registration, after: &previous, at: epochGuard)
        }
    }

    /// Calls registrations of which some are routed.
    @inline(never)
    private static func callRouted(
        _ bucket: MatchedBucket, with notification: Notification, stored: StoredNotification?,
        at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        guard bucket.used == 1 else {
            return unsafe askAndCall(
                notification, stored: stored, isTraced: false, at: epochGuard
            ) { body in
                unsafe bucket.forEachRegistration(body)
            }
        }
        unsafe bucket.forEachRegistration { registration in
            // SAFETY: as in `pass`.
            unsafe registration._withUnsafeGuaranteedRef { registration in
                unsafe epochGuard.pointee.setHazardPointer(registration.address)
                registration.receiveAlone(notification, stored: stored)
            }
        }
    }

    /// Calls the registrations of a name and of any name, in registration order. A generic function
    /// for both kinds of matches would take 90 instructions more.
    private static func call(
        _ pair: MatchedPair, with notification: Notification,
        stored: StoredNotification? = nil, at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        if pair.hasRouted {
            return unsafe askAndCall(
                notification, stored: stored, isTraced: false, at: epochGuard
            ) { body in
                unsafe pair.forEachRegistration(body)
            }
        }
        var previous = RegistrationAddress.none
        unsafe pair.forEachRegistration { registration in
            unsafe pass(notification, to: registration, after: &previous, at: epochGuard)
        }
    }

    /// Passes a notification to a registration that was not routed when the post began.
    @inline(__always)
    private static func pass(
        _ notification: Notification, to registration: Unmanaged<Registration>,
        after previous: inout RegistrationAddress, at epochGuard: UnsafeMutablePointer<EpochGuard>
    ) {
        // SAFETY: slots and the memory of registrations outlive the post: see `Reclamation` and
        // `Registration`.
        unsafe registration._withUnsafeGuaranteedRef { registration in
            unsafe epochGuard.pointee.moveHazardPointer(to: registration.address, from: &previous)
            registration.receive(notification)
        }
    }

    /// Asks the routed registrations, and then makes the calls, both in registration order; see
    /// `Post` (M3).
    @inline(never)
    private static func askAndCall(
        _ notification: Notification, stored: StoredNotification?, isTraced: Bool,
        at epochGuard: UnsafeMutablePointer<EpochGuard>,
        _ forEach: ((Unmanaged<Registration>) -> Void) -> Void
    ) {
        var post = Post()
        var waiting = WaitingForm(stored)
        var calls = ContiguousArray<PostedCall>()
        var previous = RegistrationAddress.none
        // SAFETY: slots and the memory of registrations outlive the post, see `Reclamation`.
        unsafe forEach { unmanaged in
            unsafe unmanaged._withUnsafeGuaranteedRef { registration in
                guard registration.isRouted else {
                    return unsafe calls.append(PostedCall(of: unmanaged))
                }
                unsafe epochGuard.pointee.moveHazardPointer(
                    to: registration.address, from: &previous)
                if let call = registration.ask(notification, as: &waiting, of: &post) {
                    calls.append(call)
                }
            }
        }
        // A user's scheduler may wait for a handler of the last registration.
        if previous != .none {
            unsafe epochGuard.pointee.moveHazardPointer(to: .none, from: &previous)
        }
        post.effects.carryOut()
        for call in calls {
            unsafe call.registration._withUnsafeGuaranteedRef { registration in
                unsafe epochGuard.pointee.moveHazardPointer(
                    to: registration.address, from: &previous)
                if isTraced || call.prepared != nil {
                    registration.make(call, of: notification)
                } else {
                    registration.receive(notification)
                }
            }
        }
    }
}
