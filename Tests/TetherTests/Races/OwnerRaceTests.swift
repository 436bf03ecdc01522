import Foundation
import Testing
import Tether

@Suite(.ownThread) struct OwnerRaceTests {
    @Test func `O1 O3 owners of fresh classes that several threads attach at once end as ever`() {
        let center = ObserverCenter()
        let (wrong, ended) = (Counter(), Counter())
        @Sendable func attach<A, B, C>(_: A.Type, _: B.Type, _: C.Type) {
            let owner = Holder(Fresh<A, B, C> { ended.add() })
            let token = center.observe(.sample, owner: owner.object!) { _, _ in }
            if !token.isActive { wrong.add() }
            owner.release()
            if token.isActive { wrong.add() }
        }
        let types = Fresh<Void, Void, Void>.arguments
        let work: @Sendable () -> Void = {
            for a in types { for b in types { for c in types { attach(a, b, c) } } }
        }
        allAtOnce(work, work, work)
        let classes = types.count * types.count * types.count
        #expect(wrong.count == 0)
        #expect(ended.count == 3 * classes)
        #expect(center.isEmpty)
    }
}

/// A new class for every three types.
private final class Fresh<A, B, C>: Sendable {
    private let atEnd: @Sendable () -> Void

    init(_ atEnd: @escaping @Sendable () -> Void) {
        self.atEnd = atEnd
    }

    deinit { atEnd() }
}

extension Fresh {
    static var arguments: [any Any.Type] {
        [
            Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self,
            UInt16.self, UInt32.self,
            UInt64.self, Float.self, Double.self, Bool.self, String.self, Character.self,
            Substring.self, Data.self,
            Date.self, URL.self, UUID.self, IndexPath.self, Notification.self,
        ]
    }
}
