import Testing

@testable import Tether

@Suite struct SharedObjectsTests {
    private final class Shared: Sendable {
        let whenUnused: @Sendable () -> Void
        /// Runs first when the object ends.
        let onEnding: @Sendable () -> Void

        init(whenUnused: @escaping @Sendable () -> Void, onEnding: @escaping @Sendable () -> Void = {}) {
            self.whenUnused = whenUnused
            self.onEnding = onEnding
        }

        deinit {
            onEnding()
            whenUnused()
        }
    }

    /// Lives as long as what is in it, as those of the sources do.
    private static let objects = SharedObjects<Int, Shared>()

    @Test func `M9 D4 an object is shared while it is in use, and made anew afterwards`() {
        let objects = SharedObjectsTests.objects
        let made = Counter()
        let object: @Sendable () -> Shared = {
            objects.object(of: 1) { whenUnused in
                made.add()
                return Shared(whenUnused: whenUnused)
            }
        }
        do {
            let first = object()
            #expect(object() === first && made.count == 1)
        }
        let second = object()
        #expect(made.count == 2)
        withExtendedLifetime(second) {}
    }

    @Test func `M9 D4 an object that ends does not take out the one that has come after it`() throws {
        let objects = SharedObjectsTests.objects
        let next = Guarded<Shared?>(nil)
        do {
            let first = objects.object(of: 2) { whenUnused in
                Shared(whenUnused: whenUnused) {
                    let second = objects.object(of: 2) { Shared(whenUnused: $0) }
                    next.withLock { $0 = second }
                }
            }
            withExtendedLifetime(first) {}
        }
        let second = try #require(next.withLock { $0 })
        #expect(objects.object(of: 2) { Shared(whenUnused: $0) } === second)
        next.withLock { $0 = nil }
    }

    @Test func `M9 D4 who makes one beside another thread gets the one that came first`() {
        let objects = SharedObjectsTests.objects
        let first = Guarded<Shared?>(nil)
        let second = objects.object(of: 3) { whenUnused in
            let made = objects.object(of: 3) { Shared(whenUnused: $0) }
            first.withLock { $0 = made }
            return Shared(whenUnused: whenUnused)
        }
        #expect(first.withLock { $0 === second })
        #expect(objects.object(of: 3) { Shared(whenUnused: $0) } === second)
    }
}
