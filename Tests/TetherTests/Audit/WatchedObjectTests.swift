import Testing

@testable import Tether

/// Objects as the test support sees them.
@Suite struct WatchedObjectTests {
    private let log = Log<String>()

    /// Watches itself as it ends.
    private final class Late: Sendable {
        private let log: Log<String>

        init(_ log: Log<String>) { self.log = log }

        deinit {
            let watched = WatchedObject(self)
            log.add("\(watched.hasEnded) \(watched.strongCount == nil)")
            watched.whenEnded { [log] in log.add("at once") }
        }
    }

    @Test func `L2 the end of an object that is watched is told, before which it is neither kept nor listed`() {
        let log = log
        var object: Ending? = Ending { log.add("deinit") }
        let watched = WatchedObject(object!)
        watched.whenEnded { log.add("told") }
        #expect(!watched.hasEnded && watched.type == Ending.self)
        // Elsewhere who counts holds the object, until the main queue has let it go.
        if OwnerReference<AnyObject>.asksWithoutHolding { #expect(watched.strongCount != nil) }
        #expect(OwnerObservers(of: object!).isEmpty)
        object = nil
        #expect(watched.hasEnded && watched.strongCount == nil)
        watched.whenEnded { log.add("at once") }
        #expect(log.entries == (endsFollowDeinit ? ["deinit", "told", "at once"] : ["told", "deinit", "at once"]))
    }

    @Test func `L2 an object that is watched only as it ends has ended`() {
        do { _ = Late(log) }
        #expect(log.entries == ["true true", "at once"])
    }

    @Test func `L2 the watch of an object leaves nothing behind`() {
        let object = Ending {}
        do { _ = WatchedObject(object) }
        #expect(!OwnerTable.shared.hasRecord(of: ObjectIdentifier(object)))
        withExtendedLifetime(object) {}
    }
}
