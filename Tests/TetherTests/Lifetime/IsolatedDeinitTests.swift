import Foundation
import Testing
import Tether

/// Owners and senders whose `deinit` is sent to an actor when the last reference is released.
@Suite(.ownThread, .serialized) struct IsolatedDeinitTests {
    private let log = Log<String>()

    @available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
    @Test func `O3 O4 an owner with an isolated deinit ends at the release`() {
        let center = ObserverCenter()
        let owner = Holder(IsolatedObject(log) { _ in center.post(name: .sample, object: nil) })
        let probe = ObjectProbe(owner.object!)
        let token = center.observe(.sample, owner: owner.object!) { [log] _, _ in log.add("handler")
        }
        owner.release()
        if endsFollowDeinit {
            #expect(token.isActive)
        } else {
            #expect(!token.isActive && center.isEmpty && !probe.hasRecord)
        }
        center.post(name: .sample, object: nil)
        #expect(log.entries == [])
        HeldActor.run(until: !log.entries.isEmpty)
        #expect(log.entries == ["isolated deinit"])
        #expect(!token.isActive && center.isEmpty && !probe.hasRecord)
    }

    @available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
    @Test func `M5 R8 observers of a sender with an isolated deinit end at its last release`() {
        let center = ObserverCenter()
        let sender = Holder(
            IsolatedObject(log) { sender in center.post(name: .sample, object: sender) })
        let probe = ObjectProbe(sender.object!)
        let capture = Holder(LoggedObject("capture", log))
        let token = center.observe(.sample, from: sender.object!) {
            [log, object = capture.object!] _ in
            object.touch()
            log.add("handler")
        }
        capture.release()
        sender.release()
        if !endsFollowDeinit {
            #expect(log.entries == ["capture deinit"])
            #expect(!token.isActive && center.isEmpty && !probe.hasRecord)
        }
        HeldActor.run(until: log.entries.contains("isolated deinit"))
        // The last posts of the `deinit` may find no observer.
        if !endsFollowDeinit { #expect(log.entries == ["capture deinit", "isolated deinit"]) }
        #expect(!token.isActive && center.isEmpty && !probe.hasRecord)
    }

    @available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
    @Test func `M5 an isolated deinit that runs at the release ends observers at once`() {
        let center = ObserverCenter()
        // Already on the actor, so the `deinit` runs without a job.
        Task { @HeldActor [log] in
            let sender = Holder(
                IsolatedObject(log) { sender in center.post(name: .sample, object: sender) })
            let token = center.observe(.sample, from: sender.object!) { _ in log.add("handler") }
            sender.release()
            log.add("active \(token.isActive), empty \(center.isEmpty)")
        }
        HeldActor.run(until: log.entries.count == 3)
        #expect(log.entries == ["isolated deinit", "handler", "active false, empty true"])
    }
}
