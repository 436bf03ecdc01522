import Foundation
import Testing

@testable import Tether

/// What becomes of the handler that a property had when it is configured again.
@Suite struct PropertyReplacementTests {
    private let center = ObserverCenter()
    private let log = Log<String>()

    @Test(arguments: [nil, "key"], CenterKind.allCases)
    func `M7 R6 configured again it is replaced in one step: what the old captures post reaches the new handler`(
        key: String?, kind: CenterKind
    ) {
        let (log, center) = (log, kind.makeCenter())
        let observer = NotificationObserver(center: center as any NotifyingCenter)
        do {
            let captured = Ending { center.post(name: .sample, object: nil, userInfo: nil) }
            observer.observe(.sample, key: key) { _ in
                captured.touch()
                log.add("old")
            }
        }
        observer.observe(.sample, key: key) { _ in log.add("new") }
        #expect(log.entries == ["new"])
        observer.stop()
    }

    @Test func `M7 a post calls one of the handlers that it has while it is configured, not two`() {
        let (center, observer) = (center, NotificationObserver(center: center))
        let (isDone, called) = (Flag(), Counter())
        onThreads(
            {
                for _ in 1...3000 { observer.observe(.sample) { _ in called.add() } }
                isDone.raise()
            },
            {
                while !isDone.isRaised {
                    let before = called.count
                    center.post(name: .sample, object: nil)
                    let times = called.count - before
                    if times > 1 { Issue.record("called \(times) times") }
                }
            })
        observer.stop()
    }

    @Test func `R1 a stop that the old handler's captures make as they go ends the new one`() {
        let log = log
        let observer = NotificationObserver(center: center)
        do {
            let captured = Ending { observer.stop() }
            observer.observe(.sample) { _ in captured.touch() }
        }
        observer.observe(.sample) { _ in log.add("new") }
        center.post(name: .sample, object: nil)
        #expect(log.entries == [] && !observer.isActive && center.core.isEmpty)
    }

    @Test func `R1 stopped while another thread configures it, it has none of the handlers that it had`() {
        let (center, observer) = (center, NotificationObserver(center: center))
        let (configured, isDone, called) = (Log<Int>(), Flag(), Log<Int>())
        onThreads(
            {
                for number in 1...3000 {
                    observer.observe(.sample) { _ in called.add(number) }
                    configured.add(number)
                }
                isDone.raise()
            },
            {
                while !isDone.isRaised {
                    let last = configured.entries.count
                    observer.stop()
                    let before = called.entries.count
                    center.post(name: .sample, object: nil)
                    let late = called.entries.dropFirst(before).filter { $0 <= last }
                    if !late.isEmpty { Issue.record("called after a stop: \(late), configured: \(last)") }
                }
            })
        observer.stop()
        #expect(center.core.isEmpty)
    }

    @Test func `R2 waiting waits for the handlers that it had before`() throws {
        let (log, center, begun, gate) = (log, center, Gate(), Gate())
        let observer = NotificationObserver(center: center)
        var poster: Crew?
        for name in ["first", "second"] {
            observer.observe(.sample) { _ in
                begun.open()
                gate.pass()
                log.add(name)
            }
            let address = try #require(observer.registration).address
            if name == "first" {
                poster = Crew { center.post(name: .sample, object: nil) }
                begun.pass()
                Thread.detachNewThread {
                    while !Quiescence.isAwaited(address) { sched_yield() }
                    gate.open()
                }
            }
        }
        #expect(observer.stopAndWait() == .finished)
        #expect(log.entries == ["first"])
        gate.open()
        poster?.join()
    }

    @Test func `R2 so does waiting in an async function`() async throws {
        let (log, begun, gate) = (log, AsyncGate(), Gate())
        let (center, observer) = (center, NotificationObserver(center: center))
        observer.observe(.sample) { _ in
            begun.open()
            gate.pass()
            log.add("returned")
        }
        let address = try #require(observer.registration).address
        Thread.detachNewThread { center.post(name: .sample, object: nil) }
        await begun.pass()
        observer.observe(.other) { _ in }
        async let result = observer.stopAndWait()
        #expect(await isWaitedFor(address))
        gate.open()
        #expect(await result == .finished && log.entries == ["returned"])
    }
}
