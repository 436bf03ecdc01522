/// A value in memory of its own, made when it is first needed. Without the value, its owner has one
/// reference in place of all fields.
///
/// *Why not a class*: each access to a class's variable would be checked for exclusivity at run
/// time, which costs more than the rest of a short critical section.
///
/// *Thread safety*: none; the lock of its owner protects it.
/// SAFETY: `memory` is `nil`, or points to an initialised value, which nobody else refers to.
@safe struct OnDemand<Value: ~Copyable>: ~Copyable {
    private var memory: UnsafeMutablePointer<Value>?

    init() { unsafe memory = nil }

    deinit {
        guard let memory = unsafe memory else { return }
        unsafe memory.deinitialize(count: 1)
        unsafe memory.deallocate()
    }

    @inline(__always)
    var isMade: Bool { unsafe memory != nil }

    /// Makes the value, unless it is made.
    @inline(__always)
    mutating func make(_ initial: @autoclosure () -> Value) {
        if unsafe memory != nil { return }
        let made = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        unsafe made.initialize(to: initial())
        unsafe memory = made
    }

    /// The value, which is made.
    @inline(__always)
    var value: Value {
        _read {
            guard let memory = unsafe memory else { preconditionFailure("no value is made") }
            yield unsafe memory.pointee
        }
        _modify {
            guard let memory = unsafe memory else { preconditionFailure("no value is made") }
            yield unsafe &memory.pointee
        }
    }
}

/// SAFETY: the memory belongs to this value alone, so both move to another thread together.
extension OnDemand: @unchecked Sendable where Value: Sendable & ~Copyable {}
