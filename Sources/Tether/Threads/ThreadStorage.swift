/// Values of other parts that live with a thread until it exits.
struct ThreadStorage {
    /// The actions at the exit, the last one first.
    var exitActions: [@Sendable () -> Void] = []
    private var closing: [Closing] = []
    /// How many of these there may be before those that have gone are taken out.
    private var mostClosing = 8
    private var values: [AnyObject?] = []

    private struct Closing { weak var object: (any ClosedAtThreadExit)? }

    /// Notes an object that is to be closed at the exit, if it lives then. The caller lets go of what this returns with no
    /// access to the storage: of others, which may have no other holder by then.
    mutating func closeAtExit(_ object: any ClosedAtThreadExit) -> [any ClosedAtThreadExit] {
        closing.append(Closing(object: object))
        guard closing.count > mostClosing else { return [] }
        // Twice as many as were left the last time, so that each object pays O(1).
        let living = closing.compactMap(\.object)
        closing = living.map { Closing(object: $0) }
        mostClosing = max(8, closing.count * 2)
        return living
    }

    /// Takes out the newest object that is to be closed, and still there.
    mutating func popClosing() -> (any ClosedAtThreadExit)? {
        while let last = closing.popLast() {
            if let object = last.object { return object }
        }
        return nil
    }

    /// Complexity: O(1).
    subscript<Value>(slot: ThreadSlot<Value>) -> Value? {
        get {
            guard slot.index < values.count, let value = values[slot.index] else { return nil }
            // SAFETY: only this subscript fills the slot, with what has its type.
            return unsafe unsafeDowncast(value, to: Value.self)
        }
        set {
            while values.count <= slot.index { values.append(nil) }
            values[slot.index] = newValue
        }
    }
}
