internal import Synchronization

/// Numbers for run loop sources to have as their `info`, which is all that CoreFoundation compares: with equal ones a run
/// loop takes two sources for one.
enum RunLoopSourceNumber {
    /// Below zero, where no address of a program's own is, and no small number.
    private static let last = Atomic<Int>(.min)

    static func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
