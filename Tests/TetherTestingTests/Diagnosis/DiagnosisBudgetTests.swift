import CoreFoundation
import Dispatch
import Foundation
import TestLimits
import Testing
import Tether
import TetherVerification

@testable import TetherTesting

/// The cost of a diagnosis, and its sentences at the limit.
@Suite(.collectsIssues) struct DiagnosisBudgetTests {
    final class Item: @unchecked Sendable {
        var items: [Item] = []
        var byName: [String: Item] = [:]
        var any: Any = 0
    }

    #if os(Linux) && canImport(Glibc)
    // A sanitizer has an allocator of its own, which the index refuses. Otherwise the tests of the
    // search would be left out everywhere, unnoticed, after a change of glibc's allocator.
    @Test(.enabled(if: Memory.isReadable))
    func `L3 all memory is searched on Linux, and under a sanitizer nothing is found`() {
        let item = Item()
        #expect(isMemorySearched == !isSanitized)
        #expect(holders(of: item).isEmpty == isSanitized)
        withExtendedLifetime(item) {}
    }
    #endif

    /// A tree of 1000 objects. Each has references to two others.
    private func model() -> Item {
        let items = (0..<1000).map { _ in Item() }
        for number in 1..<items.count {
            items[number / 3].items.append(items[number])
            items[number].byName = ["root": items[0], "next": items[(number + 1) % items.count]]
            items[number].any = (number, items[number / 2])
        }
        return items[0]
    }

    private func empty(_ root: Item) {
        var rest = [root]
        while let item = rest.popLast() {
            rest += item.items
            (item.items, item.byName, item.any) = ([], [:], 0)
        }
    }

    @Test func `L2 L3 thirty objects and handlers over a thousand objects take two seconds`()
        throws
    {
        let (center, root, scope, keep) = (ObserverCenter(), model(), LeakTracker(), Keep())
        scope.adopt {
            for number in 0..<30 {
                keep.add(scope.track(Item(), "item \(number)"))
                keep.add(
                    center.observe(.modelDidChange) { _ in withExtendedLifetime((root, number)) {} }
                )
            }
        }
        let begin = processorTime()
        let findings = MemorySearch.$isOn.withValue(false) {
            scope.verifyBlocking(
                LeakTracker.Limits(deliveryWait: .zero, holderSearch: .seconds(300)))
        }
        let time = processorTime() - begin
        #expect(findings.count == 31)
        #expect(findings.last?.message.hasSuffix(" (30 alike)") == true)
        #expect(
            findings.prefix(30).allSatisfy {
                $0.message.contains("No handler, notification or object of this scope holds it")
            })
        // The promise excludes builds with a sanitizer.
        if !isSanitized { #expect(time < .seconds(2)) }
        keep.drop()
        empty(root)
    }

    @Test func `L3 the search for circles at a center's end keeps the limit of the holder search`()
    {
        var time = Duration.zero
        let findings = findLeaks(limits: .init(holderSearch: .seconds(1))) {
            // Each handler leads to all owners, behind the objects searched first.
            let (hub, owners) = (Item(), (0..<6000).map { _ in Item() })
            hub.items = [Item()]
            hub.items[0].items = owners
            let center = ObserverCenter()
            for owner in owners {
                center.observe(.modelDidChange, owner: owner) { _, _ in withExtendedLifetime(hub) {}
                }
            }
            // Registrations check themselves in debug builds, and are not measured.
            let begin = processorTime()
            withExtendedLifetime(consume center) {}
            time = processorTime() - begin
            hub.items = []
        }
        // The owners outlive their center.
        #expect(findings.count == 0)
        if !isSanitized { #expect(time < .seconds(2)) }
    }

    @Test func `L3 like findings are one finding with their number, in a text of constant length`()
        async
    {
        let (center, keep, shelf) = (ObserverCenter(), Keep(), Item())
        // The limit may end the search in all memory between two like leaks.
        let leaks = await MemorySearch.$isOn.withValue(false) {
            await findLeaks(limits: .init(deliveryWait: .zero)) {
                for _ in 0..<100 {
                    let owner = Item()
                    keep.add(owner)
                    keep.add(center.notifications(named: .modelDidChange, owner: owner))
                    // Each at another place of the same collection.
                    shelf.items.append(track(Item()))
                }
                center.observe(.modelDidChange, owner: center) { _, _ in
                    withExtendedLifetime(shelf) {}
                }
            }.map(\.description)
        }
        #expect(leaks.count { $0.hasSuffix(" (100 alike)") } == 2, "\(leaks)")
        #expect(leaks.map(\.utf8.count).reduce(0, +) < 4000)
        keep.drop()
        OwnerObservers(of: center).cancel()
    }

    @Test func `L3 20,000 like leaks are one message`() async {
        let (center, keep) = (ObserverCenter(), Keep())
        let messages = await planted(holderSearch: .milliseconds(200)) {
            for _ in 0..<20_000 {
                let owner = Item()
                keep.add(owner)
                center.observe(.modelDidChange, owner: owner) { _, _ in }
            }
        }
        #expect(messages.count == 1)
        keep.drop()
    }

    @Test func `L3 a reason that the holder search does not find within its limit is unknown`()
        async
    {
        let (center, root, keep) = (ObserverCenter(), model(), Keep())
        let messages = await planted(holderSearch: .zero) {
            keep.add(track(Item()))
            keep.add(center.observe(.modelDidChange) { _ in withExtendedLifetime(root) {} })
        }
        #expect(messages.count == 2)
        for message in messages {
            #expect(
                message.contains(
                    "1 strong reference. Their holders are unknown: the search reached its limit of "
                        + "0.0 seconds, after 0 objects. Raise `holderSearch:`."))
        }
        keep.drop()
        empty(root)
    }

