import Dispatch
import Foundation
import Synchronization
import Testing
import Tether

@testable import TetherTesting

/// The search in all memory of the process: what it must not name, and its limits. The searches run
/// in processes of their own, so that no other test's threads change what is searched.
@Suite(.enabled(if: isMemorySearched)) struct HolderSearchTests {
    final class Model: @unchecked Sendable {
        func touch() {}
    }

    @safe final class Watcher: @unchecked Sendable {
        weak var weakModel: Model?
        unowned var unownedModel: Model?
        var unmanaged: Unmanaged<Model>?
        var address: UInt = 0
        var closure: (() -> Void)?
        var models: [Model] = []
        var model: Model?
        unowned var ended: Watcher?
    }

    // SAFETY: each variable is used by one test alone.
    enum Roots {
        @safe nonisolated(unsafe) static var watcher: Watcher?
        @safe nonisolated(unsafe) static weak var model: Model?
        @safe nonisolated(unsafe) static var one: Model?
        @safe nonisolated(unsafe) static var two: [Model] = []
        @safe nonisolated(unsafe) static var many: [Model] = []
        @safe nonisolated(unsafe) static var storm: Model?
        @safe nonisolated(unsafe) static var freed: [UInt] = []
        @safe nonisolated(unsafe) static var chain: Link?
    }

    /// An object that nothing but a count holds.
    private struct Kept {
        let address: HiddenAddress

        @inline(never)
        init(_ use: (Model) -> Void = { _ in }) {
            let model = Model()
            use(model)
            let retained = unsafe Unmanaged.passRetained(model)
            address = unsafe HiddenAddress(UInt(bitPattern: retained.toOpaque()))
        }

        // SAFETY: `init` retained the object; the test calls the method once, last.
        func end() {
            let pointer = unsafe UnsafeRawPointer(bitPattern: address.address)!
            unsafe Unmanaged<Model>.fromOpaque(pointer).release()
        }
    }

    /// Leaves the address of an object on the stack.
    @inline(never)
    private func leaveOnStack(_ model: Model) {
        var copies = [Model](repeating: model, count: 8)
        copies.swapAt(0, 7)
        withExtendedLifetime(copies) {}
    }

    /// Leaves the address of an object in freed memory, which the allocator keeps in lists of the
    /// thread (7 for each size), in lists of small chunks, and joined with other freed memory.
    ///
    /// The address is in the last word. Memory that is soon used again begins at other words.
    private func leaveInFreedMemory(_ model: Model) -> [UInt] {
        var freed: [UInt] = []
        for (words, count) in [(12_000, 1), (117, 7), (15, 10)] {
            let addresses = (0..<count).map { _ in
                let memory = UnsafeMutablePointer<Model>.allocate(capacity: words)
                unsafe (memory + words - 1).initialize(to: model)
                return UInt(bitPattern: memory)
            }
            // Memory in use, which stays behind the freed memory.
            _ = UnsafeMutablePointer<Model>.allocate(capacity: words)
            for address in addresses {
                let memory = unsafe UnsafeMutablePointer<Model>(bitPattern: address)!
                unsafe (memory + words - 1).deinitialize(count: 1)
                unsafe memory.deallocate()
            }
            freed += addresses
        }
        return freed
    }

    @Test func `L3 weak, unowned, unmanaged and freed references are no holders`() async {
        await #expect(processExitsWith: .success) { try HolderSearchTests().findNoHolders() }
    }

    private func findNoHolders() throws {
        let watcher = Watcher()
        Roots.watcher = watcher
        // A first search makes the tables of symbols, which would use freed memory again.
        _ = HolderSearch(limit: .seconds(300))?
            .holders(of: HiddenAddress(HeapObject(watcher).address), count: 9)
        let kept = Kept { model in
            watcher.weakModel = model
            watcher.unownedModel = model
            unsafe watcher.unmanaged = unsafe .passUnretained(model)
            watcher.address = HeapObject(model).address
            watcher.closure = { [weak model] in model?.touch() }
            watcher.models.append(model)
            watcher.models.removeAll(keepingCapacity: true)
            Roots.model = model
            leaveOnStack(model)
            let freed = Watcher()
            freed.models = [model, model]
            Roots.freed = leaveInFreedMemory(model)
            // The memory of an ended object is kept by an unowned reference.
            let ended = Watcher()
            ended.model = model
            watcher.ended = ended
        }
        let search = try #require(HolderSearch(limit: .seconds(300)))
        let result = search.holders(of: kept.address, count: 1)
        #expect(result.paths.filter(\.isProved).map(\.sentence) == [])
        #expect(result.rootless.map(\.sentence) == [])
        // No path has a freed holder, not even perhaps.
        #expect(result.paths.allSatisfy { $0.holders.isEmpty }, "\(result.paths.map(\.sentence))")
        // Nothing is known of a place that is no object of the allocator's.
        #expect(search.holders(of: kept.address + 16, count: 1).isCut)
        kept.end()
        Roots.watcher = nil
    }

    @Test func `L3 all holders of an object are returned, the surest first`() async {
        await #expect(processExitsWith: .success) { try HolderSearchTests().findAllHolders() }
    }

    private func findAllHolders() throws {
        let model = Model()
        Roots.one = model
        Roots.two = [model]
        let all = holders(of: model, limit: .seconds(300))
        let found = all.map(\.description)
        let expected = [
            "`HolderSearchTests.Roots.one` holds it",
            "`HolderSearchTests.Roots.two[0]` refers to it",
        ]
        for part in expected {
            #expect(found.contains { $0.contains(part) }, "\(found)")
        }
        #expect(all.allSatisfy { $0.svg().contains("Model") })
        #expect(all.allSatisfy { $0.dot().contains("Model") })
        #expect(all.allSatisfy { $0.mermaid().contains("Model") })
        Roots.one = nil
        Roots.two = []
        withExtendedLifetime(model) {}
    }

    final class Link: @unchecked Sendable { var next: AnyObject? }

    @Test func `L3 a long path is cut, and a search that ends before a root says so`() async {
        await #expect(processExitsWith: .success) { try HolderSearchTests().followAChain() }
    }

    private func followAChain() throws {
        let kept = Kept { model in
            var last = Link()
            Roots.chain = last
            for _ in 0..<500 {
                let next = Link()
                last.next = next
                last = next
            }
            last.next = model
        }
        let search = try #require(HolderSearch(limit: .seconds(300)))
        let sentence = search.holders(of: kept.address, count: 2).paths.first?.sentence ?? ""
        #expect(sentence.hasPrefix("`HolderSearchTests.Roots.chain` holds it: "), "\(sentence)")
        #expect(
            sentence.hasSuffix("next.next` refers to it") && sentence.count < 400, "\(sentence)")
        let short = try #require(HolderSearch(limit: .seconds(300), visits: 5))
        let result = short.holders(of: kept.address, count: 2)
        #expect(
            result.rootless.map(\.sentence) == [
                "a Link holds it: its `next` refers to it, and the search ended "
                    + "before the holder's own holders were found"
            ])
        #expect(result.paths.allSatisfy { !$0.isProved })
        kept.end()
        Roots.chain = nil
    }

    @Test func `L3 the number of references that were found is said`() async {
        await #expect(processExitsWith: .success) { try HolderSearchTests().countReferences() }
    }

    private func countReferences() throws {
        let model = Model()
        let retained = unsafe Unmanaged.passRetained(model)
        Roots.storm = model
        let last = holders(of: model, limit: .seconds(300)).last?.description
        #expect(last?.contains("strong references found") == true, "\(last ?? "nothing")")
        Roots.storm = nil
        unsafe retained.release()
        withExtendedLifetime(model) {}
    }

    @Test func `L3 no time for a search finds nothing`() {
        let model = Model()
        #expect(holders(of: model, limit: .zero).isEmpty)
        withExtendedLifetime(model) {}
    }

    @Test func `L3 one of a million objects is found`() async {
        await #expect(processExitsWith: .success) { try HolderSearchTests().findOneOfAMillion() }
    }

    private func findOneOfAMillion() throws {
        Roots.many = (0..<1_000_000).map { _ in Model() }
        let address = HiddenAddress(HeapObject(Roots.many[765_432]).address)
        let search = try #require(HolderSearch(limit: .seconds(300)))
        let path = search.holders(of: address, count: 1).paths.first
        #expect(path?.sentence.hasSuffix("many[765432]` refers to it") == true)
        Roots.many = []
    }

    /// Threads that allocate and free, in arenas of their own, and end.
    @Test func `L3 a search while threads begin, allocate, free and end names no wrong holder`()
        async
    {
        await #expect(processExitsWith: .success) { try HolderSearchTests().searchDuringAStorm() }
    }

    private func searchDuringAStorm() throws {
        let storm = Storm()
        let kept = Kept()
        for _ in 0..<20 {
            let search = HolderSearch(limit: .seconds(300))
            let result = search?.holders(of: kept.address, count: 1)
            #expect(result?.paths.filter(\.isProved).map(\.sentence) ?? [] == [])
        }
        storm.end()
        kept.end()
    }

    private final class Storm: Sendable {
        private let isOver = Atomic<Bool>(false)
        private let threads = DispatchGroup()

        init() {
            for _ in 0..<2 {
                threads.enter()
                Thread.detachNewThread { [self] in
                    while !isOver.load(ordering: .relaxed) {
                        var blocks: [[UInt8]] = []
                        for size in stride(from: 1, to: 200_000, by: 7919) {
                            blocks.append([UInt8](repeating: 7, count: size))
                        }
                        Thread.detachNewThread { _ = [Model](repeating: Model(), count: 50) }
                        blocks.shuffle()
                        blocks.removeFirst(blocks.count / 2)
                    }
                    threads.leave()
                }
            }
        }

        func end() {
            isOver.store(true, ordering: .relaxed)
            threads.wait()
        }
    }
}
