import Dispatch
import Foundation
import Synchronization
import Testing
import Tether
import TetherVerification

@testable import TetherTesting

/// Whether the memory of this process can be searched. A sanitizer has an allocator of its own.
let isMemorySearched = HolderSearch(limit: .seconds(300)) != nil

/// Kinds of holders outside of a scope, each with a part of the sentence that names it.
///
/// All are planted at once, and one check explains all.
@Suite(.enabled(if: isMemorySearched)) struct HolderKindTests {
    final class Model: @unchecked Sendable {
        var other: AnyObject?
        func touch() {}
    }

    protocol Page: AnyObject, Sendable {}
    final class FirstPage: Page, @unchecked Sendable { var model: Model? }

    struct Row {
        var number = 1
        var name = "row"
        var model: Model?
    }

    indirect enum Tree {
        case leaf(Model)
        case branch(Tree, Tree)
    }

    enum Event {
        case opened(Int)
        case loaded(Model, Int)
    }

    struct Failure: Error { let model: Model }

    final class Link: @unchecked Sendable {
        var next: Link?
        var model: Model?
    }

    final class Shelf<Book>: @unchecked Sendable { var book: Book? }

    final class Buffer: ManagedBuffer<Int, Model> {}

    actor Keeper {
        private var held: [Model] = []
        func hold(_ model: Model) { held.append(model) }
        func drop() { held = [] }
    }

    final class Fields: @unchecked Sendable {
        var pair: (Int, Model)?
        lazy var last: Model? = nil
        var any: Any = 0
        var row: Any = 0
        var tree: Tree?
        var event = Event.opened(1)
        var set: Set<ObjectKey> = []
        let mutex = Mutex<[Model]>([])
        var rows: [Row] = []
        var byName: [String: [Int: Model]] = [:]
        var byObject: [ObjectKey: Int] = [:]
        var slice: ArraySlice<Model> = []
        var contiguous: ContiguousArray<Model> = []
        var error: (any Error)?
        var page: (any Page)?
        var closures: [String: () -> Void] = [:]
        var shelf = Shelf<Model>()
    }

    final class ObjectKey: Hashable, @unchecked Sendable {
        let model: Model
        init(_ model: Model) { self.model = model }
        static func == (one: ObjectKey, other: ObjectKey) -> Bool { one === other }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    // SAFETY: only the one test of this suite uses these variables.
    enum Roots {
        @safe nonisolated(unsafe) static var model: Model?
        @safe nonisolated(unsafe) static var closure: (() -> Void)?
        @safe nonisolated(unsafe) static var fields = Fields()
        @safe nonisolated(unsafe) static var item: DispatchWorkItem?
        @safe nonisolated(unsafe) static var array = NSMutableArray()
        @safe nonisolated(unsafe) static var buffer: ManagedBuffer<Int, Model>?
        @safe nonisolated(unsafe) static var pointer: UnsafeMutablePointer<Model>?
        @safe nonisolated(unsafe) static var stream: AsyncStream<Model>?
        @safe nonisolated(unsafe) static var task: Task<Model, Never>?
        @safe nonisolated(unsafe) static var termination: AsyncStream<Int>.Continuation?
        static let keeper = Keeper()
        static let link = Link()
    }

    @TaskLocal static var local: Model?

    /// A holder that the test ends.
    struct Kind: Sendable {
        let name: String
        let parts: [String]
        let plant: @Sendable (Model, Ends) async -> Void

        init(
            _ name: String, _ parts: String...,
            plant: @escaping @Sendable (Model, Ends) async -> Void
        ) {
            self.name = name
            self.parts = parts
            self.plant = plant
        }
    }

    /// What ends the holders.
    final class Ends: Sendable {
        private let all = Mutex<[@Sendable () -> Void]>([])

        func add(_ end: @escaping @Sendable () -> Void) { all.withLock { $0.append(end) } }

        func run() {
            for end in all.withLock({ $0 }) { end() }
        }
    }

    /// Starts a task that has the model and waits, and returns when it waits.
    static func wait(_ ends: Ends, _ body: @escaping @Sendable (Work) async -> Void) async {
        let (work, begun) = (Work(), Work())
        let task = Task.detached {
            begun.end()
            await body(work)
        }
        await begun.waitUnlessCancelled()
        ends.add {
            work.end()
            task.cancel()
        }
    }

    // MARK: The kinds

    static let fields = [
        Kind("tuple", "`Roots.fields` holds it: `Roots.fields.pair.1` refers to it") {
            model, ends in
            Roots.fields.pair = (1, model)
        },
        Kind("lazy", "`Roots.fields.last` refers to it") { model, _ in Roots.fields.last = model },
        Kind("Any", "`Roots.fields.any` refers to it") { model, _ in Roots.fields.any = model },
        Kind("boxed struct", "`Roots.fields.row.model` refers to it") { model, _ in
            Roots.fields.row = Row(model: model)
        },
        Kind("indirect enum", "`Roots.fields.tree") { model, _ in
            Roots.fields.tree = .branch(.leaf(model), .leaf(Model()))
        },
        Kind("enum with payloads", "`Roots.fields.event") { model, _ in
            Roots.fields.event = .loaded(model, 2)
        },
        Kind("set", "`Roots.fields.set[…].model` refers to it") { model, _ in
            Roots.fields.set = [ObjectKey(model)]
        },
        Kind("Mutex", "`Roots.fields.mutex[0]` refers to it") { model, _ in
            Roots.fields.mutex.withLock { $0.append(model) }
        },
        Kind("array of structs", "`Roots.fields.rows[1].model` refers to it") { model, _ in
            Roots.fields.rows = [Row(), Row(model: model)]
        },
        Kind("dictionaries", "`Roots.fields.byName[\"main\"][7]` refers to it") { model, _ in
            Roots.fields.byName["main"] = [7: model]
        },
        Kind("dictionary's keys", "`Roots.fields.byObject[…].model` refers to it") { model, _ in
            Roots.fields.byObject[ObjectKey(model)] = 1
        },
        Kind("slice", "`Roots.fields.slice") { model, _ in
            Roots.fields.slice = [Model(), model, Model()][1...]
        },
        Kind("contiguous array", "`Roots.fields.contiguous[1]` refers to it") { model, _ in
            Roots.fields.contiguous = [Model(), model]
        },
        Kind("any Error", "`Roots.fields.error.model` refers to it") { model, _ in
            Roots.fields.error = Failure(model: model)
        },
        Kind("protocol", "`Roots.fields.page.model` refers to it") { model, _ in
            let page = FirstPage()
            page.model = model
            Roots.fields.page = page
        },
        Kind("closures", "`Roots.fields.closures[\"reload\"]` is a closure in ") { model, _ in
            Roots.fields.closures["reload"] = { [row = Row()] in
                withExtendedLifetime(row) { model.touch() }
            }
        },
        Kind("generic class", "`Roots.fields.shelf.book` refers to it") { model, _ in
            Roots.fields.shelf.book = model
        },
    ]

    static let roots = [
        Kind("static", "`Roots.model` holds it. Remove the object there") { model, _ in
            Roots.model = model
        },
        // An optimized build makes the object a part of the image.
        Kind("constant", "`Roots.link` holds it") { model, ends in
            Roots.link.model = model
            ends.add { Roots.link.model = nil }
        },
        Kind("global closure", "`Roots.closure` is a closure in ", "that captures it") { model, _ in
            Roots.closure = { model.touch() }
        },
        Kind("actor", "`Roots.keeper.held[0]` refers to it") { model, ends in
            await Roots.keeper.hold(model)
            ends.add { Task { await Roots.keeper.drop() } }
        },
        Kind("NSMutableArray", "`Roots.array` holds it") { model, ends in
            Roots.array.add(model)
        },
        Kind("ManagedBuffer", "`Roots.buffer") { model, _ in
            let buffer = Buffer.create(minimumCapacity: 4) { _ in 0 }
            unsafe buffer.withUnsafeMutablePointerToElements { unsafe $0.initialize(to: model) }
            Roots.buffer = buffer
        },
        Kind("pointer", "perhaps `Roots.pointer` holds") { model, ends in
            let pointer = UnsafeMutablePointer<Model>.allocate(capacity: 1)
            unsafe pointer.initialize(to: model)
            unsafe Roots.pointer = pointer
        },
        Kind("stream's buffer", "`Roots.stream") { model, _ in
            let (stream, continuation) = AsyncStream.makeStream(of: Model.self)
            continuation.yield(model)
            Roots.stream = stream
        },
        Kind("onTermination", "`Roots.termination", "that captures it") { model, _ in
            let (_, continuation) = AsyncStream.makeStream(of: Int.self)
            continuation.onTermination = { _ in model.touch() }
            Roots.termination = continuation
        },
        Kind("task's result", "the result of a task holds it", "`Roots.task`. Release the task.") {
            model, _ in
            let task = Task { model }
            _ = await task.value
            Roots.task = task
        },
        Kind(
            "retain cycle",
            "a Link in a retain cycle holds it: its `next.next.model`"
        ) {
            model, ends in
            let first = Link()
            first.next = Link()
            first.next?.next = first
            first.model = model
            ends.add { [weak first] in first?.next = nil }
        },
        Kind("no holder", "Nothing in memory holds it: an unbalanced retain") { model, ends in
            let reference = unsafe Unmanaged.passRetained(model)
            ends.add { unsafe reference.release() }
        },
    ]

    static let dispatch = [
        Kind("block", "a block that waits on the queue `held blocks`, a closure in ", "captures it")
        { model, ends in
            let queue = DispatchQueue(label: "held blocks")
            queue.suspend()
            queue.async { model.touch() }
            ends.add { queue.resume() }
        },
        Kind("work item", "`Roots.item` holds it: ") { model, _ in
            Roots.item = DispatchWorkItem { model.touch() }
        },
        Kind("group", "a block that waits for a dispatch group, a closure in ", "captures it") {
            model, ends in
            let group = DispatchGroup()
            group.enter()
            group.notify(queue: .global()) { model.touch() }
            ends.add { group.leave() }
        },
        Kind("timer source", "the handler of a timer, a closure in ", "Call `cancel()` of") {
            model, ends in
            @safe nonisolated(unsafe) let timer = DispatchSource.makeTimerSource()
            timer.schedule(deadline: .distantFuture)
            timer.setEventHandler { model.touch() }
            timer.activate()
            ends.add { timer.cancel() }
        },
        Kind("asyncAfter", "a block that `asyncAfter` delays, a closure in ", "captures it") {
            model, _ in
            DispatchQueue(label: "later").asyncAfter(deadline: .now() + 1_000_000) { model.touch() }
        },
        Kind("run loop block", "a block that waits on a run loop, a closure in ", "captures it") {
            model, _ in
            RunLoop.main.perform { model.touch() }
        },
        Kind("signal source", "the handler of a signal source, a closure in ", "captures it") {
            model, ends in
            @safe nonisolated(unsafe) let source = DispatchSource.makeSignalSource(signal: SIGUSR2)
            source.setEventHandler { model.touch() }
            source.activate()
            ends.add { source.cancel() }
        },
        Kind("queue's value", "perhaps the queue `specific values` holds ") { model, ends in
            let key = DispatchSpecificKey<Model>()
            let queue = DispatchQueue(label: "specific values")
            queue.setSpecific(key: key, value: model)
            ends.add { queue.setSpecific(key: key, value: nil) }
        },
        Kind("operation", "an operation, a closure in ", "in the operation queue `held jobs`") {
            model, ends in
            let queue = OperationQueue()
            queue.name = "held jobs"
            queue.isSuspended = true
            queue.addOperation { model.touch() }
            ends.add {
                queue.isSuspended = false
                queue.waitUntilAllOperationsAreFinished()
            }
        },
    ]

    static let running = [
        // An optimized build inlines `Task.sleep`, which calls `Clock.sleep`.
        Kind("sleeping task", "a task that runs a closure in ", "waits in `", ".sleep(for:") {
            model, ends in
            await wait(ends) { _ in
                try? await Task.sleep(for: .seconds(1_000_000))
                model.touch()
            }
        },
        Kind("task at a continuation", "a task that runs a closure in ", "holds it") {
            model, ends in
            let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)
            let shared = Shared(waiting)
            await wait(ends) { _ in
                await withCheckedContinuation { next in shared.value.withLock { $0 = next } }
                model.touch()
            }
            ends.add { shared.value.withLock { $0.take()?.resume() } }
        },
        Kind("child task", "a task that runs a closure in ", "holds it") { model, ends in
            await wait(ends) { work in
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        await work.waitUnlessCancelled()
                        model.touch()
                    }
                }
            }
        },
        Kind("task-local value", "perhaps a task that ", "holds it") { model, ends in
            await HolderKindTests.$local.withValue(model) {
                await wait(ends) { await $0.waitUnlessCancelled() }
            }
            // A detached task inherits no value.
            let work = Work()
            let task = HolderKindTests.$local.withValue(model) {
                Task { await work.waitUnlessCancelled() }
            }
            ends.add {
                work.end()
                task.cancel()
            }
        },
        Kind("thread", "a thread, a closure in ", "captures it") { model, ends in
            let ended = DispatchSemaphore(value: 0)
            let begun = Work()
            let thread = Thread {
                begun.end()
                ended.wait()
                model.touch()
            }
            thread.start()
            await begun.waitUnlessCancelled()
            ends.add { ended.signal() }
        },
        Kind("run loop timer", "a timer, a closure in ", "Call `invalidate()`") { model, ends in
            let timer = Timer(timeInterval: 1_000_000, repeats: true) { _ in model.touch() }
            RunLoop.main.add(timer, forMode: .common)
            @safe nonisolated(unsafe) let reference = timer
            ends.add { reference.invalidate() }
        },
        Kind(
            "Foundation's center", "an observer on Foundation's notification center for `held`",
            "a closure in ", "captures it. Remove the observer."
        ) { model, ends in
            let token = NotificationCenter.default.addObserver(
                forName: .init("held"), object: nil, queue: nil
            ) { _ in model.touch() }
            @safe nonisolated(unsafe) let reference = token
            ends.add { NotificationCenter.default.removeObserver(reference) }
        },
        Kind("notification queue", "a notification queue ", "Let the run loop post") {
            model, ends in
            @safe nonisolated(unsafe) let queue = NotificationQueue(notificationCenter: .default)
            let notification = Notification(name: .init("queued"), object: model)
            queue.enqueue(notification, postingStyle: .whenIdle)
            ends.add {
                queue.dequeueNotifications(
                    matching: Notification(name: .init("queued")), coalesceMask: .onName)
            }
        },
        Kind("Tether's observer", "an observer's handler, a closure in ", "captures it") {
            model, ends in
            // A center that no scope knows.
            let token = LeakTracker.$scope.withValue(nil) {
                ObserverCenter.default.observe(.init("held")) { _ in model.touch() }
            }
            ends.add { token.cancel() }
        },
    ]

    final class Shared<Value: ~Copyable & Sendable>: Sendable {
        let value: Value
        init(_ value: consuming Value) { self.value = value }
    }

    // In a process of its own, so that no other test's threads change what is searched.
    @Test func `L3 each kind of holder is named by its root`() async {
        await #expect(processExitsWith: .success) { await HolderKindTests().nameKinds() }
    }

    private func nameKinds() async {
        let kinds = Self.fields + Self.roots + Self.dispatch + Self.running
        let ends = Ends()
        let limits = LeakTracker.Limits(
            deliveryWait: .zero, releaseWait: .zero, holderSearch: .seconds(300))
        let leaks = await findLeaks(limits: limits) {
            for kind in kinds { await kind.plant(track(Model(), kind.name), ends) }
        }
        for kind in kinds {
            let leak = leaks.first { $0.description.hasPrefix("\(kind.name), tracked") }
            let description = (leak?.description ?? "nothing").replacing(
                "HolderKindTests.", with: "")
            for part in kind.parts {
                #expect(description.contains(part), "\(kind.name): \(description)")
            }
        }
        ends.run()
        Roots.model = nil
        Roots.closure = nil
        Roots.fields = Fields()
        Roots.item = nil
        Roots.array = []
        Roots.buffer = nil
        unsafe Roots.pointer?.deinitialize(count: 1)
        unsafe Roots.pointer?.deallocate()
        Roots.stream = nil
        Roots.termination = nil
        Roots.task = nil
    }
}