    /// Holds more elements than are looked into, or just as many as are.
    private final class Shelf: @unchecked Sendable {
        private struct Wide {
            let words = SIMD32<Int>()
            let item: Item? = nil
        }

        var items: [Item?] = []
        private var wide: [Wide] = []
        var byNumber: [Int: Item?] = [:]
        var numbers: Set<Int> = []

        static let large: [@Sendable (Shelf) -> Void] = [
            { $0.items = Array(repeating: nil, count: Container.limit + 1) },
            { $0.wide = Array(repeating: Wide(), count: 6000) },
            { $0.byNumber = Dictionary(uniqueKeysWithValues: (0..<20_000).map { ($0, nil) }) },
        ]
        static let small: [@Sendable (Shelf) -> Void] = [
            { $0.items = Array(repeating: nil, count: Container.limit) },
            { $0.wide = Array(repeating: Wide(), count: 3000) },
            { $0.byNumber = Dictionary(uniqueKeysWithValues: (0..<3000).map { ($0, nil) }) },
            { $0.numbers = Set(0..<20_000) },
        ]
    }

    private func message(_ fill: (Shelf) -> Void) async -> String? {
        let (center, shelf, keep) = (ObserverCenter(), Shelf(), Keep())
        fill(shelf)
        // The search in the scope alone.
        let messages = await MemorySearch.$isOn.withValue(false) {
            await planted {
                keep.add(track(Item()))
                center.observe(.modelDidChange, owner: center) { _, _ in
                    withExtendedLifetime(shelf) {}
                }
            }
        }
        keep.drop()
        return messages.first
    }

    @Test(arguments: Shelf.large.indices)
    func `L3 the holder of an object in the unread part of a collection is unknown`(
        _ index: Int
    ) async {
        let message = await message(Shelf.large[index])
        #expect(
            message?.contains(
                "1 strong reference. Their holders are unknown: the search reads only the first ")
                == true)
        #expect(message?.contains("only the first 10000 places, or the first megabyte") == true)
    }

    @Test(arguments: Shelf.small.indices)
    func `L3 an object in no collection is found nowhere if all collections were read`(
        _ index: Int
    ) async {
        #expect(
            await message(Shelf.small[index])?.contains(
                "No handler, notification or object of this scope holds it") == true)
    }

    /// A value too large for an existential, so each value is in a box.
    private struct Sum: Sendable {
        let first: any Sendable
        let second: any Sendable

        /// A tree of many levels. All leaves are the same object.
        init(depth: Int, _ leaf: Item) {
            let isLast = depth == 1
            first = isLast ? leaf : Sum(depth: depth - 1, leaf)
            second = isLast ? leaf : Sum(depth: depth - 1, leaf)
        }

        init(_ both: any Sendable) { (first, second) = (both, both) }
    }

    @Test func `L3 a boxed value is looked into once, however many ways there are to it`() {
        let owner = Item()
        var value: any Sendable = owner
        for _ in 0..<50 { value = Sum(value) }
        let handler: @Sendable (Notification) -> Void = { [value] _ in
            withExtendedLifetime(value) {}
        }
        let graph = ObjectGraph(limit: 60)
        let path = graph.paths(from: ReferencePath.roots(.plain(handler)), to: [HeapObject(owner)])
            .values.first
        #expect(path?.sentence(from: .closure) == "captures it")
        #expect(graph.count < 60 && !graph.isExhausted)
    }

    @Test(arguments: [
        Duration.seconds(Int64.max), .seconds(1_000_000_000_000),
        .seconds(Int64.max / 1_000_000_000),
    ])
    func `L2 a limit that is longer than the clock can count lies in the future`(limit: Duration) {
        #expect(DispatchTime.after(limit) > DispatchTime.now() + .seconds(1_000_000_000))
    }

    @Test func `L2 a limit below zero is one of now`() {
        #expect(DispatchTime.after(.seconds(Int64.min)) <= DispatchTime.now())
    }
}
