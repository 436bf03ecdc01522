internal import Synchronization

/// What a run loop's source or observer has as its `info`: a number, never read through and never used again, in place of an
/// object.
///
/// CoreFoundation compares sources by their `info` alone, and with equal ones a run loop takes two sources for one.
package struct RunLoopInfo: Hashable {
    /// Below zero, where no address of a program's own is, and no small number.
    private static let last = Atomic<Int>(.min)

    private let number: Int

    /// Makes one that nothing else has.
    package init() {
        number = RunLoopInfo.last.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// What a callback was given.
    init(_ pointer: UnsafeMutableRawPointer?) {
        number = Int(bitPattern: pointer)
    }

    /// The same, as CoreFoundation takes it.
    ///
    /// SAFETY: nobody reads through it; see above.
    package var pointer: UnsafeMutableRawPointer? { unsafe UnsafeMutableRawPointer(bitPattern: number) }
}
