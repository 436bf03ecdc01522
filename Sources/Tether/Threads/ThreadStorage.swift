/// What others keep with a thread until it exits.
struct ThreadStorage {
    /// What is done at the exit, the last one first.
    var exitActions: [@Sendable () -> Void] = []
    private var closing: [Closing] = []
    /// How many of these there may be before those that have gone are taken out.
    private var mostClosing = 8
    private var values: [AnyObject?] = []

    private struct Closing { weak var object: (any ClosedAtThreadExit)? }

    /// Keeps an object, as long as it lives, to be closed at the exit.
    mutating func closeAtExit(_ object: any ClosedAtThreadExit) {
        // Twice as many as were left the last time, so that each object pays O(1).
        if closing.count >= mostClosing {
            closing.removeAll { $0.object == nil }
            mostClosing = max(8, closing.count * 2)
        }
        closing.append(Closing(object: object))
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
