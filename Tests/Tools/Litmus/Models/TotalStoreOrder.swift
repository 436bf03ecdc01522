extension Execution {
    /// x86-TSO, in the form of Alglave, Maranget and Tautschnig, "Herding cats" (2014): a thread's
    /// steps are seen in their order, but for a store and a later load.
    var isAllowedByTotalStoreOrder: Bool {
        let order = programOrder.filter { one, other in
            guard events[one].isAccess, events[other].isAccess, !events[one].isInitial else {
                return false
            }
            return events[one].isRead || events[other].isWrite
                || isStoreBufferEmptied(from: one, to: other)
        }
        let seen = readsFrom.filter(isBetweenThreads).union(coherence, fromReads)
        return existsPlaceForFences(in: order.union(seen)) { $0.isAcyclic }
    }

    /// Whether a thread has emptied its store buffer between two steps: by a fence, or by a locked
    /// instruction. A sequentially consistent store is also locked (`XCHG`).
    private func isStoreBufferEmptied(from store: Int, to load: Int) -> Bool {
        let isLocked = { (index: Int) in
            events[index].isWrite
                && (events[index].isExclusive || events[index].order == .sequentiallyConsistent)
        }
        if isLocked(store) || (events[load].isExclusive && partner(of: load) != nil) { return true }
        return indices.contains { between in
            guard programOrder[store, between], programOrder[between, load] else { return false }
            return isLocked(between)
                || (events[between].kind == .fence
                    && events[between].order == .sequentiallyConsistent)
        }
    }
}
