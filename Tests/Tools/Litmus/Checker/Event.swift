/// The memory orders of Swift and C. `plain` is a non-atomic access.
enum Order {
    case plain, relaxed, acquiring, releasing, acquiringAndReleasing, sequentiallyConsistent

    var acquires: Bool {
        self == .acquiring || self == .acquiringAndReleasing || self == .sequentiallyConsistent
    }
    var releases: Bool {
        self == .releasing || self == .acquiringAndReleasing || self == .sequentiallyConsistent
    }
}

/// A step of a thread, for the memory models.
struct Event {
    enum Kind {
        case read, write
        /// A fence of its thread.
        case fence
        /// A fence of every thread of the process: Linux's `membarrier`.
        case fenceOfAllThreads
        /// A fence for the compiler alone: C's `atomic_signal_fence`.
        case signalFence
    }

    let kind: Kind
    let order: Order
    /// The number of the accessed location, or -1.
    var location = -1
    var value = 0
    /// Whether the event is half of a read-modify-write. A failed read-modify-write has the read
    /// half only.
    var isExclusive = false
    /// The write half of a read half, as an index in the thread.
    var partner: Int?
    /// The earlier reads of the thread, one bit each, that the address, the stored value, or the
    /// event itself depends on.
    var address: UInt64 = 0
    var data: UInt64 = 0
    var control: UInt64 = 0

    // The place in an execution.
    var thread = -1
    var position = -1

    var isRead: Bool { kind == .read }
    var isWrite: Bool { kind == .write }
    var isAccess: Bool { kind == .read || kind == .write }
    /// Whether the event is a location's initial value.
    var isInitial: Bool { thread < 0 }
}
