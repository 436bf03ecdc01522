extension Classic {
    /// Each of two threads stores, and then loads the location of the other's store. At least one
    /// finds the other's store (SB).
    private static func storeBuffering(
        _ store: Order, _ load: Order, between: @escaping () -> Void = {},
        and second: (() -> Void)? = nil
    ) -> Scenario {
        let x = Location("x")
        let y = Location("y")
        return Scenario(
            forbidden: { $0["a"] == 0 && $0["b"] == 0 },
            .init("P") {
                x.store(1, store)
                between()
                note("a", y.load(load))
            },
            .init("Q") {
                y.store(1, store)
                (second ?? between)()
                note("b", x.load(load))
            })
    }

    static var storeBuffering: [Classic] {
        [
            Classic("SB, relaxed", allowedBy: .relaxed, storeBuffering(.relaxed, .relaxed)),
            // STLR and then LDAR stay in order, STLR and then LDAPR do not.
            Classic(
                "SB, release and acquire", allowedBy: [.totalStoreOrder, .armRCpc, .language],
                storeBuffering(.releasing, .acquiring)),
            Classic(
                "SB, sequentially consistent", allowedBy: [],
                storeBuffering(.sequentiallyConsistent, .sequentiallyConsistent)),
            Classic(
                "SB, sequentially consistent stores, acquiring loads",
                allowedBy: [.armRCpc, .language],
                storeBuffering(.sequentiallyConsistent, .acquiring)),
            Classic(
                "SB, fences", allowedBy: [],
                storeBuffering(.relaxed, .relaxed, between: { fence(.sequentiallyConsistent) })),
            Classic(
                "SB, acquiring fences", allowedBy: .relaxed,
                storeBuffering(.relaxed, .relaxed, between: { fence(.acquiring) })),
            Classic(
                "SB, a signal fence and a fence of all threads", allowedBy: [],
                storeBuffering(.relaxed, .relaxed, between: signalFence, and: fenceAllThreads)),
            Classic(
                "SB, two signal fences", allowedBy: .relaxed,
                storeBuffering(.relaxed, .relaxed, between: signalFence)),
            Classic(
                "SB, exchanges that acquire and release, acquiring loads",
                allowedBy: [.armRCpc, .language], exchanges),
            Classic("SB, loads of a third location between", allowedBy: [.language], loadsBetween),
        ]
    }

    private static var exchanges: Scenario {
        let x = Location("x")
        let y = Location("y")
        return Scenario(
            forbidden: { $0["a"] == 0 && $0["b"] == 0 },
            .init("P") {
                x.exchange(.acquiringAndReleasing) { _ in 1 }
                note("a", y.load(.acquiring))
            },
            .init("Q") {
                y.exchange(.acquiringAndReleasing) { _ in 1 }
                note("b", x.load(.acquiring))
            })
    }

    /// On processors a sequentially consistent load orders the accesses around it; in the language
    /// it does not.
    private static var loadsBetween: Scenario {
        let x = Location("x")
        let y = Location("y")
        let z = Location("z")
        let w = Location("w")
        return Scenario(
            forbidden: { $0["a"] == 0 && $0["b"] == 0 },
            .init("P") {
                x.store(1, .sequentiallyConsistent)
                _ = z.load(.sequentiallyConsistent)
                note("a", y.load(.acquiring))
            },
            .init("Q") {
                y.store(1, .releasing)
                w.store(1, .sequentiallyConsistent)
                _ = z.load(.sequentiallyConsistent)
                note("b", x.load(.acquiring))
            })
    }
}
