import Foundation
import Testing

@testable import Tether

@Suite struct OwnerLifetimeTests {
    #if os(Linux)
    @Test func `O3 O10 on Linux the ends of owners are seen as they happen`() {
        // Without the hook, observers of owners end at the next post, and many tests of owners
        // pass.
        #expect(OwnerLifetime.isExact)
    }
    #endif

    @available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
    @Test func `O10 the end of every kind of owner is seen as it happens`() {
        let kinds: [AnyClass] = [
            Plain.self, Base.self, Derived.self, Pair<Int, String>.self, CountingActor.self,
            Mutable.self, Buffer.self,
            NSObject.self, Model.self, NSMutableArray.self, DateFormatter.self, Progress.self,
            Window.self,
            IsolatedObject.self, ObserverCenter.self,
        ]
        for kind in kinds {
            #expect(OwnerLifetime.isExact(for: kind) == OwnerLifetime.isExact, "\(kind)")
        }
    }

    @Test func `O3 instances without observers end as ever, beside watched instances`() {
        let log = Log<String>()
        let center = ObserverCenter()
        let owner = Holder(LoggedObject("watched", log))
        center.observe(.sample, owner: owner.object!) { _, _ in }
        for index in 0..<1000 { _ = LoggedObject("\(index)", log) }
        #expect(log.entries == (0..<1000).map { "\($0) deinit" })
        #expect(center.core.count == 1)
        owner.release()
        #expect(log.entries.last == "watched deinit" && log.entries.count == 1001)
        #expect(center.isEmpty)
    }
}
