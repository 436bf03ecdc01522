import Foundation
import Tether

extension Benchmarks {
    /// A burst of 1000 posts, per delivery, until the last has been delivered.
    func burst() {
        let queue = DispatchQueue(label: "Benchmarks.burst")
        let sink = Sink()
        let center = ObserverCenter()
        let token = center.observe(.measured, on: .dispatchQueue(queue)) { _ in addOne(sink) }
        let notification = Notification(name: .measured)
        let burst = 1000
        compare(
            "burst to a dispatch queue, per delivery", size: "\(burst)", reference: "async each", goal: 0.5,
            clock: .elapsed,
            Subject("Tether", count: burst * 10) { count in
                for _ in 0..<max(1, count / burst) {
                    for _ in 0..<burst { center.post(notification) }
                    queue.sync {}
                    // The drain that was scheduled for the rest.
                    queue.sync {}
                }
            },
            Subject("async each", count: burst * 10) { count in
                for _ in 0..<max(1, count / burst) {
                    for _ in 0..<burst { queue.async { addOne(sink) } }
                    queue.sync {}
                }
            })
        withExtendedLifetime(token) {}
    }

    func burstToOperationQueue() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let sink = Sink()
        let center = ObserverCenter()
        let token = center.observe(.measured, on: .operationQueue(queue)) { _ in addOne(sink) }
        let notification = Notification(name: .measured)
        let burst = 1000
        compare(
            "burst to an operation queue, per delivery", size: "\(burst)", reference: "addOperation each", goal: 0.1,
            clock: .elapsed,
            Subject("Tether", count: burst * 2) { count in
                for _ in 0..<max(1, count / burst) {
                    for _ in 0..<burst { center.post(notification) }
                    queue.waitUntilAllOperationsAreFinished()
                }
            },
            Subject("addOperation each", count: burst * 2) { count in
                for _ in 0..<max(1, count / burst) {
                    for _ in 0..<burst { queue.addOperation { addOne(sink) } }
                    queue.waitUntilAllOperationsAreFinished()
                }
            })
        withExtendedLifetime(token) {}
    }

    /// Enqueueing and flushing k distinct notifications with the default coalescing, per notification.
    func postingQueue() {
        let center = ObserverCenter()
        let queue = PostingQueue(center: center)
        let objects = (0..<100_000).map { _ in Plain() }
        func tether(_ k: Int) -> Subject {
            Subject("k = \(k)", count: k) { count in
                for index in 0..<count {
                    queue.enqueue(Notification(name: .measured, object: objects[index]), postingStyle: .asap)
                }
                queue.flush()
            }
        }
        let foundation = Subject("Foundation", count: 250) { count in
            let queue = NotificationQueue(notificationCenter: NotificationCenter())
            for index in 0..<count {
                queue.enqueue(Notification(name: .measured, object: objects[index]), postingStyle: .asap)
            }
            queue.dequeueNotifications(matching: Notification(name: .measured), coalesceMask: .onName)
        }
        compare("PostingQueue: enqueue + flush", size: "k = 250", goal: 0.02, tether(250), foundation)
        for k in sizes([8000, 100_000]) {
            compare(
                "PostingQueue: enqueue + flush", size: "k = \(k)", reference: "k = 250", goal: 2, tether(k), tether(250)
            )
        }
    }

    /// What the index buys: the storage of older systems at several sizes, half of the registrations under one name.
    func storages() {
        for size in sizes([1, 100, 10_000, 100_000]) {
            let ours = ObserverCenter()
            let kept = (0..<size).map { ours.observe(Notification.Name("name \($0)")) { _ in } }
            let last = Notification.Name("name \(size - 1)")
            let notification = Notification(name: last)
            let count = 20_000
            var subjects = [Subject("Tether", count: count) { for _ in 0..<$0 { ours.post(notification) } }]
            var adds = [
                Subject("Tether", count: 2000) { for _ in 0..<$0 { ours.observe(last) { _ in }.stop() } }
            ]
            for type in [ScannedArray.self, LinkedList.self, DictionaryOfArrays.self] as [any ReferenceStorage.Type] {
                let storage = type.init()
                for number in 0..<size { _ = storage.add("name \(number)") { _ in } }
                let slow = type == DictionaryOfArrays.self ? 1 : max(1, min(1000, size / 10))
                subjects.append(
                    Subject("\(type)", count: count / slow) {
                        for _ in 0..<$0 { storage.post(last.rawValue, notification) }
                    })
                adds.append(
                    Subject("\(type)", count: max(2, 2000 / slow)) {
                        for _ in 0..<$0 { storage.remove(storage.add(last.rawValue) { _ in }) }
                    })
            }
            for (work, subjects) in [("post", subjects), ("add + remove", adds)] {
                let timings = Timing.interleaved(subjects, rounds: rounds / 3 + 1, clock: .processor)
                let line = zip(subjects, timings).map { "\($0.name) \(Row.short($1.median))" }.joined(separator: ", ")
                note("\(work) among \(size) names, ns: \(line)")
            }
            withExtendedLifetime(kept) {}
        }
    }
}
