internal import Synchronization

/// The late release of what was taken out: after the posts under way that may still see it.
extension CenterCore {
    /// Retires what has been unlinked, if anything has; returns what no post under way may still see.
    @inline(__always)
    func retireUnlinked(in state: inout State) -> Registry.Unlinked {
        state.registry.unlinked.isEmpty ? [] : retire(nil, in: &state)
    }

    /// Retires what has been unlinked, and a registration; returns what no post under way may still see.
    @inline(never)
    func retire(_ removed: Registration?, in state: inout State) -> Registry.Unlinked {
        publishCache(of: state.registry)
        let now = epoch.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
        for object in state.registry.takeUnlinked() { state.retired.append((now, object)) }
        if let removed { state.retired.append((now, removed)) }
        return reclaimable(in: &state, afterRetiring: true)
    }

    /// Takes out what was retired before the earliest post under way began.
    private func reclaimable(in state: inout State, afterRetiring isNew: Bool = false) -> Registry.Unlinked {
        // A post that is not seen below finds this at its end.
        if isNew { hasRetired.store(true, ordering: .sequentiallyConsistent) }
        var earliest = PostingThread.oldestPin(on: address)
        if isNew, let post = earliest, post.isElsewhere {
            // Either that post's end is seen now, or it will see that something waits for it.
            PostingThread.fenceOthers()
            earliest = PostingThread.oldestPin(on: address)
        }
        var released: Registry.Unlinked = []
        if let earliest {
            let firstKept = state.retired.firstIndex { $0.epoch >= earliest.epoch } ?? state.retired.endIndex
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
    func reclaim() {
        let released = state.withLock { reclaimable(in: &$0) }
        withExtendedLifetime(released) {}
    }

    /// Has what a post has kept whose thread has ended in it released, if the center that was there is still there.
    static let followsThreadExits: Void = PostingThread.threadEndActions.withLock {
        $0 = PostingThread.ThreadEndActions(
            threadEnded: { Registration.threadEnded(at: $0) },
            reclaim: { address in all.withLock { $0[address] }?.take()?.reclaim() })
    }
}
