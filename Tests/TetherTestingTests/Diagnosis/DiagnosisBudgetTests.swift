import CoreFoundation
import Dispatch
import Foundation
import TestLimits
import Testing
import Tether
import TetherVerification

@testable import TetherTesting

/// What a diagnosis costs, and what it says when it may not cost more.
@Suite struct DiagnosisBudgetTests {
    final class Item: @unchecked Sendable {
        var items: [Item] = []
        var byName: [String: Item] = [:]
        var any: Any = 0
    }

    /// A tree of 1000 objects, each of which knows two others.
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

    @Test func `L2 L3 thirty objects and thirty handlers over a thousand objects are explained in two seconds`() throws
    {
        let (center, root, scope, keep) = (ObserverCenter(), model(), LeakTracker(), Keep())
        scope.adopt {
            for number in 0..<30 {
                keep.add(scope.track(Item(), "item \(number)"))
                keep.add(center.observe(.modelDidChange) { _ in withExtendedLifetime((root, number)) {} })
            }
        }
        let begin = processorTime()
        let findings = scope.verifyBlocking(
            LeakTracker.Limits(deliveries: .zero, release: .zero, explanation: .seconds(300)))
        let time = processorTime() - begin
        #expect(findings.count == 60)
        #expect(findings.prefix(30).allSatisfy { $0.message.contains("none of them was found in what this scope's") })
        // Nobody promises this of a build with a sanitizer.
        if !isSanitized { #expect(time < .seconds(2)) }
        keep.drop()
        empty(root)
    }

    @Test func `L3 thousands that are left are told of in seconds`() {
        let (center, scope, keep) = (ObserverCenter(), LeakTracker(), Keep())
        scope.adopt {
            for _ in 0..<3000 {
                let item = Item()
                keep.add(item)
                center.observe(.modelDidChange, owner: item) { _, _ in }
            }
        }
        let begin = processorTime()
        let findings = scope.verifyBlocking(
            LeakTracker.Limits(deliveries: .zero, release: .zero, explanation: .milliseconds(100)))
        let time = processorTime() - begin
        #expect(findings.count == 3000)
        if !isSanitized { #expect(time < .seconds(5)) }
        keep.drop()
    }

    @Test func `L3 circles are looked for among many owners in seconds, where a center ends`() {
        let begin = processorTime()
        let findings = findLeaks(explanation: .seconds(300)) {
            let layers = (0..<4).map { _ in (0..<300).map { _ in Item() } }
            let center = ObserverCenter()
            for (layer, next) in zip(layers, layers.dropFirst() + [[]]) {
                let hub = Item()
                hub.items = next
                for owner in layer {
                    center.observe(.modelDidChange, owner: owner) { _, _ in withExtendedLifetime(hub) {} }
                }
            }
            // Goes before the owners.
            withExtendedLifetime(consume center) {}
            withExtendedLifetime(layers) {}
        }
        let time = processorTime() - begin
        #expect(findings.count == 0)
        if !isSanitized { #expect(time < .seconds(2)) }
    }

    @Test func `L3 the search for circles, where a center ends, keeps to the limit for explanations`() {
        let begin = processorTime()
        let findings = findLeaks(explanation: .seconds(1)) {
            // Each handler leads to all owners, behind what is looked into first.
            let (hub, owners) = (Item(), (0..<6000).map { _ in Item() })
            hub.items = [Item()]
            hub.items[0].items = owners
            let center = ObserverCenter()
            for owner in owners {
                center.observe(.modelDidChange, owner: owner) { _, _ in withExtendedLifetime(hub) {} }
            }
            withExtendedLifetime(consume center) {}
            hub.items = []
        }
        let time = processorTime() - begin
        // The owners outlive their center.
        #expect(findings.count == 0)
        if !isSanitized { #expect(time < .seconds(2)) }
    }

    private final class Link: @unchecked Sendable {
        var next: Link?
    }

    /// A chain of so many links, each tracked, whose first one a handler captures.
    private func chain(_ count: Int, in scope: LeakTracker, on center: ObserverCenter) -> [Link] {
        let links = (0..<count).map { _ in scope.track(Link()) }
        for (link, next) in zip(links, links.dropFirst()) { link.next = next }
        let first = links[0]
        _ = scope.adopt { center.observe(.modelDidChange, owner: first) { _, _ in withExtendedLifetime(first) {} } }
        return links
    }

    @Test func `L3 what is left at the end of a long way is told of in seconds, by the way's beginning and end`() {
        let (center, scope) = (ObserverCenter(), LeakTracker())
        let links = chain(4000, in: scope, on: center)
        let begin = processorTime()
        let findings = scope.verifyBlocking(
            LeakTracker.Limits(deliveries: .zero, release: .zero, explanation: .seconds(300)))
        let pictures = findings.map { $0.picture.svg }
        let time = processorTime() - begin
        #expect(findings.count == 4000 && pictures.allSatisfy { $0.count < 100_000 })
        #expect(findings.last?.message.contains("next.next.(3960 more).next.next") == true)
        #expect(findings.allSatisfy { $0.message.contains("it is kept by the handler") && $0.message.count < 1000 })
        if !isSanitized { #expect(time < .seconds(30)) }
        for link in links { link.next = nil }
        OwnerObservers(of: links[0]).cancel()
    }

    @Test func `L2 each object is read once, whatever the number of handlers and of objects that are left`() {
        let (center, root, scope, keep) = (ObserverCenter(), model(), LeakTracker(), Keep())
        scope.adopt {
            for number in 0..<10 {
                keep.add(scope.track(Item()))
                keep.add(center.observe(.modelDidChange) { _ in withExtendedLifetime((root, number)) {} })
            }
        }
        let state = scope.state.withLock(\.self)
        let objects = state.tracked.compactMap { tracked in LeftObject(tracked.object).map { (tracked, $0) } }
        let holders = Holders(
            registrations: state.registrations, objects: objects, targets: objects.map(\.1.heap), limit: .seconds(300))
        for (_, object) in objects {
            #expect(holders.handler(of: object.heap) == nil && holders.cycle(through: object.heap) == nil)
        }
        let count = holders.count
        // With the storage of arrays and dictionaries, and the handlers' contexts.
        #expect(count > 1000 && count < 4000)
        for (_, object) in objects { #expect(holders.object(of: object.heap) == nil) }
        #expect(holders.count == count && !holders.isExhausted)
        keep.drop()
        empty(root)
    }

    @Test func `L3 what cannot be told within the limit for explanations is said to be untold`() async {
        let (center, root, keep) = (ObserverCenter(), model(), Keep())
        let messages = await planted(explanation: .zero) {
            keep.add(track(Item()))
            keep.add(center.observe(.modelDidChange) { _ in withExtendedLifetime(root) {} })
        }
        #expect(messages.count == 2)
        for message in messages {
            #expect(
                message.contains(
                    "1 strong reference; what they are is untold, because the limit for explanations, 0.0 seconds, was "
                        + "reached after 0 objects."))
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
        let messages = await planted {
            keep.add(track(Item()))
            center.observe(.modelDidChange, owner: center) { _, _ in withExtendedLifetime(shelf) {} }
        }
        keep.drop()
        return messages.first
    }

    @Test func `L3 no more elements are looked into than a search has left, nor any behind its limit of time`() {
        let items = (0..<20).map { _ in Item() }
        let bytes = ValueBytes(of: items)
        func path(in graph: ObjectGraph) -> ReferencePath? { graph.path(from: bytes, to: HeapObject(items[19])) }
        let (enough, tooFew, tooLate) = (
            ObjectGraph(elements: 20), ObjectGraph(elements: 19), ObjectGraph(until: .now())
        )
        #expect(path(in: enough) != nil && !enough.isCut)
        #expect(path(in: tooFew) == nil && tooFew.isCut)
        #expect(path(in: tooLate) == nil && tooLate.isExhausted)
        // The storage of the array, looked into when the time is up.
        let storage = bytes.bytes.load(UInt.self, at: 0).flatMap {
            HeapObject(address: $0).contents(within: Container.Budget(deadline: .now()))
        }
        #expect(storage?.elements == 0 && storage?.isCut == true)
        withExtendedLifetime(items) {}
    }

    @Test(arguments: Shelf.large.indices)
    func `L3 what may be in a part of a collection that is not looked into is said to be untold`(_ index: Int) async {
        let message = await message(Shelf.large[index])
        #expect(message?.contains("1 strong reference; what they are is untold, because only the first") == true)
        #expect(message?.contains("only the first 10000 places, or the first megabyte") == true)
    }

    @Test(arguments: Shelf.small.indices)
    func `L3 what is in no collection, all of which were looked into, is said to be found nowhere`(
        _ index: Int
    ) async {
        #expect(await message(Shelf.small[index])?.contains("none of them was found in what this scope's") == true)
    }

    @Test func `L3 a handler that captures its owner directly is told within any limit`() {
        let owner = Item()
        let graph = ObjectGraph(limit: 1)
        let root = model()
        let handler: @Sendable (Notification) -> Void = { _ in withExtendedLifetime((root, owner)) {} }
        let paths = graph.paths(from: ReferencePath.roots(.plain(handler)), to: [HeapObject(owner)])
        #expect(paths.values.first?.sentence(from: .closure) == "captures it")
        #expect(graph.count == 1)
        empty(root)
    }

    @Test func `L3 the look at a handler that is registered ends after its number of objects`() {
        let (owner, root) = (Item(), model())
        let graph = ObjectGraph(limit: SelfCapture.limit)
        let handler: @Sendable (Notification) -> Void = { _ in withExtendedLifetime(root) {} }
        #expect(graph.paths(from: ReferencePath.roots(.plain(handler)), to: [HeapObject(owner)]).isEmpty)
        #expect(graph.count == SelfCapture.limit && graph.isExhausted)
        empty(root)
    }

    /// A value that is too large for an existential, so that each stands in a box.
    private struct Sum: Sendable {
        let first: any Sendable
        let second: any Sendable

        /// A tree of so many levels, all leaves of which are one object.
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
        let handler: @Sendable (Notification) -> Void = { [value] _ in withExtendedLifetime(value) {} }
        let graph = ObjectGraph(limit: 60)
        let path = graph.paths(from: ReferencePath.roots(.plain(handler)), to: [HeapObject(owner)]).values.first
        #expect(path?.sentence(from: .closure) == "captures it")
        #expect(graph.count < 60 && !graph.isExhausted)
    }

    @Test func `L3 boxed values count as objects, before which the limits end the search`() {
        let (owner, value) = (Item(), Sum(depth: 9, Item()) as any Sendable)
        let handler: @Sendable (Notification) -> Void = { [value] _ in withExtendedLifetime(value) {} }
        let graph = ObjectGraph(limit: SelfCapture.limit)
        #expect(graph.paths(from: ReferencePath.roots(.plain(handler)), to: [HeapObject(owner)]).isEmpty)
        #expect(graph.count == SelfCapture.limit && graph.isExhausted)
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1_000_000_000_000), .seconds(Int64.max / 1_000_000_000)])
    func `L2 a limit that is longer than time can be told lies in the future`(limit: Duration) {
        #expect(DispatchTime.after(limit) > DispatchTime.now() + .seconds(1_000_000_000))
    }

    @Test func `L2 a limit below zero is one of now`() {
        #expect(DispatchTime.after(.seconds(Int64.min)) <= DispatchTime.now())
    }
}
