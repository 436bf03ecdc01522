internal import Synchronization

/// The late release of what was taken out: after the posts under way that may still see it.
extension CenterCore {
    /// Hands over what has been taken out, if anything has; returns what no post under way may still see.
    @inline(__always)
    func retireLeftovers(in state: inout State) -> Registry.Leftovers {
        state.registry.leftovers.isEmpty ? [] : retire(nil, in: &state)
    }

    /// Hands over what has been taken out, with a registration; returns what no post under way may still see.
    @inline(never)
    func retire(_ removed: Registration?, in state: inout State) -> Registry.Leftovers {
        publishCache(of: state.registry)
        let now = era.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
        for object in state.registry.takeLeftovers() { state.retired.append((now, object)) }
        if let removed { state.retired.append((now, removed)) }
        return releasable(in: &state, afterRetiring: true)
    }

    /// Takes out what was retired before the earliest post under way began.
    private func releasable(in state: inout State, afterRetiring isNew: Bool = false) -> Registry.Leftovers {
        // A post that is not seen below finds this at its end.
        if isNew { hasRetired.store(true, ordering: .sequentiallyConsistent) }
        var earliest = PostingThread.earliestPost(on: address)
        if isNew, let post = earliest, post.isElsewhere {
            // Either that post's end is seen now, or it will see that something waits for it.
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
    func reclaim() {
        let released = state.withLock { releasable(in: &$0) }
        withExtendedLifetime(released) {}
    }

    /// Has what a post has kept whose thread has ended in it released, if the center that was there is still there.
    static let followsThreadExits: Void = PostingThread.abandonment.withLock {
        $0 = PostingThread.Abandonment(
            forsake: { Registration.forsake(at: $0) },
            reclaim: { address in all.withLock { $0[address] }?.take()?.reclaim() })
    }
}
