import CAllocations
import Foundation

/// A thread on which operations are performed, while who began it waits, and which a handler may end.
enum ModelThread {
    /// SAFETY: who began the thread waits for its end.
    private struct Body: @unchecked Sendable { let perform: () -> Void }

    // AddressSanitizer is not told that the frames of a stack are given up, and takes what comes after for an overflow.
    /// Whether a handler may end its thread.
    static var mayExit: Bool { counts_allocations() }

    static func run(_ body: @escaping () -> Void) {
        let body = Body(perform: body)
        SystemThread { body.perform() }.join()
    }

    static func exit() -> Never { pthread_exit(nil) }
}

/// What is known of the thread of its own on which operations are performed, and of the handlers that run there.
struct Threads {
    /// A handler that runs.
    struct Call {
        let observer: Int
        let number: Int
        /// The owner, and the sender of the post.
        let held: [AnyObject?]
        /// Whether another handler that ended its thread was the same observer's.
        fileprivate(set) var isKnown = false
    }

    private var calls: [Call] = []
    /// How many handlers ran when the thread began; `nil` while there is none.
    private var base: Int?
    private var hasExited = false
    /// How many operations are under way on the thread that are to come to their end.
    private var blocks = 0
    private var lostObservers: Set<Int> = []
    private var lostPosts: Set<Int> = []
    private var lostObjects: Set<ObjectIdentifier> = []

    var hasLeft: Bool { !lostPosts.isEmpty }
    var isElsewhere: Bool { base != nil }

    mutating func begin() -> Bool {
        guard base == nil, ModelThread.mayExit else { return false }
        (base, hasExited, blocks) = (calls.count, false, 0)
        return true
    }

    mutating func end() {
        calls.removeLast(calls.count - (base ?? 0))
        base = nil
    }

    mutating func called(_ call: Call) { calls.append(call) }
    mutating func returned() { calls.removeLast() }

    /// Whether an operation is one in which no handler may end the thread: what it lets go of, or has still to do, would be
    /// the test's affair.
    mutating func block(_ operation: ModelOperation) -> Bool {
        switch operation {
        case .post, .run, .runAll, .onThread, .exit: return false
        default: break
        }
        guard isElsewhere else { return false }
        blocks += 1
        return true
    }

    mutating func unblock() { blocks -= 1 }

    func hasLost(observer: Int) -> Bool { lostObservers.contains(observer) }
    func hasLost(post: Int) -> Bool { lostPosts.contains(post) }

    /// The handlers that a thread leaves as they are, with what they hold for ever; `nil` if it may not be ended here.
    mutating func exit() -> (calls: [Call], objects: Int)? {
        guard let base, calls.count > base, !hasExited, blocks == 0 else { return nil }
        hasExited = true
        var lost = Array(calls[base...])
        var objects = 0
        for index in lost.indices {
            lost[index].isKnown = !lostObservers.insert(lost[index].observer).inserted
            lostPosts.insert(lost[index].number)
            for object in lost[index].held.compactMap(\.self)
            where lostObjects.insert(ObjectIdentifier(object)).inserted {
                objects += 1
                (object as? Counted)?.hold()
                // SAFETY: kept for ever, as what is on a stack that is left.
                _ = unsafe Unmanaged.passRetained(object)
            }
        }
        return (lost, objects)
    }
}
