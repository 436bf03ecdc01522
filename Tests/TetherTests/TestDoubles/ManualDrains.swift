@testable import Tether

/// Keeps the drains it is given, and is where the test says.
final class ManualDrains: DrainScheduler {
    private let drains = Guarded<[Drain]>([])
    let current = Flag()

    var waiting: Int { drains.withLock(\.count) }
    var mayBeCurrent: Bool { true }
    var isCurrent: Bool { current.isRaised }

    func schedule(_ drain: Drain) { drains.withLock { $0.append(drain) } }

    func take() -> Drain? { drains.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
