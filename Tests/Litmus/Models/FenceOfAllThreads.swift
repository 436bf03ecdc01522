extension Execution {
    /// Whether a condition holds of an order for some places of the fences of all threads.
    ///
    /// Linux's `membarrier` is a full fence in the thread that calls it, and, between the call and
    /// the return, one in every other thread, somewhere: what that thread did before the place is
    /// seen by the caller after the call, and what the caller did before the call is seen by the
    /// thread after the place.
    func existsPlaceForFences(in order: Relation, where condition: (Relation) -> Bool) -> Bool {
        let fences = indices.filter { events[$0].kind == .fenceOfAllThreads }
        var order = order
        for fence in fences {
            for before in indices where programOrder[before, fence] {
                order.insert(before, all: programOrder.rows[fence])
            }
        }
        let others = fences.flatMap { fence in
            (0..<threadCount).filter { $0 != events[fence].thread }.map {
                (fence: fence, thread: $0)
            }
        }
        return place(others[...], in: order, where: condition)
    }

    private func place(
        _ left: ArraySlice<(fence: Int, thread: Int)>, in order: Relation,
        where condition: (Relation) -> Bool
    ) -> Bool {
        guard let (fence, thread) = left.first else { return condition(order) }
        let steps = events(of: thread)
        let callerAfter = programOrder.rows[fence]
        return (0...steps.count).contains { position in
            var order = order
            let after = steps[position...].reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
            for before in indices where programOrder[before, fence] {
                order.insert(before, all: after)
            }
            for before in steps[..<position] { order.insert(before, all: after | callerAfter) }
            return place(left.dropFirst(), in: order, where: condition)
        }
    }
}
