import Dispatch
import Foundation
import Testing

@testable import Tether

extension Races {
    @Suite struct MessageRaceTests {
        @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
        private struct Fixture: Sendable {
            let center = ObserverCenter()
            let log = Log<Int>()
            let token: NotificationObserver
            /// What was logged when the stop had been waited for.
            let atStop = Box<[Int]?>(nil)

            init() {
                token = center.observe(for: .didSave) { [log] message in
                    log.add(message.number)
                    await Task.yield()
                    log.add(-message.number)
                }
            }
        }

        @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
        @Test func `T3 R1 R2 async messages that are posted while their observer is stopped`() throws {
            try race(rounds: 500) { _ in
                Fixture()
            } _: { fixture in
                for number in 1...20 { fixture.center.post(AlbumDidSave(number: number)) }
            } _: { fixture in
                sched_yield()
                fixture.token.cancelAndWait()
                fixture.atStop.set(fixture.log.entries)
            } check: { fixture in
                let entries = fixture.log.entries
                try require(entries == fixture.atStop.value, "A handler ran after the wait for its end.")
                // Whole calls, in order, one after the other.
                let calls = (1...20).flatMap { [$0, -$0] }
                try require(entries == Array(calls.prefix(entries.count)), "The calls were \(entries).")
                try require(entries.count.isMultiple(of: 2), "A call was waited for that had not returned.")
                try require(fixture.center.core.isEmpty, "Something was left behind.")
            }
        }

        @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
        @Test func `R7 a once observer of async messages, posted by several threads, runs once`() throws {
            try race(rounds: 500) { _ in
                let (center, log) = (ObserverCenter(), Log<Int>())
                let token = center.observe(for: .didSave, once: true) { log.add($0.number) }
                return (center, log, token)
            } _: { center, _, _ in
                center.post(AlbumDidSave(number: 1))
            } _: { center, _, _ in
                center.post(AlbumDidSave(number: 2))
            } check: { center, log, token in
                token.cancelAndWait()
                // Unless it was stopped while it was enqueued.
                try require(log.entries.count <= 1, "It ran for \(log.entries).")
                try require(center.core.isEmpty, "Something was left behind.")
            }
        }

        @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
        @Test(arguments: [false, true])
        func `R7 D9 D4 main-actor messages that are posted anywhere while their observer is muted`(once: Bool) throws {
            try race(rounds: 300) { _ in
                let (center, log) = (ObserverCenter(), Log<Int>())
                let token = center.observe(for: .didClose, once: once) { log.add($0.number) }
                return (center, log, token)
            } _: { center, _, _ in
                for number in 1...4 {
                    center.post(name: AlbumDidClose.name, object: nil, userInfo: ["number": number])
                    center.post(name: AlbumDidClose.name, object: nil)
                }
            } _: { _, _, token in
                for _ in 0..<3 {
                    token.mute(keepingNewest: true)
                    sched_yield()
                    token.unmute()
                }
            } _: { center, _, _ in
                DispatchQueue.main.sync {
                    MainActor.assumeIsolated { center.post(AlbumDidClose(number: 100)) }
                }
            } check: { center, log, token in
                // A drain may leave what was posted meanwhile to another one.
                for _ in 0..<3 { DispatchQueue.main.sync {} }
                let elsewhere = log.entries.filter { $0 != 100 }
                try require(elsewhere == elsewhere.sorted(), "Out of order: \(log.entries).")
                try require(Set(log.entries).count == log.entries.count, "Twice: \(log.entries).")
                if once {
                    // What is kept last may make no message.
                    let isUsedUp = log.entries.count == 1 && !token.isActive
                    try require(isUsedUp || log.entries.isEmpty && token.isActive, "It ran for \(log.entries).")
                } else {
                    // What gave way before it was converted may have been no message, and is counted all the same.
                    let row = center.audit().first
                    let known = log.entries.count + (row?.dropped ?? 0)
                    try require(row?.pending == 0 && (5...9).contains(known), "\(log.entries) of \(center.audit())")
                }
                token.cancel()
                try require(center.core.isEmpty, "Something was left behind.")
            }
        }

        private struct Iteration: Sendable {
            let center = Holder(ObserverCenter())
            let owner = Holder(Album())
            let log = Log<Int>()
            let end = DispatchSemaphore(value: 0)
            let task: Task<Void, Never>

            init(of name: Notification.Name) {
                let sequence = center.object!.notifications(named: name, owner: owner.object!)
                task = Task { [log, end] in
                    for await note in sequence { log.add(note.number) }
                    end.signal()
                }
            }

            /// What must hold after every race.
            func verify() throws {
                try require(end.wait(timeout: .now() + 300) == .success, "The iteration did not end.")
                for poster in 0..<2 {
                    let own = log.entries.filter { $0 / 100 == poster }
                    let posted = (0..<10).map { poster * 100 + $0 }
                    try require(own == Array(posted.prefix(own.count)), "Poster \(poster) arrived as \(own).")
                }
                try require(center.object?.core.isEmpty ?? true, "Something was left behind.")
            }
        }

        private func raceToTheEnd(_ end: @escaping @Sendable (Iteration) -> Void) throws {
            let center = SharedHolder<ObserverCenter>()
            try race(rounds: 500) { _ in
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

        @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
        @Test func `S2 a sequence is posted to while its owner ends`() throws {
            try raceToTheEnd { $0.owner.release() }
        }

        @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
        @Test func `S2 a sequence is posted to while its task is cancelled`() throws {
            try raceToTheEnd { $0.task.cancel() }
        }

        @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
        @Test func `S2 a sequence is posted to while its center ends`() throws {
            try raceToTheEnd { $0.center.release() }
        }

        @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
        @Test func `S1 S2 a sequence whose center ends while it is iterated gives all that was posted`() throws {
            try race(rounds: 500) { _ in
                Iteration(of: .sample)
            } _: { iteration in
                iteration.center.object?.post(.sample, numbers: 0..<10)
                iteration.center.release()
            } check: { iteration in
                try iteration.verify()
                try require(iteration.log.entries == Array(0..<10), "It gave \(iteration.log.entries).")
            }
        }
    }
}
