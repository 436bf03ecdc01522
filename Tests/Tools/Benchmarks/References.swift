import Foundation
import Synchronization
import Tether

/// The limit: handlers called through retained boxes, without reference counting, from a snapshot
/// taken under a lock.
final class LimitCenter: @unchecked Sendable {
    final class Box: Sendable {
        let handler: @Sendable (Notification) -> Void

        init(_ handler: @escaping @Sendable (Notification) -> Void) { self.handler = handler }
    }

    /// SAFETY: `boxes` has `count` references until `deinit`.
    @safe private final class Snapshot: @unchecked Sendable {
        let boxes: UnsafeMutablePointer<Unmanaged<Box>>
        let count: Int

        init(_ all: [Box]) {
            count = all.count
            unsafe boxes = .allocate(capacity: count)
            for (index, box) in all.enumerated() {
                unsafe (boxes + index).initialize(to: .passRetained(box))
            }
        }

        deinit {
            for index in 0..<count { unsafe boxes[index].release() }
            unsafe boxes.deallocate()
        }
    }

    private let snapshot: Mutex<Snapshot>

    init(_ boxes: [Box]) { snapshot = Mutex(Snapshot(boxes)) }

    @inline(never)
    func post(_ notification: Notification) {
        let snapshot = snapshot.withLock { $0 }
        for index in 0..<snapshot.count {
            unsafe snapshot.boxes[index]._withUnsafeGuaranteedRef { $0.handler(notification) }
        }
    }
}

/// A closure in an array, without the thunk of a function type in a generic container.
struct Closure {
    let call: @Sendable (Notification) -> Void
}

/// A plain array of closures, called one after the other.
@inline(never)
func callAll(_ closures: ContiguousArray<Closure>, _ notification: Notification) {
    for closure in closures { closure.call(notification) }
}

// The storage of the systems from which Tether descends, as small as possible.

protocol ReferenceStorage: AnyObject, SendableMetatype {
    init()
    func add(_ name: String, _ handler: @escaping @Sendable (Notification) -> Void) -> Int
    func remove(_ id: Int)
    func post(_ name: String, _ notification: Notification)
}

/// One array of all observers, scanned by every post and every removal.
final class ScannedArray: ReferenceStorage {
    private var entries: [(id: Int, name: String, handler: @Sendable (Notification) -> Void)] = []
    private var last = 0

    func add(_ name: String, _ handler: @escaping @Sendable (Notification) -> Void) -> Int {
        last += 1
        entries.append((last, name, handler))
        return last
    }

    func remove(_ id: Int) { entries.removeAll { $0.id == id } }

    func post(_ name: String, _ notification: Notification) {
        for entry in entries where entry.name == name { entry.handler(notification) }
    }
}

/// A linked list of all observers, followed by every post and every removal.
final class LinkedList: ReferenceStorage {
    private final class Node {
        let id: Int
        let name: String
        let handler: @Sendable (Notification) -> Void
        var next: Node?

        init(id: Int, name: String, handler: @escaping @Sendable (Notification) -> Void) {
            self.id = id
            self.name = name
            self.handler = handler
        }
    }

    private var first: Node?
    private var tail: Node?
    private var last = 0

    deinit { while let node = first { first = node.next } }

    func add(_ name: String, _ handler: @escaping @Sendable (Notification) -> Void) -> Int {
        last += 1
        let node = Node(id: last, name: name, handler: handler)
        if let tail { tail.next = node } else { first = node }
        tail = node
        return last
    }

    func remove(_ id: Int) {
        var previous: Node?
        var node = first
        while let current = node, current.id != id { (previous, node) = (current, current.next) }
        guard let node else { return }
        if let previous { previous.next = node.next } else { first = node.next }
        if tail === node { tail = previous }
    }

    func post(_ name: String, _ notification: Notification) {
        var node = first
        while let current = node {
            if current.name == name { current.handler(notification) }
            node = current.next
        }
    }
}

/// A dictionary of arrays by name: a post scans its name's array, a removal too.
final class DictionaryOfArrays: ReferenceStorage {
    private var entries: [String: [(id: Int, handler: @Sendable (Notification) -> Void)]] = [:]
    private var names: [Int: String] = [:]
    private var last = 0

    func add(_ name: String, _ handler: @escaping @Sendable (Notification) -> Void) -> Int {
        last += 1
        entries[name, default: []].append((last, handler))
        names[last] = name
        return last
    }

    func remove(_ id: Int) {
        guard let name = names.removeValue(forKey: id) else { return }
        entries[name]?.removeAll { $0.id == id }
        if entries[name]?.isEmpty == true { entries[name] = nil }
    }

    func post(_ name: String, _ notification: Notification) {
        for entry in entries[name] ?? [] { entry.handler(notification) }
    }
}
