extension Execution {
    /// RC11, in the form of Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing sequential
    /// consistency in C/C++11" (2017), with the release sequences of C++20, and fences of all
    /// threads as in the proposal P1202 to C++.
    var isAllowedByLanguage: Bool {
        let before = happensBefore
        guard before.isIrreflexive else { return false }
        let communication = readsFrom.union(coherence, fromReads).transitiveClosure
        guard before.followed(by: communication).isIrreflexive else { return false }
        // No value comes out of thin air.
        guard programOrder.union(readsFrom).isAcyclic else { return false }
        let around = before.followed(by: communication).followed(by: before)
        let fencesInOrder = before.union(around)
        return existsOrderOfSignalFences(
            partialOrder(before, fencesInOrder: fencesInOrder), fencesInOrder: fencesInOrder)
    }

    private func isFence(_ index: Int) -> Bool {
        events[index].kind == .fence || events[index].kind == .fenceOfAllThreads
    }

    private func isConsistentFence(_ index: Int) -> Bool {
        isFence(index) && events[index].order == .sequentiallyConsistent
    }

    /// Program order, and each release before the acquire that reads from it.
    private var happensBefore: Relation {
        var before = programOrder.union(synchronizesWith)
        for index in indices where events[index].isInitial {
            for other in indices where !events[other].isInitial { before.insert(index, other) }
        }
        return before.transitiveClosure
    }

    private var synchronizesWith: Relation {
        // A release sequence: a write, and read-modify-writes that each read from the write before.
        var steps = Relation(count: count)
        for read in indices where events[read].isRead {
            if let write = partner(of: read) { steps.insert(source[read], write) }
        }
        let sequences = steps.transitiveClosure
        var synchronizes = Relation(count: count)
        for read in indices where events[read].isRead && events[read].order != .plain {
            let found = source[read]
            var tails = indices.filter {
                isFence($0) && events[$0].order.acquires && programOrder[read, $0]
            }
            if events[read].order.acquires { tails.append(read) }
            if tails.isEmpty { continue }
            for write in indices
            where (write == found || sequences[write, found]) && !events[write].isInitial {
                guard events[write].isWrite, events[write].order != .plain else { continue }
                var heads = indices.filter {
                    isFence($0) && events[$0].order.releases && programOrder[$0, write]
                }
                if events[write].order.releases { heads.append(write) }
                for head in heads { for tail in tails { synchronizes.insert(head, tail) } }
            }
        }
        return synchronizes
    }

    /// `psc`: the constraints on the order of all sequentially consistent accesses.
    private func partialOrder(_ before: Relation, fencesInOrder: Relation) -> Relation {
        let elsewhere = programOrder.filter { !isSameLocation($0, $1) }
        let sameLocation = before.filter(isSameLocation)
        let base = programOrder.union(
            elsewhere.followed(by: before).followed(by: elsewhere), sameLocation, coherence,
            fromReads)
        var left = Relation(count: count)
        var right = Relation(count: count)
        for index in indices {
            if events[index].isAccess, events[index].order == .sequentiallyConsistent {
                left.insert(index, index)
                right.insert(index, index)
            } else if isConsistentFence(index) {
                left.insert(index, index)
                left.insert(index, all: before.rows[index])
                right.insert(index, index)
                for other in indices where before[other, index] { right.insert(other, index) }
            }
        }
        let fences = fencesInOrder.filter { isConsistentFence($0) && isConsistentFence($1) }
        return left.followed(by: base).followed(by: right).union(fences)
    }

    /// Whether every other thread's signal fences can be placed before or after each fence of all
    /// threads without a contradiction. Each such pair then orders like a pair of fences.
    private func existsOrderOfSignalFences(_ order: Relation, fencesInOrder: Relation) -> Bool {
        let pairs = indices.filter { events[$0].kind == .fenceOfAllThreads }.flatMap { fence in
            (0..<threadCount).filter { $0 != events[fence].thread }.map { thread in
                (
                    fence: fence,
                    signals: events(of: thread).filter { events[$0].kind == .signalFence }
                )
            }
        }
        return place(pairs[...], in: order, fencesInOrder)
    }

    private func place(
        _ left: ArraySlice<(fence: Int, signals: [Int])>, in order: Relation,
        _ fencesInOrder: Relation
    ) -> Bool {
        guard let (fence, signals) = left.first else { return order.isAcyclic }
        return (0...signals.count).contains { position in
            var order = order
            for (index, signal) in signals.enumerated() {
                if index < position {
                    order.insert(signal, fence)
                } else {
                    order.insert(fence, signal)
                }
                if fencesInOrder[fence, signal] { order.insert(fence, signal) }
                if fencesInOrder[signal, fence] { order.insert(signal, fence) }
            }
            return place(left.dropFirst(), in: order, fencesInOrder)
        }
    }
}
