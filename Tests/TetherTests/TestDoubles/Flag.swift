import Synchronization

/// A flag and a counter that cost a race no lock.
final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isRaised: Bool { value.load(ordering: .acquiring) }

    func raise() { value.store(true, ordering: .releasing) }

    func lower() { value.store(false, ordering: .releasing) }
}

final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .acquiring) }

    func add(_ amount: Int = 1) { value.wrappingAdd(amount, ordering: .acquiringAndReleasing) }
}
