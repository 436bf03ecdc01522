import Foundation
import Tether

extension Smoke {
    mutating func stopping() {
        let (center, log, queue) = (ObserverCenter(), Log(), DispatchQueue(label: "Smoke.stopping"))
        let first = center.observe(.smoke, once: true) { _ in
            log.add("once")
            center.post(name: .smoke, object: nil)
        }
        center.post(name: .smoke, object: nil)
        center.post(name: .smoke, object: nil)
        expect("R7", "posts in and after a once handler", log.all, is: ["once"])
        expect("R7", "its token", first.isActive, is: false)

        queue.suspend()
        var capture: Capture? = Capture(log)
        let pending = center.observe(.smoke, on: .dispatchQueue(queue)) { [capture] _ in
            capture?.add("pending")
        }
        capture = nil
        center.post(name: .smoke, object: nil)
        pending.cancel()
        expect("R8", "a pending observer stopped", log.all, is: ["once", "released"])
        queue.resume()
        queue.sync {}
        expect("R1", "a pending delivery", log.all, is: ["once", "released"])

        let (started, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let running = center.observe(.other) { _ in
            started.signal()
            mayEnd.wait()
            Thread.sleep(forTimeInterval: 0.02)
            log.add("ran")
        }
        Thread.detachNewThread { center.post(name: .other, object: nil) }
        started.wait()
        mayEnd.signal()
        expect("R2", "the wait for a handler", running.cancelAndWait() == .finished, is: true)
        expect("R2", "the handler that was waited for", log.all.last, is: "ran")
    }

    /// Optimised code ends a local array after its last use, but not a local object.
    mutating func localTokens() {
        let (center, log) = (ObserverCenter(), Log())
        let token = center.observe(.smoke) { _ in log.add("called") }
        token.backlog = .newest(1)
        center.post(name: .smoke, object: nil)
        center.post(name: .smoke, object: nil)
        expect("R1", "a token in a local constant", log.all, is: ["called", "called"])
    }

    mutating func owners() {
        let (center, log) = (ObserverCenter(), Log())
        let exact = OwnerLifetime.isExact(for: Ending.self)
        expect("O10", "the end of an owner is seen", exact, is: true)
        let owner = Holder(
            Ending { _ in
                center.post(name: .smoke, object: nil)
                log.add("deinit")
            })
        weak let seen = owner.held
        let capture = Holder(Capture(log))
        let token = center.observe(.smoke, owner: owner.held) { [capture = capture.held] _, _ in
            capture.add("called")
        }
        capture.letGo()
        center.post(name: .smoke, object: nil)
        owner.letGo()
        expect("O2", "the owner is not retained", seen == nil, is: true)
        expect("O3, O4", "the end of an owner", log.all, is: ["called", "released", "deinit"])
        expect("O3", "its token", token.isActive, is: false)
        for _ in 0..<100 {
            let next = Holder(Ending { _ in })
            center.observe(.other, owner: next.held) { _, _ in }
            center.post(name: .smoke, object: nil)
            next.letGo()
        }
        expect("O5", "objects at its address", log.all.count, is: 3)
        expect("M9", "what is left", center.audit().count, is: 0)
    }
}
