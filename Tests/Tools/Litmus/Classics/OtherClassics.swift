extension Classic {
    /// Each of two threads loads a location, and then stores to the location that the other loads.
    /// The threads may not both find the stores (LB).
    private static func loadBuffering(
        _ load: Order, usesValue: Bool = false, branches: Bool = false
    ) -> Scenario {
        let x = Location("x")
        let y = Location("y")
        func pass(from source: Location, to target: Location) -> Value {
            let found = source.load(load)
            if branches { _ = found == 1 }
            // The sum depends on the loaded value, for every value.
            target.store(usesValue ? Value(1, from: found.sources) : 1, .relaxed)
            return found
        }
        return Scenario(
            forbidden: { $0["a"] == 1 && $0["b"] == 1 },
            .init("P") { note("a", pass(from: x, to: y)) },
            .init("Q") { note("b", pass(from: y, to: x)) })
    }

    static var loadBuffering: [Classic] {
        [
            // RC11 forbids the result, so that no value comes out of thin air.
            Classic("LB, relaxed", allowedBy: .anyARM, loadBuffering(.relaxed)),
            Classic(
                "LB, the value depends", allowedBy: [], loadBuffering(.relaxed, usesValue: true)),
            Classic(
                "LB, the store depends on a branch", allowedBy: [],
                loadBuffering(.relaxed, branches: true)),
            Classic("LB, acquiring", allowedBy: [], loadBuffering(.acquiring)),
        ]
    }

    /// Two threads store to two locations. Two other threads load both, and must not find the
    /// stores in different orders (IRIW).
    private static func independentReads(
        _ store: Order, _ load: Order, between: @escaping () -> Void = {}
    ) -> Scenario {
        let x = Location("x")
        let y = Location("y")
        return Scenario(
            forbidden: { $0["a"] == 1 && $0["b"] == 0 && $0["c"] == 1 && $0["d"] == 0 },
            .init("A") { x.store(1, store) },
            .init("B") { y.store(1, store) },
            .init("C") {
                note("a", x.load(load))
                between()
                note("b", y.load(load))
            },
            .init("D") {
                note("c", y.load(load))
                between()
                note("d", x.load(load))
            })
    }

    static var independentReads: [Classic] {
        [
            Classic("IRIW, relaxed", allowedBy: .weak, independentReads(.relaxed, .relaxed)),
            // ARMv8 is multi-copy atomic: a store is seen by all others at once.
            Classic(
                "IRIW, release and acquire", allowedBy: [.language],
                independentReads(.releasing, .acquiring)),
            Classic(
                "IRIW, sequentially consistent", allowedBy: [],
                independentReads(.sequentiallyConsistent, .sequentiallyConsistent)),
            Classic(
                "IRIW, fences", allowedBy: [],
                independentReads(.relaxed, .relaxed, between: { fence(.sequentiallyConsistent) })),
        ]
    }

    /// Two threads store to two locations, in opposite order; the first store of each must not be
    /// the last (2+2W).
    private static func twoAndTwoWrites(_ order: Order) -> Scenario {
        let x = Location("x")
        let y = Location("y")
        return Scenario(
            forbidden: { $0["y is P's"] == 1 && $0["x is Q's"] == 1 },
            .init("P") {
                x.store(1, order)
                y.store(2, order)
            },
            .init("Q") {
                y.store(1, order)
                x.store(2, order)
            },
            // Looks at how each location changes, and asks nothing of the order between the two.
            .init("R") {
                let first = x.load(.relaxed)
                if first == 2, x.load(.relaxed) == 1 { note("x is Q's") }
            },
            .init("S") {
                let first = y.load(.relaxed)
                if first == 2, y.load(.relaxed) == 1 { note("y is P's") }
            })
    }

    private static func increments(_ lock: Lock?) -> Scenario {
        let x = Location("x")
        let increment = {
            guard let lock else { return note("added", x.wrappingAdd(1, .relaxed)) }
            lock.withLock { note("added", x.wrappingAdd(1, .relaxed)) }
        }
        return Scenario(
            forbidden: { _ in true }, finally: (x, 1), .init("P", increment), .init("Q", increment))
    }

    /// One thread stores to two locations, another to the second and then loads the first (R).
    private static var lastWrite: Scenario {
        let x = Location("x")
        let y = Location("y")
        return Scenario(
            forbidden: { $0["x"] == 0 }, finally: (y, 2),
            .init("P") {
                x.store(1, .sequentiallyConsistent)
                y.store(1, .sequentiallyConsistent)
            },
            .init("Q") {
                y.store(2, .sequentiallyConsistent)
                note("x", x.load(.sequentiallyConsistent))
            })
    }

    /// A thread stores to two locations. Another thread finds the second store, and stores to the
    /// first location, where its store is ordered before the first thread's (S).
    private static func storeBehind(_ store: Order, _ load: Order) -> Scenario {
        let x = Location("x")
        let y = Location("y")
        return Scenario(
            forbidden: { $0["y"] == 1 }, finally: (x, 2),
            .init("P") {
                x.store(2, .relaxed)
                y.store(1, store)
            },
            .init("Q") {
                note("y", y.load(load))
                x.store(1, .relaxed)
            })
    }

    /// Two loads of one location do not find its values in the other order (CoRR).
    private static var twoLoads: Scenario {
        let x = Location("x")
        return Scenario(
            forbidden: { $0["first"] == 1 && $0["second"] == 0 },
            .init("P") { x.store(1, .relaxed) },
            .init("Q") {
                note("first", x.load(.relaxed))
                note("second", x.load(.relaxed))
            })
    }

    static var writes: [Classic] {
        [
            Classic("S, relaxed", allowedBy: .weak, storeBehind(.relaxed, .relaxed)),
            Classic("S, release and acquire", allowedBy: [], storeBehind(.releasing, .acquiring)),
            Classic("CoRR", allowedBy: [], twoLoads),
            Classic("2+2W, relaxed", allowedBy: .weak, twoAndTwoWrites(.relaxed)),
            Classic("2+2W, release", allowedBy: [.language], twoAndTwoWrites(.releasing)),
            Classic("R, sequentially consistent", allowedBy: [], lastWrite),
            Classic("an increment is lost", allowedBy: [], increments(nil)),
            Classic("an increment is lost under a lock", allowedBy: [], increments(Lock("lock"))),
        ]
    }
}
