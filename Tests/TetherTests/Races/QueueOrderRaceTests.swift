import CoreFoundation
import Foundation
import Testing
import Tether

extension LateRaces {
    /// Several threads post, and each puts other work on the target after its post.
    @Suite struct QueueOrderRaceTests {
        enum Kind: CaseIterable {
            case queue
            case operationQueue
            case concurrentQueue
            case runLoop
        }

        /// A target, and the way to put other work there.
        private struct Place: Sendable {
            let target: DeliveryTarget
            let put: @Sendable (@escaping @Sendable () -> Void) -> Void
            /// Waits until all work has run.
            let settle: @Sendable () -> Void
        }

        private static func place(of kind: Kind) -> Place {
            switch kind {
            case .queue:
                let queue = DispatchQueue(label: "serial")
                return Place(
                    target: .dispatchQueue(queue), put: { queue.async(execute: $0) },
                    settle: { queue.settle() })
            case .operationQueue:
                let queue = OperationQueue.serial()
                return Place(
                    target: .operationQueue(queue), put: { queue.addOperation($0) },
                    settle: { queue.settle() })
            case .concurrentQueue:
                let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
                return Place(
                    target: .dispatchQueue(queue, concurrently: true),
                    put: { queue.async(flags: .barrier, execute: $0) },
                    settle: { queue.sync(flags: .barrier) {} })
            case .runLoop: return runLoopPlace()
            }
        }

        /// The run loop of a thread, which `settle` cancels.
        private static func runLoopPlace() -> Place {
            let thread = RunLoopThread(name: "QueueOrderRaceTests")
            let (center, isKnown, isOver) = (ObserverCenter(), Gate(), Gate())
            let loop = Box<RunLoopReference?>(nil)
            let token = center.observe(.sample, on: .thread(thread)) { _ in
                loop.set(RunLoopReference(loop: .current, cfLoop: CFRunLoopGetCurrent()))
                isKnown.open()
            }
            thread.start()
            center.post(.sample)
            isKnown.pass()
            let target = token.target
            let put: @Sendable (@escaping @Sendable () -> Void) -> Void = { work in
                guard let known = loop.value else { return }
                known.loop.perform(inModes: [.default], block: work)
                CFRunLoopWakeUp(known.cfLoop)
            }
            return Place(
                target: target, put: put,
                settle: {
                    put {
                        isOver.open()
                        Thread.current.cancel()
                    }
                    isOver.pass()
                })
        }

        /// SAFETY: any thread may add a block to a run loop, and wake it.
        private struct RunLoopReference: @unchecked Sendable {
            let loop: RunLoop
            let cfLoop: CFRunLoop
        }

        private struct Fixture: Sendable {
            private let center = ObserverCenter()
            private let place: Place
            private let log = Log<Int>()
            private let early = Counter()
            private let token: NotificationObserver

            init(_ kind: Kind) {
                place = QueueOrderRaceTests.place(of: kind)
                token = center.observe(.sample, on: place.target) { [log] in log.add($0.number) }
            }

            func postAndPut(_ numbers: Range<Int>) {
                for number in numbers {
                    center.post(.sample, number: number)
                    place.put { [log, early] in
                        if !log.entries.contains(number) { early.add() }
                    }
                }
            }

            func verify() throws {
                place.settle()
                try require(
                    early.count == 0,
                    "\(early.count) blocks came before what was posted before them.")
                try require(log.entries.count == 12, "Delivered \(log.entries).")
                token.cancel()
            }
        }

        @Test(arguments: Kind.allCases)
        func `D4 a thread's work on a target runs after its earlier posts, beside others`(
            kind: Kind
        )
            throws
        {
            try race(
                rounds: kind == .queue ? 300 : 100,
                setUp: { _ in Fixture(kind) },
                { $0.postAndPut(0..<4) },
                { $0.postAndPut(100..<104) },
                { $0.postAndPut(200..<204) },
                check: { try $0.verify() })
        }

        private actor Noted {
            private(set) var numbers: Set<Int> = []

            func note(_ number: Int) { numbers.insert(number) }

            func has(_ number: Int) -> Bool { numbers.contains(number) }
        }

        @Test func `P2 D4 a task that posts and awaits the actor finds its post delivered`()
            async
        {
            for _ in 0..<300 {
                let (center, noted) = (ObserverCenter(), Noted())
                center.observe(.sample, owner: noted) { (noted: isolated Noted, note) in
                    noted.note(note.number)
                }
                let missed = await withTaskGroup(of: Int.self) { group in
                    for task in 0..<3 {
                        group.addTask(priority: task == 0 ? .background : .high) {
                            var missed = 0
                            for number in task * 100..<task * 100 + 4 {
                                center.post(.sample, number: number)
                                if await !noted.has(number) { missed += 1 }
                            }
                            return missed
                        }
                    }
                    return await group.reduce(0, +)
                }
                #expect(missed == 0)
            }
        }
    }
}
