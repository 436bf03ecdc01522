internal import Synchronization

/// Looks at registrations that other threads may end meanwhile. A look holds its registration, and is never the last to let
/// go of it (R8), because whoever ends one waits for a look at it that is under way.
///
/// Who looks counts itself, and then asks the gate; who ends closes the gate, and then asks the count. Both are sequentially
/// consistent, so that one of the two sees the other; and where nobody looks, an end pays a load.
enum Looks {
    private final class Stripe: Sendable {
        let lock = Guarded<UInt8>(0, rank: .look)
    }

    private static let underWay = Atomic<Int>(0)
    /// By address, so that looks at two registrations seldom wait for each other.
    private static let stripes = (0..<16).map { _ in Stripe() }

    private static func stripe(of address: UInt) -> Stripe { stripes[Int((address >> 5 ^ address >> 9) & 15)] }

    /// Calls `body`, which asks the gate, in a look.
    static func look<Result: Sendable>(at address: UInt, _ body: () -> Result?) -> Result? {
        underWay.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { underWay.wrappingSubtract(1, ordering: .releasing) }
        return stripe(of: address).lock.withLock { _ in body() }
    }

    /// Waits for a look at a registration, whose gate is closed.
    @inline(__always)
    static func wait(for registration: Registration) {
        if underWay.load(ordering: .sequentiallyConsistent) != 0 { waitForLock(of: registration) }
    }

    @inline(never)
    private static func waitForLock(of registration: Registration) {
        stripe(of: registration.address).lock.withLock { _ in }
    }
}
