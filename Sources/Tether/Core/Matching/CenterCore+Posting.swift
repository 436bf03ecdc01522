internal import Foundation
internal import Synchronization

// A post: from a name and a sender to `Registration.receive` of each match, in registration order.
//
// `quickMatch` finds the matches of a cached name without a lock: one bucket, or, if there are
// observers of any name, a pair. `match` finds all others under the center's lock.
//
// If a match is routed when the post begins, the post asks the routed observers before it calls any,
// as `Post` says. Otherwise the post calls them one after the other. Several buckets, and posts in a
// trace, always take the first way.

extension CenterCore {
    /// Calls every match in registration order. `withNotification` calls its argument with the
    /// notification. `withNotification` is not called if nothing matches, nor if the notification
    /// has no payload and `quickMatch` finds the match: then the cache's notification is delivered.
    func post(
        name: Notification.Name, hasNoPayload: Bool = false, sender: () -> SenderKey?,
        withNotification: ((Notification) -> Void) -> Void
    ) {
        let epoch = reclamation.epoch.load(ordering: .acquiring)
        unsafe ThreadRecord.withGuard(epoch: epoch) { epochGuard in
            switch quickMatch(name) {
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

    @safe private enum QuickMatch {
        case nothing
        case one(MatchedBucket, Unmanaged<CachedName>)
        case pair(MatchedPair, Unmanaged<CachedName>)
        case unknown
    }

    /// Matches a cached name without the lock, if no sender of the name or of any name is observed.
    ///
    /// Nearly always no observer of any name exists, and the name's bucket is all. Observers of any
    /// name and of senders are looked for after the bucket was read: a post that calls an observer
    /// finds each observer that was added earlier.
    @inline(__always)
    private func quickMatch(_ name: Notification.Name) -> QuickMatch {
        let replacement = replacements.load(ordering: .acquiring)
        guard replacement & 1 == 0, let cached = unsafe findCached(name) else { return .unknown }
        // SAFETY: nodes and slots outlive every post that may see them; see `Reclamation`.
        return unsafe cached._withUnsafeGuaranteedRef { entry in
            unsafe entry.node._withUnsafeGuaranteedRef { node in
                let bucket = node.publishedBucket
                let (hasOthers, hasSenders) = unsafe anyName._withUnsafeGuaranteedRef {
                    ($0.hasPublishedBucket, $0.hasObservedSenders)
                }
                if hasSenders || node.hasObservedSenders { return .unknown }
                if hasOthers {
                    guard let pair = pairOfMatches(node) else { return .unknown }
                    return replacements.load(ordering: .acquiring) == replacement
                        ? unsafe .pair(pair, cached) : .unknown
                }
                // Without a bucket `replacements` is not read again: a post under way may call
                // neither of the two registrations of a replacement (M7).
                guard let bucket else { return .nothing }
                return replacements.load(ordering: .acquiring) == replacement
                    ? unsafe .one(bucket, cached) : .unknown
            }
        }
    }

    @inline(__always)
    private func findCached(_ name: Notification.Name) -> Unmanaged<CachedName>? {
        // SAFETY: the cache outlives every post that may see it.
        guard
            let cache = unsafe UnsafeRawPointer(
                bitPattern: cache.load(ordering: .sequentiallyConsistent))
        else {
            return nil
        }
        return unsafe Unmanaged<NameCache>.fromOpaque(cache)._withUnsafeGuaranteedRef {
            unsafe $0.find(StringBits(name.rawValue))
        }
    }

    /// The buckets of a name and of any name, with the registrations of one moment. `nil` without a
    /// match, or if a sender is observed.
    @inline(__always)
    private func pairOfMatches(_ node: NameNode) -> MatchedPair? {
        // First: later registrations of either bucket have later ids.
        let last = lastAdded.load(ordering: .acquiring)
        let named = node.publishedBucket
        // SAFETY: the registry retains the node.
        let (others, hasSenders) = unsafe anyName._withUnsafeGuaranteedRef {
            ($0.publishedBucket, $0.hasObservedSenders)
        }
        guard !hasSenders, !node.hasObservedSenders, let first = named ?? others else {
            return nil
        }
        return MatchedPair(first, named == nil ? nil : others, upTo: last)
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
            if cache.load(ordering: .relaxed) == 0, !Events.areTraced {
                publishOrHideCache(of: state.registry)
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
