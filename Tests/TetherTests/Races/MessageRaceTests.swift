import Foundation
import Testing
import Tether

extension LateRaces {
    @Suite struct MessageRaceTests {
        private struct Iteration: Sendable {
            let center = Holder(ObserverCenter())
            let owner = Holder(Album())
            let log = Log<Int>()
            let end = Gate()
            let task: Task<Void, Never>

            init(of name: Notification.Name) {
                let sequence = center.object!.notifications(named: name, owner: owner.object!)
                task = Task { [log, end] in
                    for await note in sequence { log.add(note.number) }
                    end.open()
                }
            }

            /// The invariants after every race.
            func verify() throws {
                try require(end.pass(within: longestWait / 4), "The iteration did not end.")
                for thread in 0..<2 {
                    let own = log.entries.filter { $0 / 100 == thread }
                    let posted = (0..<10).map { thread * 100 + $0 }
                    try require(
                        own == Array(posted.prefix(own.count)),
                        "The posts of thread \(thread) arrived as \(own).")
                }
                try require(center.object?.isEmpty ?? true, "Something was left behind.")
            }
        }

        private func raceToTheEnd(_ end: @escaping @Sendable (Iteration) -> Void) throws {
            let center = Box<ObserverCenter?>()
            try race(rounds: 150) { _ in
                let iteration = Iteration(of: .sample)
                center.set(iteration.center.object)
                return iteration
            } _: { _ in
                center.value?.post(.sample, numbers: 0..<10)
            } _: { _ in
                center.value?.post(.sample, numbers: 100..<110)
            } _: { iteration in
                end(iteration)
                if iteration.center.object == nil { center.drop() }
            } check: { iteration in
                try iteration.verify()
            }
            center.drop()
        }

        @Test func `S2 a sequence ends after posts during its owner's, task's or center's end`()
            throws
        {
            try raceToTheEnd { $0.owner.release() }
            try raceToTheEnd { $0.task.cancel() }
            try raceToTheEnd { $0.center.release() }
        }

        @Test
        func `S1 S2 a sequence whose center ends during the iteration gives all earlier posts`()
            throws
        {
            try race(rounds: 150) { _ in
                Iteration(of: .sample)
            } _: { iteration in
                iteration.center.object?.post(.sample, numbers: 0..<10)
                iteration.center.release()
            } check: { iteration in
                try iteration.verify()
                try require(
                    iteration.log.entries == Array(0..<10), "It gave \(iteration.log.entries).")
            }
        }
    }
}
