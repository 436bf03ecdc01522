import COwnerLifetime
import Testing

@testable import Tether

private typealias Owner = any AnyObject & Sendable

private final class Instantiated<Value>: Sendable {}

/// The table of the classes that have the deallocator hook, while it grows, and the filter of the objects to look up.
@Suite(.ownThread) struct HookTableTests {
    /// Appends an owner of each of 2 to the power of `depth` + 1 classes, less one.
    private func append<Value>(_ type: Value.Type, _ depth: Int, to owners: inout [Owner]) {
        owners.append(Instantiated<Value>())
        guard depth > 0 else { return }
        append([Value].self, depth - 1, to: &owners)
        append(Value?.self, depth - 1, to: &owners)
    }

    @Test(.enabled(if: OwnerLifetime.isExact))
    func `O3 owners of classes that were hooked before and after the table grew end at once`() {
        let center = ObserverCenter()
        var owners: [Owner] = []
        append(HookTableTests.self, 7, to: &owners)
        for owner in owners { center.observe(.sample, owner: owner) { _, _ in } }
        #expect(center.audit().count == 255)
        // On threads of their own, because a `deinit` that is not found in the table does not return.
        let lists = stride(from: 0, to: owners.count, by: 16).map { first in
            SharedHolder(Array(owners[first..<min(first + 16, owners.count)]))
        }
        owners = []
        onThreads(lists.map { list in { list.set(nil) } })
        #expect(center.audit().isEmpty)
    }

    @Test(.enabled(if: OwnerLifetime.isExact))
    func `O3 an owner's end is seen after others went that shared its place in the filter`() {
        let center = ObserverCenter()
        let owner = Holder(Instantiated<Int>())
        center.observe(.sample, owner: owner.object!) { _, _ in }
        // Addresses of nobody, enough of them to fall on every place.
        for number in UInt(1)...1 << 21 {
            // SAFETY: the address is only hashed.
            guard let address = unsafe UnsafeRawPointer(bitPattern: number << 4) else { continue }
            unsafe tether_hook_mark(address)
            unsafe tether_hook_unmark(address)
        }
        owner.object = nil
        #expect(center.audit().isEmpty)
    }

    @Test(.enabled(if: OwnerLifetime.isExact))
    func `O3 an owner that is attached to no more is taken out of the filter once`() {
        let center = ObserverCenter()
        // All at once, at addresses that for the most part nobody has had: a place whose count went below zero is full
        // ever after, and hides what goes wrong there.
        var owners = (0..<1000).map { _ in Instantiated<String>() }
        for owner in owners {
            let first = center.observe(.sample, owner: owner) { _, _ in }
            // Another that shares its place.
            // SAFETY: the address is only hashed.
            let address = unsafe Unmanaged.passUnretained(owner).toOpaque()
            unsafe tether_hook_mark(address)
            first.stop()
            center.observe(.sample, owner: owner) { _, _ in }
            unsafe tether_hook_unmark(address)
        }
        owners = []
        #expect(center.audit().isEmpty)
    }
}
