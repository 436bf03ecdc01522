import Foundation
import Testing

@testable import Tether

/// What becomes of the handler that a property had when it is configured again.
@Suite(.ownThread) struct PropertyReplacementTests {
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
        observer.cancel()
    }

    @Test(arguments: [1, 2], CenterKind.allCases)
    func `M7 a post calls one of the handlers that it has while it is configured, not two`(
        threads: Int, kind: CenterKind
    ) {
        let center = kind.makeCenter()
        let observer = NotificationObserver(center: center as any NotifyingCenter)
        let (done, called) = (Counter(), Counter())
        let configure: @Sendable () -> Void = {
            for _ in 1...3000 { observer.observe(.sample) { _ in called.add() } }
            done.add()
        }
        onThreads(
            Array(repeating: configure, count: threads) + [
                {
                    while done.count < threads {
                        let before = called.count
                        center.post(name: .sample, object: nil, userInfo: nil)
                        let times = called.count - before
                        if times > 1 { Issue.record("called \(times) times") }
                    }
                }
            ])
        observer.cancel()
    }

    /// Tells whether what it takes over from has ended.
    private final class Successor: RegistrationHook, @unchecked Sendable {
        let log: Log<Bool>

        init(_ log: Log<Bool>) {
            self.log = log
        }

        override func takeOver(from old: Registration, for registration: Registration) { log.add(old.hasEnded) }
    }

    /// A foreign center's posts take no lock: those between the two would find the closed gate, and be lost.
    @Test(arguments: [nil, "key"])
    func `M7 F1 what leads to the old handler leads to the new one before the old one's gate closes`(key: String?) {
        let (log, observer) = (Log<Bool>(), NotificationObserver(center: center))
        for _ in 1...2 {
            var request = ObservationRequest(
                name: .sample, sender: .any, target: .postingThread, key: key.map { ObserverKey($0) },
                site: RegistrationSite(file: #fileID, line: #line))
            request.add(Successor(log))
            request.register(observer, with: center) { _ in }
        }
        #expect(log.entries == [false])
        observer.cancel()
    }

    @Test(arguments: CenterKind.allCases)
    func `M7 M1 F2 what replaces the property's handler and one with its key is called once, and leaves nothing`(
        kind: CenterKind
    ) {
        let (called, center) = (Counter(), kind.makeCenter())
        let observer = NotificationObserver(center: center as any NotifyingCenter)
        observer.observe(.sample) { _ in }
        let old = [observer.foreign]
        let token = center.observe(.sample, key: "key") { _ in }
        observer.observe(.sample, key: "key") { _ in called.add() }
        center.post(name: .sample, object: nil, userInfo: nil)
        #expect(called.count == 1 && !token.isActive)
        let links = (old + [observer.foreign]).compactMap(\.self)
        observer.cancel()
        #expect(links.kept() == 0)
    }

    @Test func `M7 a registration that has ended before it was added replaces nothing`() {
        let live = center.observe(.sample, key: "key") { _ in }
        let ended = PlainRegistration(
            center: center.core, details: Registration.Details(key: ObserverKey("key")),
            site: RegistrationSite(file: #fileID, line: #line)
        ) { _ in }
        #expect(ended.close())
        center.core.add(ended, name: .sample, sender: nil)
        ended.finish()
        #expect(live.isActive && center.core.count == 1)
    }

    @Test func `R3 M7 the old handler ends, too, where the new one ended before it was added`() throws {
        let observer = NotificationObserver(center: center)
        observer.observe(.sample) { _ in }
        let old = try #require(observer.registration)
        let new = PlainRegistration(center: center.core, site: RegistrationSite(file: #fileID, line: #line)) { _ in }
        observer.property?.replaceCurrent(with: new) { replaced in
            new.end()
            center.core.add(new, name: .sample, sender: nil, replacing: replaced)
        }
        #expect(old.hasEnded && center.core.count == 0)
    }

    @Test func `R1 a stop that the old handler's captures make as they go ends the new one`() {
        let log = log
        let observer = NotificationObserver(center: center)
        do {
            let captured = Ending { observer.cancel() }
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
                    observer.cancel()
                    let before = called.entries.count
                    center.post(name: .sample, object: nil)
                    let late = called.entries.dropFirst(before).filter { $0 <= last }
                    if !late.isEmpty { Issue.record("called after a stop: \(late), configured: \(last)") }
                }
            })
        observer.cancel()
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
                    while !HandlerWait.isAwaited(address) { sched_yield() }
                    gate.open()
                }
            }
        }
        #expect(observer.cancelAndWait() == .finished)
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
        async let result = observer.cancelAndWait()
        #expect(await isWaitedFor(address))
        gate.open()
        #expect(await result == .finished && log.entries == ["returned"])
    }
}
