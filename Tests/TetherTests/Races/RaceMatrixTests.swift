import Foundation
import Testing

@testable import Tether

extension Races {
    /// Each pair of operations on an observer at the same time, while a third thread posts.
    @Suite struct RaceMatrixTests {
        enum Operation: CaseIterable {
            case post, runJobs, dropJobs, bound, mute, muteOwner, switchTarget,
                switchToPostingThread, audit, purge
            case cancel, cancelAndWait, remove, replace, endOwner, endSender, endCenter

            static let ends: Set = [
                Operation.cancel, .cancelAndWait, .remove, .replace, .endOwner, .endSender,
                .endCenter,
            ]
            static let losses: Set = [Operation.dropJobs, .bound, .mute, .muteOwner]
        }

        struct Case: CustomTestStringConvertible {
            let operations: Set<Operation>
            let isQueued: Bool

            static let all = Operation.allCases.indices.flatMap { first in
                Operation.allCases[first...].flatMap { second in
                    [true, false].map {
                        Case(operations: [Operation.allCases[first], second], isQueued: $0)
                    }
                }
            }

            /// The operations of the two threads; an operation may meet itself.
            var pair: (Operation, Operation) {
                let sorted = Operation.allCases.filter(operations.contains)
                return (sorted[0], sorted[sorted.count - 1])
            }

            /// Whether the log has the posts of each thread in their order. An unmuting on another
            /// thread, and a muting beside a switch to the posting thread, may break that order.
            var isOrdered: Bool {
                (isQueued && !operations.contains(.switchToPostingThread))
                    || operations.isDisjoint(with: [.mute, .muteOwner])
            }

            var testDescription: String {
                "\(pair.0) and \(pair.1), \(isQueued ? "queued" : "posting thread")"
            }
        }

        private struct Fixture: Sendable {
            let center = Box(optional: ObserverCenter())
            let core: CenterCore
            let schedulers = [ManualScheduler(), ManualScheduler()]
            let owner: Box<Ending?>
            let sender = Box(optional: Plain())
            let token: NotificationObserver
            let log = Log<Int>()
            /// Whether no handler may run any more: `cancelAndWait()` has returned, or the owner's
            /// deinit has begun.
            let hasEnded = Flag()
            let late = Counter()
            let posted = Counter()
            let freed = Counter()
            let released = Counter()
            /// A scheduler runs one job at a time.
            private let turn = NSLock()

            init(isQueued: Bool) {
                core = center.value!.core
                let owner = Ending { [hasEnded] in hasEnded.raise() }
                let capture = Ending { [released] in released.add() }
                token = center.value!.observe(
                    .sample, from: sender.value!, owner: owner,
                    on: isQueued ? .custom(schedulers[0]) : .postingThread,
                    key: "key"
                ) { [log, hasEnded, late] _, note in
                    capture.touch()
                    if hasEnded.isRaised { late.add() }
                    log.add(note.number)
                    if hasEnded.isRaised { late.add() }
                }
                self.owner = Box(optional: owner)
            }

            func post(_ numbers: Range<Int>) {
                for number in numbers {
                    guard let center = center.value, let sender = sender.value else { return }
                    posted.add()
                    let payload = Ending { [freed] in freed.add() }
                    center.post(
                        name: .sample, object: sender,
                        userInfo: ["number": number, "payload": payload])
                }
            }

            func runJobs() {
                turn.withLock {
                    while schedulers.contains(where: { $0.waiting > 0 }) {
                        for scheduler in schedulers { scheduler.runAll() }
                    }
                }
            }

            func perform(_ operation: Operation, thread: Int) {
                switch operation {
                case .post: post(thread * 100..<thread * 100 + 3)
                case .runJobs: runJobs()
                case .dropJobs: for scheduler in schedulers { scheduler.dropAll() }
                case .bound:
                    for backlog in [BufferingPolicy.newest(3), .unbounded, .newest(1)] {
                        token.backlog = backlog
                    }
                case .mute:
                    token.mute(keepingNewest: true)
                    token.unmute()
                case .muteOwner:
                    guard let owner = owner.value else { return }
                    OwnerObservers(of: owner).mute(keepingNewest: true)
                    OwnerObservers(of: owner).unmute()
                case .switchTarget:
                    for index in [1, 0, 1] { token.target = .custom(schedulers[index]) }
                case .switchToPostingThread: token.target = .postingThread
                case .audit: _ = center.value?.audit()
                case .purge: OwnerLifetime.purge()
                case .cancel: token.cancel()
                case .cancelAndWait:
                    token.cancelAndWait()
                    hasEnded.raise()
                case .remove: center.value?.removeObservers(named: .sample)
                case .replace:
                    guard let center = center.value, let owner = owner.value else { return }
                    center.observe(.other, owner: owner, key: "key") { _, _ in }
                case .endOwner: owner.drop()
                case .endSender: sender.drop()
                case .endCenter: center.drop()
                }
            }

            /// The invariants of posts, payloads and captures after every round.
            func verify(_ race: Case) throws {
                runJobs()
                let entries = log.entries
                try require(
                    Set(entries).count == entries.count, "A post was delivered twice: \(entries).")
                for thread in 0..<3 where race.isOrdered {
                    let own = entries.filter { $0 / 100 == thread }
                    try require(
                        own == own.sorted(), "The posts of a thread were reordered: \(own).")
                }
                if race.operations.isDisjoint(with: Operation.ends) {
                    let row = center.value?.audit().first
                    try require(
                        row?.pending == 0 && row?.muteCount == 0,
                        "Pending or muted still: \(String(describing: row)).")
                    let dropped = row?.dropped ?? 0
                    try require(
                        entries.count + dropped == posted.count,
                        "Of \(posted.count) posts \(entries) came, \(dropped) dropped.")
                    if race.operations.isDisjoint(with: Operation.losses) {
                        try require(dropped == 0, "A post was lost.")
                    }
                    post(900..<901)
                    runJobs()
                    try require(
                        log.entries == entries + [900],
                        "A later post was not delivered: \(log.entries).")
                    token.cancel()
                } else {
                    try require(!token.isActive, "The observer has not ended.")
                    post(900..<901)
                    runJobs()
                    try require(
                        log.entries == entries,
                        "A post was delivered after the end: \(log.entries).")
                }
                for scheduler in schedulers { scheduler.dropAll() }
                // The successor, of a replacement.
                if let owner = owner.value { OwnerObservers(of: owner).cancel() }
                try require(
                    late.count == 0,
                    "A handler ran after cancelAndWait() returned, or after the owner's end.")
                try require(
                    freed.count == posted.count,
                    "\(freed.count) of \(posted.count) payloads were freed.")
                try require(
                    released.count == 1, "The capture was released \(released.count) times.")
                try require(core.isEmpty, "The center keeps something.")
            }
        }

        @Test(arguments: Case.all)
        func
            `R8 D4 O4 posts and two operations at once keep order, count and memory`(
                race operations: Case
            ) throws
        {
            let (first, second) = operations.pair
            try race(
                rounds: 20,
                setUp: { _ in Fixture(isQueued: operations.isQueued) },
                { $0.post(0..<3) },
                { $0.perform(first, thread: 1) },
                { $0.perform(second, thread: 2) },
                check: { try $0.verify(operations) })
        }
    }
}
