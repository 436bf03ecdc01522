import Testing

@testable import Tether

private typealias Owner = any AnyObject & Sendable

private final class Instantiated<Value>: Sendable {}

/// The table of the hooked classes while the table grows, and the lookup of objects by the hook.
@Suite(.ownThread) struct HookTableTests {
    /// Appends an owner of each of 2 to the power of `depth` + 1 classes, less one.
    private func append<Value>(_ type: Value.Type, _ depth: Int, to owners: inout [Owner]) {
        owners.append(Instantiated<Value>())
        guard depth > 0 else { return }
        append([Value].self, depth - 1, to: &owners)
        append(Value?.self, depth - 1, to: &owners)
    }

    @Test(.enabled(if: OwnerLifetime.isExact))
    func `O3 owners of classes hooked before and after the table grew end at once`() {
        let center = ObserverCenter()
        var owners: [Owner] = []
        append(HookTableTests.self, 7, to: &owners)
        for owner in owners { center.observe(.sample, owner: owner) { _, _ in } }
        #expect(center.audit().count == 255)
        owners = []
        #expect(center.audit().isEmpty)
    }

    @Test(.enabled(if: OwnerLifetime.isExact))
    func `O3 an owner that has or had weak and unowned references is found`() {
        let center = ObserverCenter()
        for isKept in [true, false] {
            let owner = Holder(Instantiated<Int>())
            weak let weakly = owner.object
            let unretained = isKept ? Unowned<Instantiated<Int>>(owner.object!) : nil
            let first = center.observe(.sample, owner: owner.object!) { _, _ in }
            first.cancel()
            center.observe(.sample, owner: owner.object!) { _, _ in }
            #expect(center.audit().count == 1 && weakly != nil)
            owner.object = nil
            #expect(center.audit().isEmpty && weakly == nil && unretained?.retained == nil)
        }
    }
}
