internal import Synchronization

/// The late release of what was taken out: after the posts under way that may still see it.
extension CenterCore {
    /// Retires what has been unlinked, if anything has; returns what no post under way may still see.
    @inline(__always)
    func retireUnlinked(in state: inout State) -> Registry.Unlinked {
        state.registry.unlinked.isEmpty ? [] : retire(nil, in: &state)
    }

    /// Retires what has been unlinked, and a registration, whose gate is closed; returns what no post under way may still
    /// see. Posts may look at the gate of a registration that is returned.
    @inline(never)
    func retire(_ removed: Registration?, in state: inout State) -> Registry.Unlinked {
        let now = epoch.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
        for object in state.registry.takeUnlinked() { state.retired.append((now, object)) }
        if let removed { state.retired.append((now, Unretained<Registration>(removed))) }
        // A post that is not seen below finds this at its end.
        newestRetired.store(now, ordering: .sequentiallyConsistent)
        if PostingThread.oldestPin(on: address)?.isElsewhere == true {
            // Either that post's end is seen now, or it will see that something waits for it. And what it has announced
            // is seen, or it will find the gate closed.
            PostingThread.fenceOthers()
        }
        guard let removed else { return reclaimable(in: &state) }
        if PostingThread.calledRegistrations(on: address).contains(removed.address) {
            state.called.append(removed)
            return reclaimable(in: &state)
        }
        return reclaimable(in: &state) + [removed]
    }

    /// Takes out what was retired before the earliest post under way began.
    private func reclaimable(in state: inout State) -> Registry.Unlinked {
        let earliest = PostingThread.oldestPin(on: address)?.epoch ?? .max
        let firstKept = state.retired.firstIndex { $0.epoch >= earliest } ?? state.retired.endIndex
        let released = state.retired[..<firstKept].map(\.object)
        state.retired.removeSubrange(..<firstKept)
        let newest = state.called.isEmpty ? state.retired.last?.epoch ?? 0 : .max
        newestRetired.store(newest, ordering: .relaxed)
        return released
    }

    /// Takes out the registrations at which posts were, and are no more.
    private func takeUncalled(in state: inout State) -> Registry.Unlinked {
        var released: Registry.Unlinked = []
        let ended = state.called
        if ended.isEmpty { return [] }
        let called = Set(PostingThread.calledRegistrations(on: address))
        state.called = []
        for registration in ended {
            if called.contains(registration.address) {
                state.called.append(registration)
            } else {
                released.append(registration)
            }
        }
        return released
    }

    /// Releases what a post that has ended kept.
    @inline(never)
    func reclaim() {
        let released = state.withLock { takeUncalled(in: &$0) + reclaimable(in: &$0) }
        withExtendedLifetime(released) {}
    }

    /// Has what a post has kept whose thread has ended in it released, if the center that was there is still there.
    static let followsThreadExits: Void = PostingThread.threadEndActions.withLock {
        $0 = PostingThread.ThreadEndActions(
            threadEnded: { Registration.threadEnded(at: $0) },
            reclaim: { address in all.withLock { $0[address] }?.take()?.reclaim() })
    }
}
