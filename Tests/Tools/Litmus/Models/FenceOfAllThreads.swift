extension Execution {
    /// Whether a condition holds of an order for some places of the fences of all threads.
    ///
    /// Linux's `membarrier` is a full fence in the calling thread, and a full fence at some place
    /// in every other thread, between the call and the return. After the call the caller sees all
    /// accesses that the other thread made before the place. After the place the other thread sees
    /// all accesses that the caller made before the call.
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
