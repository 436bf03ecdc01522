extension Execution {
    /// ARMv8, in the form of Pulte, Flur, Deacon, French, Sarkar and Sewell, "Simplifying ARM
    /// concurrency" (2018), with RCpc as in the architecture's reference: the ordered-before
    /// relation has no cycle.
    ///
    /// A read-modify-write is a pair of exclusives, which orders less than the single instructions
    /// of ARMv8.1. `ISB` and its dependencies are left out, because compilers do not use them.
    func isAllowedByARM(hasRCpc: Bool) -> Bool {
        var order = readsFrom.union(coherence, fromReads).filter(isBetweenThreads)
        order.formUnion(orderedByDependency)
        order.formUnion(orderedByExclusives(hasRCpc: hasRCpc))
        order.formUnion(orderedByBarriers(hasRCpc: hasRCpc))
        return existsPlaceForFences(in: order) { $0.isAcyclic }
    }

    // An acquiring load is LDAR, or LDAPR where the machine has it, and LDAXR in a
    // read-modify-write. A sequentially consistent load is LDAR. Releasing and sequentially
    // consistent stores are STLR or STLXR.

    private func isLDAR(_ index: Int, hasRCpc: Bool) -> Bool {
        let event = events[index]
        guard event.isRead, event.order.acquires else { return false }
        return event.order == .sequentiallyConsistent || event.isExclusive || !hasRCpc
    }

    private func isAcquire(_ index: Int) -> Bool {
        events[index].isRead && events[index].order.acquires
    }

    private func isRelease(_ index: Int) -> Bool {
        events[index].isWrite && events[index].order.releases
    }

    private func bits(_ index: Int, _ sources: UInt64) -> [Int] {
        let first = index - events[index].position
        return (0..<events[index].position).filter { sources >> UInt64($0) & 1 != 0 }.map {
            first + $0
        }
    }

    /// `dob`: by dependencies of addresses and values, and of stores on branches.
    private var orderedByDependency: Relation {
        var order = Relation(count: count)
        for index in indices where events[index].isAccess && !events[index].isInitial {
            let event = events[index]
            for read in bits(index, event.address) {
                order.insert(read, index)
                // A later store waits until the address is known to differ.
                for later in indices where programOrder[index, later] && events[later].isWrite {
                    order.insert(read, later)
                }
            }
            for read in bits(index, event.data) { order.insert(read, index) }
            if event.isWrite {
                for read in bits(index, event.control) { order.insert(read, index) }
            }
            // A thread reads its own store after the computation of the store's address and value.
            if event.isRead, !isBetweenThreads(source[index], index) {
                let store = source[index]
                for read in bits(store, events[store].address | events[store].data) {
                    order.insert(read, index)
                }
            }
        }
        return order
    }

    /// `aob`: by read-modify-writes.
    private func orderedByExclusives(hasRCpc: Bool) -> Relation {
        var order = Relation(count: count)
        for read in indices where events[read].isRead {
            if let write = partner(of: read) { order.insert(read, write) }
            let found = source[read]
            if events[found].isExclusive, !isBetweenThreads(found, read), isAcquire(read) {
                order.insert(found, read)
            }
        }
        return order
    }

    /// `bob`: by barriers.
    private func orderedByBarriers(hasRCpc: Bool) -> Relation {
        programOrder.filter { one, other in
            if events[one].isInitial { return false }
            if isAcquire(one) || isRelease(other)
                || (isRelease(one) && isLDAR(other, hasRCpc: hasRCpc))
            {
                return true
            }
            return indices.contains { fence in
                guard events[fence].kind == .fence, programOrder[one, fence],
                    programOrder[fence, other]
                else {
                    return false
                }
                // An acquiring fence is DMB ISHLD, every other fence DMB ISH.
                return events[fence].order != .acquiring || events[one].isRead
            }
        }
    }
}
