extension Classic {
    /// A thread stores a message and then a flag. A thread that finds the flag must find the
    /// message (MP).
    private static func messagePassing(
        _ store: Order, _ load: Order, writerFence: Order? = nil, readerFence: Order? = nil,
        dependsOn dependency: Dependency = .none
    ) -> Scenario {
        let message = Location("message")
        let flag = Location("flag")
        return Scenario(
            forbidden: { $0["flag"] == 1 && $0["message"] == 0 },
            .init("writer") {
                message.store(1, .relaxed)
                if let writerFence { fence(writerFence) }
                flag.store(1, store)
            },
            .init("reader") {
                let found = flag.load(load)
                note("flag", found)
                if let readerFence { fence(readerFence) }
                if dependency == .branch { _ = found == 1 }
                note(
                    "message", message.load(.relaxed, through: dependency == .address ? found : nil)
                )
            })
    }

    private enum Dependency { case none, branch, address }

    static var messagePassing: [Classic] {
        [
            Classic("MP, relaxed", allowedBy: .weak, messagePassing(.relaxed, .relaxed)),
            Classic(
                "MP, release and acquire", allowedBy: [], messagePassing(.releasing, .acquiring)),
            Classic(
                "MP, release, and a branch", allowedBy: .weak,
                messagePassing(.releasing, .relaxed, dependsOn: .branch)),
            Classic(
                "MP, release, and an address", allowedBy: [.language],
                messagePassing(.releasing, .relaxed, dependsOn: .address)),
            Classic(
                "MP, release, and a relaxed load with an acquiring fence", allowedBy: [],
                messagePassing(.releasing, .relaxed, readerFence: .acquiring)),
            Classic(
                "MP, a releasing fence, and acquire", allowedBy: [],
                messagePassing(.relaxed, .acquiring, writerFence: .releasing)),
            Classic("MP under a lock", allowedBy: [], underLock),
            Classic(
                "MP through a third thread, relaxed (WRC)", allowedBy: .weak,
                threeThreads(.relaxed, .relaxed)),
            Classic(
                "MP through a third thread, release and acquire (WRC)", allowedBy: [],
                threeThreads(.releasing, .acquiring)),
            Classic(
                "MP, an exchange between keeps the release sequence", allowedBy: [], releaseSequence
            ),
        ]
    }

    private static var underLock: Scenario {
        let message = Location("message")
        let flag = Location("flag")
        let lock = Lock("lock")
        return Scenario(
            forbidden: { $0["flag"] == 1 && $0["message"] == 0 },
            .init("writer") {
                lock.withLock {
                    message.store(1, .plain)
                    flag.store(1, .relaxed)
                }
            },
            .init("reader") {
                lock.withLock {
                    note("flag", flag.load(.relaxed))
                    note("message", message.load(.plain))
                }
            })
    }

    private static func threeThreads(_ store: Order, _ load: Order) -> Scenario {
        let message = Location("message")
        let flag = Location("flag")
        return Scenario(
            forbidden: { $0["seen"] == 1 && $0["flag"] == 1 && $0["message"] == 0 },
            .init("writer") { message.store(1, .relaxed) },
            .init("between") {
                note("seen", message.load(load))
                flag.store(1, store)
            },
            .init("reader") {
                note("flag", flag.load(load))
                note("message", message.load(.relaxed))
            })
    }

    private static var releaseSequence: Scenario {
        let message = Location("message")
        let flag = Location("flag")
        return Scenario(
            forbidden: { $0["flag"] == 2 && $0["message"] == 0 },
            .init("writer") {
                message.store(1, .relaxed)
                flag.store(1, .releasing)
            },
            .init("between") { flag.wrappingAdd(1, .relaxed) },
            .init("reader") {
                note("flag", flag.load(.acquiring))
                note("message", message.load(.relaxed))
            })
    }
}
