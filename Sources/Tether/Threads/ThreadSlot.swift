internal import Synchronization

/// A place of a type that every thread has one of; to be made once, as a static constant.
struct ThreadSlot<Value: AnyObject>: Sendable {
    let index = slotCount.wrappingAdd(1, ordering: .relaxed).oldValue
}

private let slotCount = Atomic<Int>(0)
