import Testing

@testable import Tether

@Suite struct OwnerReferenceTests {
    private let log = Log<String>()

    /// A reference that can be handed to a closure.
    private final class Kept: Sendable {
        let reference: OwnerReference<LoggedObject>

        init?(_ object: LoggedObject) {
            guard let reference = OwnerReference(object) else { return nil }
            self.reference = reference
        }
    }

    @Test func `O2 a reference does not keep its object, and a taken one does`() throws {
        let object = Holder(LoggedObject("object", log))
        let kept = try #require(Kept(object.object!))
        #expect(isKnownUniquelyReferenced(&object.object))
        do {
            let taken = kept.reference.take()
            #expect(taken === object.object && !kept.reference.hasEnded)
            object.release()
            #expect(log.entries == [])
            withExtendedLifetime(taken) {}
        }
        #expect(log.entries == ["object deinit"])
        #expect(kept.reference.take() == nil && kept.reference.hasEnded)
    }

    @Test func `O4 nothing can be taken from the first line of the deinit on`() throws {
        let kept = Holder<Kept>()
        let object = Holder(
            LoggedObject("object", log) { [log] _ in
                log.add("taken \(kept.object?.reference.take() != nil), ended \(kept.object!.reference.hasEnded)")
            })
        kept.object = Kept(object.object!)
        object.release()
        #expect(log.entries == ["object deinit", "taken false, ended true"])
    }

    @Test func `O8 X3 an object tells that it is being deinitialised, and can then not be referred to`() {
        let object = Holder(
            LoggedObject("object", log) { [log] object in
                log.add("ending \(isBeingDeinitialised(object)), referred to \(Kept(object) != nil)")
            })
        #expect(!isBeingDeinitialised(object.object!))
        #expect(Kept(object.object!) != nil)
        object.release()
        #expect(log.entries == ["object deinit", "ending true, referred to false"])
    }

    @Test func `O8 an object that a weak reference refers to tells the same`() {
        let object = Holder(
            LoggedObject("object", log) { [log] object in
                log.add("ending \(isBeingDeinitialised(object)), referred to \(Kept(object) != nil)")
            })
        weak let weakly = object.object
        #expect(weakly != nil && !isBeingDeinitialised(object.object!))
        object.release()
        #expect(weakly == nil)
        #expect(log.entries == ["object deinit", "ending true, referred to false"])
    }

    #if !canImport(ObjectiveC)
    @Test func `M5 the unowned count falls when the deinit has run, not before`() throws {
        let (kept, counts) = (Holder<Kept>(), Log<Int>())
        let object = Holder(LoggedObject("object", log) { _ in counts.add(kept.object!.reference.unownedCount) })
        kept.object = Kept(object.object!)
        counts.add(kept.object!.reference.unownedCount)
        object.release()
        counts.add(kept.object!.reference.unownedCount)
        #expect(counts.entries == [2, 2, 1])
    }

    @Test func `O5 an address is not used again while a reference to it is kept`() {
        var kept: [Trace] = []
        var addresses: Set<ObjectIdentifier> = []
        for _ in 0..<1000 {
            let object = Plain()
            kept.append(Trace(object))
            addresses.insert(ObjectIdentifier(object))
        }
        #expect(addresses.count == 1000)
        #expect(kept.count(where: \.hasGone) == 1000)
    }
    #endif
}
