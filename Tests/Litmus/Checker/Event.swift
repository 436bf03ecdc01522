/// The memory orders of Swift and C; `plain` is an access that is not atomic.
enum Order {
    case plain, relaxed, acquiring, releasing, acquiringAndReleasing, sequentiallyConsistent

    var acquires: Bool {
        self == .acquiring || self == .acquiringAndReleasing || self == .sequentiallyConsistent
    }
    var releases: Bool {
        self == .releasing || self == .acquiringAndReleasing || self == .sequentiallyConsistent
    }
}

/// One step of one thread, as the memory models see it.
struct Event {
    enum Kind {
        case read, write
        /// A fence of the thread that it is in.
        case fence
        /// A fence of every thread of the process: Linux's `membarrier`.
        case fenceOfAllThreads
        /// A fence for the compiler alone: C's `atomic_signal_fence`.
        case signalFence
    }

    let kind: Kind
    let order: Order
    /// The number of the location that is accessed, or -1.
    var location = -1
    var value = 0
    /// Whether it is one half of a read-modify-write. The read of one that failed is a half without
    /// the other.
    var isExclusive = false
    /// The write of a read-modify-write whose read this is, as an index in the thread.
    var partner: Int?
    /// The earlier reads of the thread, one bit each, that the address, the stored value, or
    /// whether this happens at all depends on.
    var address: UInt64 = 0
    var data: UInt64 = 0
    var control: UInt64 = 0

    // Where it stands in an execution.
    var thread = -1
    var position = -1

    var isRead: Bool { kind == .read }
    var isWrite: Bool { kind == .write }
    var isAccess: Bool { kind == .read || kind == .write }
    /// Whether it is the value that a location has at the start.
    var isInitial: Bool { thread < 0 }
}
